"""The measures, a module each, and the list that names them.

A module declares a `Measure`: its row type, what it needs, and `compute`, which turns prompts into rows. Formulas lie
in tasks.scoring. Importing this package imports no torch: `compute` imports what it needs when it is called.
"""

from data.named import Registry
from tasks.measures import (
    answer_set_persuasion,
    answer_set_susceptibility,
    entity_independent_persuasion,
    entity_independent_susceptibility,
    greedy_answers,
    memorization_ratio,
    persuasion,
    susceptibility,
)
from tasks.measures.measure import Measure

MEASURES: Registry[Measure] = Registry(
    "measure",
    (
        persuasion.MEASURE,
        susceptibility.MEASURE,
        entity_independent_persuasion.MEASURE,
        entity_independent_susceptibility.MEASURE,
        greedy_answers.MEASURE,
        memorization_ratio.MEASURE,
        answer_set_persuasion.MEASURE,
        answer_set_susceptibility.MEASURE,
    ),
)
"""Every measure that a study can name; a measure comes after those that it needs."""
