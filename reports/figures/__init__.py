"""The figures, a module each, and the list that names them.

A module declares a `Figure`: its question, the named queries of the warehouse that it reads, and how it is drawn of one
model. What it paints is a function of axes and data.
"""

from swaymeter.data.named import Registry
from swaymeter.reports.figures import (
    answer_set,
    both_susceptibilities,
    distributions,
    effect_by_frequency,
    effects,
    entity_independent,
    entropy,
    entropy_change,
    fisher,
    fisher_bins,
    followed,
    forms,
    how_known,
    labels,
    marked_scatters,
    memorization,
    model_ladder,
    most_edited,
    persuasion,
    persuasion_by_edits,
    precision,
    reliability,
    strength,
    susceptibility,
    templates,
)
from swaymeter.reports.figures.figure import Figure

FIGURES: Registry[Figure] = Registry("figure", (
    labels.BY_TYPE,
    labels.BY_SET,
    strength.FIGURE,
    model_ladder.FIGURE,
    susceptibility.FIGURE,
    forms.FIGURE,
    effects.FAMILIARITY,
    how_known.DEGREE,
    how_known.FREQUENCY,
    effect_by_frequency.FIGURE,
    persuasion.FIGURE,
    effects.RELEVANCE,
    effects.ASSERTIVENESS,
    effects.NEGATION,
    entity_independent.FIGURE,
    templates.FIGURE,
    followed.FIGURE,
    memorization.FIGURE,
    answer_set.FIGURE,
    fisher.FIGURE,
    fisher_bins.FIGURE,
    both_susceptibilities.BY_ENTITIES,
    both_susceptibilities.BY_WORDING,
    precision.FIGURE,
    distributions.PERSUASION,
    distributions.ENTROPY,
    entropy_change.FIGURE,
    reliability.FIGURE,
    entropy.WITHOUT,
    entropy.WITH,
    persuasion_by_edits.FIGURE,
    most_edited.FIGURE,
    marked_scatters.MOST_EDITED,
    marked_scatters.ENTROPY_CLASSES,
))  # fmt: skip
"""Every figure, in the order of the questions."""
