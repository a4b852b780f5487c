"""The mean difference of pairs that come in clusters: its interval, and whether it could be chance.

    d        = sum of all differences / number of pairs
    interval = the 2.5th and 97.5th percentiles of d over samples of whole clusters, as many as
               `formulas.intervals` draws; of shares, that of `difference_interval`
    p        = share of the ways to turn the signs of whole clusters under which |d| is at least as large, two-sided; of
               10,000 ways drawn, with the observed one among them, where there are more than that (all of them else)

Fewer than 5 clusters have no interval, and so few that p cannot be 0.05 no p (`interval`, `reach`).

Pairs of a cluster depend on each other (the forms of a query, the contexts of a question): they are drawn, and turned,
together. It asks whether the sign of the differences is arbitrary, assuming no normal distribution.

Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 8; Good 2005, Permutation, Parametric and
Bootstrap Tests of Hypotheses, chapter 3; Phipson and Smyth 2010 for the observed one.
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
from swaymeter.tasks.statistics.formulas.permutation import every_sign, p_values, unreachable

WAYS = 10_000
BATCH = 1_000
FEWEST_TO_TEST = next(k for k in count(FEWEST_FOR_INTERVAL) if not unreachable(2**k, exchangeable=True))
"""The fewest clusters of which p can be 0.05: fewer have no test."""


class Paired(NamedTuple):
    """The mean difference of n pairs in so many clusters, its interval and p-value; or why there is none."""

    n: int
    clusters: int
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    untestable: str | None = None


def paired_difference(differences: ArrayLike, clusters: ArrayLike, seed: int, *, shares: bool = False) -> Paired:
    """The mean of differences (n,), each of the cluster (n,) that it belongs to.

    Args:
        differences: a first value minus a second one of the same item, finite, in an order of their own.
        clusters: what each item belongs to.
        seed: of the study.
        shares: whether the values are 0 or 1: then the interval is that of shares, which always has a width.

    Raises:
        ScoreError: a difference is not finite, or, of shares, not -1, 0 or 1.
    """
    return paired_differences([(differences, clusters)], seed, shares=shares)[0]


def paired_differences(
    pairs: Iterable[tuple[ArrayLike, ArrayLike]], seed: int, *, shares: bool = False
) -> list[Paired]:
    """As `paired_difference` of each alone; those of as many clusters are drawn and turned at once."""
    clustered = [_clustered(*pair) for pair in pairs]
    found = {number: one.untested() for number, one in enumerate(clustered)}
    by_count: dict[int, list[int]] = {}
    for number, one in enumerate(clustered):
        if one.k >= FEWEST_FOR_INTERVAL:
            by_count.setdefault(one.k, []).append(number)
    for k, numbers in by_count.items():
        some, rng = [clustered[number] for number in numbers], generator(seed, "paired", k)
        intervals = [one.share_interval() for one in some] if shares else _intervals(some, seed)
        reason = unreachable(2**k, exchangeable=True)
        p = None if reason else _p_values(np.stack([one.sums for one in some], axis=1), rng)
        for place, number in enumerate(numbers):
            low, high = intervals[place]
            known = None if p is None else float(p[place])
            found[number] = found[number]._replace(low=low, high=high, p=known, untestable=reason or None)
    return [found[number] for number in range(len(clustered))]


def smallest_shown_fall(clusters: int, tests: int = 1) -> float | None:
    """Return the smallest fall of a share that the test shows, if no pair rises.

    Args:
        clusters: The number of clusters, of one pair each.
        tests: The number of tests that p is adjusted over; the others show nothing, so that p is multiplied by it.

    Returns:
        The fall as a share of the clusters; None if not even a fall of all of them is shown. If k clusters fall and the
        others stay, p is 2 / 2^k: all k signs are alike in 2 of 2^k ways, and turning a zero changes nothing.
    """
    for fallen in range(1, clusters + 1):
        differences = np.repeat([-1.0, 0.0], [fallen, clusters - fallen])
        high = difference_interval(differences, np.arange(clusters))[2]
        if high is not None and high < 0 and tests * 2.0 ** (1 - fallen) <= ALPHA:
            return fallen / clusters
    return None


class _Clustered(NamedTuple):
    """Differences (n,), the cluster of each (n,) by its place, and how many (k,) with what sum (k,) each has."""

    values: NDArray[np.float64]
    place: NDArray[np.int64]
    counts: NDArray[np.float64]
    sums: NDArray[np.float64]

    @property
    def k(self) -> int:
        return len(self.counts)

    def untested(self) -> Paired:
        """The difference without an interval, and why it has no test."""
        n, k = len(self.values), self.k
        if k < 2:
            return Paired(n, k, float(self.values.mean()) if n else None, untestable="one cluster" if k else "no pair")
        return Paired(n, k, float(self.sums.sum() / n), untestable=unreachable(2**k, exchangeable=True))

    def share_interval(self) -> tuple[float | None, float | None]:
        """Return the ends of the interval of differences of shares."""
        return difference_interval(self.values, self.place)[1:]


def _intervals(clustered: Sequence[_Clustered], seed: int) -> list[tuple[float, float]]:
    """Return the ends of the bootstrap interval of each of these differences, all over as many clusters."""
    columns = [column for one in clustered for column in (one.sums, one.counts)]
    drawn = sums_over_samples(np.stack(columns, axis=1), seed)
    return [ends(drawn[:, at] / drawn[:, at + 1]) for at in range(0, len(columns), 2)]


def _clustered(differences: ArrayLike, clusters: ArrayLike) -> _Clustered:
    values = scores(differences)
    _, place = np.unique(np.asarray(clusters, dtype=object), return_inverse=True)
    counts = np.bincount(place).astype(np.float64)
    sums = np.bincount(place, weights=values, minlength=len(counts)).astype(np.float64)
    return _Clustered(values, place, counts, sums)


def _p_values(sums: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """The p-values (m,) of m differences from their sums (k, m) over the same number of clusters."""
    k, tolerance = len(sums), ROUNDING * np.abs(sums).sum(axis=0)
    every = 2**k <= WAYS
    drawn = (rng.choice((1.0, -1.0), size=(BATCH, k)) for _ in range(WAYS // BATCH))
    batches = every_sign(k) if every else drawn
    return p_values(batches, sums, sums.sum(axis=0), tolerance, "two-sided", every)
