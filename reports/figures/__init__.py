"""The figures, a module each, and the list that names them.

A module declares a `Figure`: its question, the named queries of the warehouse that it reads, and how it is drawn of one
model. What it paints is a function of axes and data.
"""

from data.named import Registry
from reports.figures import (
    answer_set,
    both_susceptibilities,
    coherent_persuasion,
    degree,
    effects,
    entity_independent,
    entropy,
    fisher,
    fisher_bins,
    followed,
    memorization,
    persuasion,
    precision,
    reliability,
    susceptibility,
)
from reports.figures.figure import Figure

FIGURES: Registry[Figure] = Registry("figure", (
    susceptibility.FIGURE,
    effects.FAMILIARITY,
    degree.FIGURE,
    persuasion.FIGURE,
    effects.RELEVANCE,
    effects.ASSERTIVENESS,
    effects.NEGATION,
    entity_independent.FIGURE,
    followed.FIGURE,
    memorization.FIGURE,
    answer_set.FIGURE,
    fisher.FIGURE,
    fisher_bins.FIGURE,
    both_susceptibilities.BY_ENTITIES,
    both_susceptibilities.BY_WORDING,
    precision.FIGURE,
    reliability.FIGURE,
    coherent_persuasion.FIGURE,
    entropy.WITHOUT,
    entropy.WITH,
))  # fmt: skip
"""Every figure, in the order of the questions."""
