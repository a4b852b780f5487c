"""The measures, and their registry.

A module declares a `Measure`: its row type, its inputs, and `compute`, which turns prompts into rows. The formulas are
in swaymeter.tasks.scoring. Only a call of `compute` imports torch. docs/extending.md explains how to add a measure.
"""

from swaymeter.tasks.measures import (
    answer_set,
    clusters,
    entity_independent,
    greedy_answers,
    persuasion,
    whose_answer,
)
from swaymeter.tasks.measures.answers import ANSWERS
from swaymeter.tasks.measures.cited_passages import CITED_PASSAGES
from swaymeter.tasks.measures.coherent_persuasion import COHERENT_PERSUASION
from swaymeter.tasks.measures.context_utilisation import CONTEXT_UTILISATION
from swaymeter.tasks.measures.fisher_susceptibility import FISHER_SUSCEPTIBILITY
from swaymeter.tasks.measures.judged_answers import JUDGED_ANSWERS
from swaymeter.tasks.measures.measure import Measures
from swaymeter.tasks.measures.passage_persuasion import PASSAGE_PERSUASION

MEASURES = Measures(
    (
        persuasion.PERSUASION,
        persuasion.SUSCEPTIBILITY,
        entity_independent.ENTITY_INDEPENDENT_PERSUASION,
        entity_independent.ENTITY_INDEPENDENT_SUSCEPTIBILITY,
        greedy_answers.GREEDY_ANSWERS,
        greedy_answers.MEMORIZATION_RATIO,
        persuasion.LIKELIEST_TOKENS,
        answer_set.ANSWER_SET_PERSUASION,
        answer_set.ANSWER_SET_SUSCEPTIBILITY,
        FISHER_SUSCEPTIBILITY,
        persuasion.PRECISION,
        ANSWERS,
        clusters.CLUSTERS,
        clusters.SEMANTIC_ENTROPY,
        COHERENT_PERSUASION,
        whose_answer.ACCURACY,
        whose_answer.PERSUADED,
        whose_answer.WHOSE_ANSWER,
        JUDGED_ANSWERS,
        CITED_PASSAGES,
        CONTEXT_UTILISATION,
        PASSAGE_PERSUASION,
        persuasion.PERSUASION_BOUND,
    )
)
"""All measures that a study can name; a measure comes after the measures that it needs."""
