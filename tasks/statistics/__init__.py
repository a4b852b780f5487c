"""Statistics of scores and replies, such as means with intervals, and their registry.

A `Statistic` has a row type, the named queries that it reads (data/warehouse/sql), and `compute`. `compute` takes the
results of the queries as pandas frames, and returns rows. A `Comparison` (`group_tests`) makes a statistic that
compares two groups. `statistic_of` makes a statistic from a list of `Mean`s. This package imports `data`, never a model
or the database. Functions import pandas and scipy when they are called, because each of these imports takes a second.
"""

from collections.abc import Mapping

from swaymeter.data.named import Registry
from swaymeter.tasks.statistics import (
    agreement,
    changes,
    correlations,
    group_tests,
    groups,
    judges,
    means,
    means_of_contexts,
    models,
    passages,
    predictors,
    verdicts,
)
from swaymeter.tasks.statistics.entropy_classes import EntropyClasses
from swaymeter.tasks.statistics.statistic import Statistic

STATISTICS: Registry[Statistic] = Registry(
    "statistic",
    (
        group_tests.RELEVANCE.statistic,
        group_tests.FAMILIARITY.statistic,
        group_tests.FAMILIARITY_BY_LENGTH,
        group_tests.UNATTESTED.statistic,
        group_tests.ASSERTIVENESS.statistic,
        group_tests.NEGATION.statistic,
        group_tests.FOLLOWED,
        means.SUSCEPTIBILITY_MEANS,
        means.NAME_LENGTHS,
        means_of_contexts.PERSUASION,
        means_of_contexts.FOLLOWED_MEANS,
        means.ENTITY_INDEPENDENT,
        means.MEMORIZATION,
        means.BESIDE_SUSCEPTIBILITY,
        means.BOTH_SUSCEPTIBILITIES,
        means.ANSWERS,
        means.PARTITIONS,
        judges.AGREEMENT_WITH_JUDGE,
        agreement.AGREEMENT_OF_ANNOTATORS,
        predictors.CORRELATIONS,
        *predictors.REGRESSIONS,
        *EntropyClasses().statistics,
        means.PRECISION,
        means.RELIABILITY,
        correlations.STATISTIC,
        correlations.DEGREE_ENVELOPE,
        correlations.COUNT_ENVELOPE,
        correlations.EFFECTS_BY_FREQUENCY,
        groups.COMPARISONS,
        groups.SET_COMPARISONS,
        groups.MEANS,
        models.MEANS,
        changes.DIFFERENCES,
        passages.MEANS,
        passages.EFFECTS,
        verdicts.SHARES,
    ),
)
"""Every statistic by its name."""


def statistics_of(classes: EntropyClasses) -> Mapping[str, Statistic]:
    """Return every statistic by its name; `classes` has the bounds of a study's classes of semantic entropy."""
    class_statistics = {statistic.name: statistic for statistic in classes.statistics}
    return {name: class_statistics.get(name, statistic) for name, statistic in STATISTICS.items()}
