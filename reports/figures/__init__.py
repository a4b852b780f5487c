"""The list of all figures. A module declares related figures.

A `Figure` has a question, the named queries of the warehouse that it reads, and a function that draws it for one model.
A further function of the module, such as `susceptibility_by_relation`, paints the marks of one panel.
"""

from swaymeter.data.named import Registry
from swaymeter.reports.figures import (
    against_susceptibility,
    distributions,
    effects,
    entropy,
    front,
    labels,
    over_time,
    persuasion,
    popularity,
    reliability,
    susceptibility,
)
from swaymeter.reports.figures.figure import Figure

FIGURES: Registry[Figure] = Registry(
    "figure",
    (
        front.FRONT,
        labels.BY_TYPE,
        labels.BY_SET,
        labels.BY_STRENGTH,
        effects.BY_MODEL,
        susceptibility.BY_RELATION,
        susceptibility.BY_FORM,
        effects.FAMILIARITY,
        popularity.DEGREE,
        popularity.FREQUENCY,
        popularity.EFFECT_BY_FREQUENCY,
        persuasion.BY_KIND,
        effects.RELEVANCE,
        effects.ASSERTIVENESS,
        effects.NEGATION,
        persuasion.ENTITY_INDEPENDENT,
        persuasion.BY_TEMPLATE,
        persuasion.BY_FOLLOWED,
        susceptibility.BY_MEMORIZATION,
        against_susceptibility.ANSWER_SETS,
        against_susceptibility.FISHER,
        against_susceptibility.BINNED,
        against_susceptibility.BY_ENTITIES,
        against_susceptibility.BY_WORDING,
        reliability.PRECISION,
        distributions.PERSUASION,
        distributions.ENTROPY,
        entropy.CHANGED,
        reliability.VARIANCE,
        entropy.WITHOUT,
        entropy.WITH,
        entropy.BY_EDITS,
        distributions.TOP_EDITED,
        distributions.SCATTER_OF_TOP_EDITED,
        distributions.ENTROPY_CLASSES,
        over_time.OVER_TIME,
    ),
)
"""Every figure, in the order of the questions."""
