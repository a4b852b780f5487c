"""The mean difference of pairs that come in clusters: its interval, and a test of its sign.

    d        = sum of all differences / number of pairs
    interval = the 2.5th and 97.5th percentiles of d over samples of whole clusters, as many as
               `formulas.intervals` draws; for shares, the interval of `difference_interval`
    p        = among all ways to flip the signs of whole clusters, the share of ways whose |d| is at least the observed
               |d| (two-sided). If there are more than 10,000 ways, p is over 10,000 random ways and the observed one

Fewer than 5 clusters have no interval. If the clusters are so few that p is always above 0.05, there is no p.

Pairs of a cluster depend on each other (the forms of a query, the contexts of a question), so whole clusters are
resampled and flipped. The null hypothesis is that the sign of the differences is arbitrary; no normal distribution is
assumed.

Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 8; Good 2005, Permutation, Parametric and
Bootstrap Tests of Hypotheses, chapter 3; Phipson and Smyth 2010 for counting the observed way.
"""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swaymeter.data.randomness import generator
from swaymeter.data.records.statistics import ALPHA, FEWEST_FOR_INTERVAL
from swaymeter.tasks.statistics.formulas.groups import ROUNDING, scores
from swaymeter.tasks.statistics.formulas.intervals import difference_interval, ends, sums_over_samples
from swaymeter.tasks.statistics.formulas.permutation import all_signs, p_values, too_few_reason

WAYS = 10_000
"""Largest number of ways to flip signs that are all computed; of more ways, this number is drawn at random."""
BATCH = 1_000
MIN_CLUSTERS_TO_TEST = next(k for k in count(FEWEST_FOR_INTERVAL) if not too_few_reason(2 / 2**k))
"""Smallest number of clusters for which p can be 0.05 or less; fewer clusters have no test.

k clusters have 2^k ways to flip their signs. The opposite of a way has the same |d|, so p is at least 2 / 2^k.
"""


class PairedDifference(NamedTuple):
    """The mean difference of n pairs in clusters, its interval and p-value; or the reason why it has no p-value."""

    n: int
    clusters: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    untestable: str | None = None


def paired_difference(
    differences: ArrayLike, clusters: ArrayLike, seed: int, *, shares: bool = False
) -> PairedDifference:
    """Return the mean of differences (n,) in clusters (n,), with its interval and test.

    Args:
        differences: a first value minus a second value of the same item, finite, in a canonical order.
        clusters: the cluster of each item.
        seed: seed of the study.
        shares: True if both values of an item are 0 or 1; the interval then never has the width 0.

    Raises:
        ScoreError: a difference is not finite, or a difference of shares is not -1, 0 or 1.
    """
    return paired_differences([(differences, clusters)], seed, shares=shares)[0]


def paired_differences(
    data_sets: Iterable[tuple[ArrayLike, ArrayLike]], seed: int, *, shares: bool = False
) -> list[PairedDifference]:
    """Return `paired_difference` of each data set; data sets with equal numbers of clusters share their draws."""
    clustered = [_cluster(*data_set) for data_set in data_sets]
    results = [differences.without_test() for differences in clustered]
    positions_by_k: dict[int, list[int]] = {}
    for position, differences in enumerate(clustered):
        if differences.k >= FEWEST_FOR_INTERVAL:
            positions_by_k.setdefault(differences.k, []).append(position)
    for k, positions in positions_by_k.items():
        group, rng = [clustered[position] for position in positions], generator(seed, "paired", k)
        intervals = _share_intervals(group) if shares else _bootstrap_intervals(group, seed)
        reason = too_few_reason(2 / 2**k)
        p = None if reason else _p_values(np.stack([differences.sums for differences in group], axis=1), rng)
        for index, position in enumerate(positions):
            low, high = intervals[index]
            p_value = None if p is None else float(p[index])
            results[position] = results[position]._replace(low=low, high=high, p=p_value, untestable=reason or None)
    return results


def smallest_significant_decrease(clusters: int, tests: int = 1) -> float | None:
    """Return the smallest decrease of a share that is significant, if no pair increases.

    If k clusters decrease and the others stay, p is 2 / 2^k: all k signs are alike in 2 of 2^k ways, and flipping the
    sign of a zero changes nothing.

    Args:
        clusters: The number of clusters, of one pair each.
        tests: The number of tests that are adjusted together. p is multiplied by this number, which is
            Benjamini-Hochberg's correction if no other test is significant.

    Returns:
        The decrease as a share of the clusters; None if even a decrease of all clusters is not significant.
    """
    for decreases in range(1, clusters + 1):
        differences = np.repeat([-1.0, 0.0], [decreases, clusters - decreases])
        high = difference_interval(differences, np.arange(clusters))[2]
        if high is not None and high < 0 and tests * 2.0 ** (1 - decreases) <= ALPHA:
            return decreases / clusters
    return None


class _ClusteredDifferences(NamedTuple):
    """Differences of n pairs in k clusters.

    Attributes:
        values: the differences, (n,).
        codes: the number of each difference's cluster, (n,), from 0.
        counts: the number of differences in each cluster, (k,).
        sums: the sum of the differences in each cluster, (k,).
    """

    values: NDArray[np.float64]
    codes: NDArray[np.int64]
    counts: NDArray[np.float64]
    sums: NDArray[np.float64]

    @property
    def k(self) -> int:
        """The number of clusters."""
        return len(self.counts)

    def without_test(self) -> PairedDifference:
        """Return the mean difference without interval and p, and the reason if a test is impossible."""
        n, k = len(self.values), self.k
        if k < 2:
            return PairedDifference(
                n, k, float(self.values.mean()) if n else None, untestable="one cluster" if k else "no pair"
            )
        return PairedDifference(n, k, float(self.sums.sum() / n), untestable=too_few_reason(2 / 2**k))


def _share_intervals(clustered: Sequence[_ClusteredDifferences]) -> list[tuple[float | None, float | None]]:
    return [difference_interval(differences.values, differences.codes)[1:] for differences in clustered]


def _bootstrap_intervals(
    clustered: Sequence[_ClusteredDifferences], seed: int
) -> list[tuple[float | None, float | None]]:
    """Return the ends of the interval of each mean difference, all over the same number of clusters."""
    columns = [column for differences in clustered for column in (differences.sums, differences.counts)]
    sample_sums = sums_over_samples(np.stack(columns, axis=1), seed)
    return [ends(sample_sums[:, column] / sample_sums[:, column + 1]) for column in range(0, len(columns), 2)]


def _cluster(differences: ArrayLike, clusters: ArrayLike) -> _ClusteredDifferences:
    values = scores(differences)
    _, codes = np.unique(np.asarray(clusters, dtype=object), return_inverse=True)
    counts = np.bincount(codes).astype(np.float64)
    sums = np.bincount(codes, weights=values, minlength=len(counts)).astype(np.float64)
    return _ClusteredDifferences(values, codes, counts, sums)


def _p_values(sums: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the p-values (m,) of m differences from their sums (k, m) over the same number of clusters."""
    k, tolerance = len(sums), ROUNDING * np.abs(sums).sum(axis=0)
    is_exact = 2**k <= WAYS
    random_signs = (rng.choice((1.0, -1.0), size=(BATCH, k)) for _ in range(WAYS // BATCH))
    batches = all_signs(k) if is_exact else random_signs
    return p_values(batches, sums, sums.sum(axis=0), tolerance, "two-sided", is_exact)
