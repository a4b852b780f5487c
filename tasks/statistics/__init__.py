"""The statistics, a module each, and the list that names them: tests, means with intervals, correlations, envelopes.

A module declares a `Statistic`: its row type, the named queries of the warehouse that it reads, and `compute`, a plain
function of frames. A comparison of two groups is a `Comparison`. Formulas lie in modules of their own: permutation,
effect_size, corrections, correlation, interval. This package imports `data`, never a model or the database; importing
it imports neither pandas nor scipy: `compute` imports what it needs when it is called.
"""

from data.named import Registry
from tasks.statistics import (
    answer_means,
    assertiveness,
    correlations,
    degree_envelope,
    entity_independent_spread,
    familiarity,
    followed_means,
    means_beside_susceptibility,
    memorization_bins,
    negation,
    persuasion_means,
    precision_cost,
    relevance,
    susceptibility_means,
)
from tasks.statistics.statistic import Statistic

STATISTICS: Registry[Statistic] = Registry("statistic", (
    relevance.STATISTIC,
    familiarity.STATISTIC,
    assertiveness.STATISTIC,
    negation.STATISTIC,
    susceptibility_means.STATISTIC,
    persuasion_means.STATISTIC,
    followed_means.STATISTIC,
    entity_independent_spread.STATISTIC,
    memorization_bins.STATISTIC,
    means_beside_susceptibility.STATISTIC,
    answer_means.STATISTIC,
    precision_cost.STATISTIC,
    correlations.STATISTIC,
    degree_envelope.STATISTIC,
))  # fmt: skip
"""Every statistic, in the order of the report."""
