"""The measures, a module each, and the list that names them.

A module declares a `Measure`: its row type, what it needs, and `compute`, which turns prompts into rows. Formulas lie
in swaymeter.tasks.scoring. Importing this package imports no torch: `compute` imports what it needs when it is called.
docs/extending.md explains how to add one; tests/extensions has a measure, a figure and a comparison as whole modules.
"""

from swaymeter.tasks.measures import (
    accuracy,
    answer_set_persuasion,
    answer_set_susceptibility,
    answers,
    clusters,
    coherent_persuasion,
    context_utilisation,
    entity_independent_persuasion,
    entity_independent_susceptibility,
    fisher_susceptibility,
    greedy_answers,
    likeliest_tokens,
    memorization_ratio,
    persuaded,
    persuasion,
    precision,
    semantic_entropy,
    susceptibility,
    whose_answer,
)
from swaymeter.tasks.measures.measure import Measures

MEASURES = Measures((
    persuasion.MEASURE,
    susceptibility.MEASURE,
    entity_independent_persuasion.MEASURE,
    entity_independent_susceptibility.MEASURE,
    greedy_answers.MEASURE,
    memorization_ratio.MEASURE,
    likeliest_tokens.MEASURE,
    answer_set_persuasion.MEASURE,
    answer_set_susceptibility.MEASURE,
    fisher_susceptibility.MEASURE,
    precision.MEASURE,
    answers.MEASURE,
    clusters.MEASURE,
    semantic_entropy.MEASURE,
    coherent_persuasion.MEASURE,
    accuracy.MEASURE,
    persuaded.MEASURE,
    whose_answer.MEASURE,
    context_utilisation.MEASURE,
))  # fmt: skip
"""Every measure that a study can name; a measure comes after those that it needs."""
