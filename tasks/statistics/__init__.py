"""The statistics and the list that names them: comparisons, means with intervals, correlations, envelopes.

A module declares a `Statistic`: its row type, the named queries of the warehouse that it reads, and `compute`, a plain
function of frames. A comparison of two groups is a `Comparison`. This package imports `data`, never a model or the
database. Importing it imports neither pandas nor scipy, which take a second: functions that call them import them.
"""

from collections.abc import Mapping

from swaymeter.data.named import Registry
from swaymeter.tasks.statistics import correlations, effects_by_frequency, envelopes, groups, models, predictors
from swaymeter.tasks.statistics.comparisons import familiarity_by_length, following
from swaymeter.tasks.statistics.comparisons.of_scores import (
    ASSERTIVENESS,
    FAMILIARITY,
    NEGATION,
    RELEVANCE,
    UNATTESTED,
)
from swaymeter.tasks.statistics.entropy_classes import EntropyClasses
from swaymeter.tasks.statistics.means import (
    answers,
    beside_susceptibility,
    both_susceptibilities,
    entity_independent,
    followed,
    memorization,
    name_length,
    partitions,
    persuasion,
    precision,
    reliability,
    susceptibility,
)
from swaymeter.tasks.statistics.statistic import Statistic

STATISTICS: Registry[Statistic] = Registry("statistic", (
    RELEVANCE.statistic,
    FAMILIARITY.statistic,
    familiarity_by_length.STATISTIC,
    UNATTESTED.statistic,
    ASSERTIVENESS.statistic,
    NEGATION.statistic,
    following.STATISTIC,
    susceptibility.STATISTIC,
    name_length.STATISTIC,
    persuasion.STATISTIC,
    followed.STATISTIC,
    entity_independent.STATISTIC,
    memorization.STATISTIC,
    beside_susceptibility.STATISTIC,
    both_susceptibilities.STATISTIC,
    answers.STATISTIC,
    partitions.STATISTIC,
    predictors.CORRELATIONS,
    predictors.REGRESSIONS,
    *EntropyClasses().statistics,
    precision.STATISTIC,
    reliability.STATISTIC,
    correlations.STATISTIC,
    envelopes.OF_DEGREES,
    envelopes.OF_COUNTS,
    effects_by_frequency.STATISTIC,
    groups.COMPARISONS,
    groups.OF_SETS,
    groups.MEANS,
    models.MEANS,
    models.DIFFERENCES,
))  # fmt: skip
"""Every statistic, in the order of the report."""


def statistics_of(classes: EntropyClasses) -> Mapping[str, Statistic]:
    """Every statistic by its name, with the settings of a study."""
    return {**STATISTICS, **{statistic.name: statistic for statistic in classes.statistics}}
