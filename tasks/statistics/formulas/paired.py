"""The mean difference of pairs that come in clusters: its interval, and whether it could be chance.

    d        = sum of all differences / number of pairs
    interval = the 2.5th and 97.5th percentiles of d over 1,000 samples of whole clusters, drawn with replacement; of
               shares, that of `difference_interval`
    p        = share of the ways to turn the signs of whole clusters under which |d| is at least as large, two-sided; of
               10,000 ways drawn, with the observed one among them, where there are more than that (all of them else)

Fewer than 5 clusters have no interval, and so few that p cannot be 0.05 no p (`interval`, `reach`).

Pairs of a cluster depend on each other (the forms of a query, the contexts of a question): they are drawn, and turned,
together. It asks whether the sign of the differences is arbitrary, assuming no normal distribution.

Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 8; Good 2005, Permutation, Parametric and
Bootstrap Tests of Hypotheses, chapter 3; Phipson and Smyth 2010 for the observed one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swaymeter.data.randomness import generator
from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL
from swaymeter.tasks.statistics.formulas.groups import ROUNDING, scores
from swaymeter.tasks.statistics.formulas.intervals import DRAWS, difference_interval, ends
from swaymeter.tasks.statistics.formulas.permutation import every_sign, p_values, unreachable

WAYS = 10_000
BATCH = 1_000


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
    values = scores(differences)
    _, place = np.unique(np.asarray(clusters, dtype=object), return_inverse=True)
    counts = np.bincount(place).astype(np.float64)
    sums = np.bincount(place, weights=values, minlength=len(counts)).astype(np.float64)
    n, k = len(values), len(counts)
    if k < 2:
        return Paired(n, k, float(values.mean()) if n else None, untestable="one cluster" if k else "no pair")
    difference, reason = float(sums.sum() / n), unreachable(2**k, exchangeable=True)
    if k < FEWEST_FOR_INTERVAL:
        return Paired(n, k, difference, untestable=reason)
    rng = generator(seed, "paired", k)
    if shares:
        _, low, high = difference_interval(values, place)
    else:
        drawn = rng.integers(0, k, size=(DRAWS, k))
        means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
        low, high = ends(means)
    p = None if reason else _p_value(sums, rng)
    return Paired(n, k, difference, low, high, p, reason or None)


def _p_value(sums: NDArray[np.float64], rng: np.random.Generator) -> float:
    k, tolerance = len(sums), ROUNDING * np.abs(sums).sum(keepdims=True)
    every = 2**k <= WAYS
    drawn = (rng.choice((1.0, -1.0), size=(BATCH, k)) for _ in range(WAYS // BATCH))
    batches = every_sign(k) if every else drawn
    return float(p_values(batches, sums[:, None], sums.sum(keepdims=True), tolerance, "two-sided", every)[0])
