"""Bootstrap intervals of a mean and of a correlation: values are drawn, or whole clusters where they come in clusters.

    low, high = the 2.5th and 97.5th percentiles of the mean (of Pearson's r) over 1,000 samples of as many clusters as
                there are, drawn with replacement

Single values are clusters of their own, drawn in one order whatever theirs is.
Values of a cluster depend on each other, as the two contexts of one question do. It shows how far a result would move
with other clusters; with few clusters it is too narrow, and fewer than 5 have none (decision 0055). Values that are all
equal have none either; the interval of a share, which has one then, is that of `share`.

Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 8; the percentile method.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swaymeter.data.randomness import generator
from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL
from swaymeter.tasks.statistics.formulas.groups import Scores, has_spread, scores

DRAWS = 1000
COVERAGE = 0.95
_SEED = 20240815
_AT_A_TIME = 2_000_000
"""Values drawn at a time, so that large samples need no more memory than small ones."""
_BATCH = 100


class Interval(NamedTuple):
    """How many clusters there are, and the ends of the interval; no ends where it is not defined."""

    clusters: int
    low: float | None = None
    high: float | None = None


def mean_interval(values: ArrayLike) -> tuple[float | None, float | None, float | None]:
    """The mean of finite values (n,) and the ends of its 95% interval; no mean of none, no interval of fewer than 5."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    if n < FEWEST_FOR_INTERVAL:
        return (float(ordered.mean()) if n else None), None, None
    rng = generator(_SEED)
    draws = np.empty(DRAWS)
    step = max(1, _AT_A_TIME // n)
    for start in range(0, DRAWS, step):
        drawn = rng.integers(0, n, size=(min(step, DRAWS - start), n))
        draws[start : start + step] = ordered[drawn].mean(axis=1)
    low, high = np.quantile(draws, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return float(ordered.mean()), float(low), float(high)


def clustered_mean(values: ArrayLike, clusters: ArrayLike, seed: int) -> Interval:
    """The interval of the mean of finite values (n,), each of the cluster (n,) that it belongs to."""
    vector = scores(values)
    sums = sums_of_clusters(clusters, np.ones(len(vector)), vector)
    if len(sums) < FEWEST_FOR_INTERVAL or not has_spread(vector):
        return Interval(len(sums))
    drawn = _drawn_sums(sums, seed)
    return Interval(len(sums), *_ends(drawn[:, 1] / drawn[:, 0]))


def clustered_pearson(x: ArrayLike, y: ArrayLike, clusters: ArrayLike, seed: int) -> Interval:
    """The interval of Pearson's r of x (n,) and y (n,); none where a sample of clusters has no spread in either."""
    first, second = scores(x), scores(y)
    if len(first) < 3:
        return Interval(len(sums_of_clusters(clusters, first)))
    first, second = first - first.mean(), second - second.mean()
    sums = sums_of_clusters(clusters, np.ones(len(first)), first, second, first**2, second**2, first * second)
    if len(sums) < FEWEST_FOR_INTERVAL or not (has_spread(first) and has_spread(second)):
        return Interval(len(sums))
    n, sum_x, sum_y, sum_xx, sum_yy, sum_xy = _drawn_sums(sums, seed).T
    spread_x, spread_y = sum_xx - sum_x**2 / n, sum_yy - sum_y**2 / n
    if (spread_x <= _NOTHING * sums[:, 3].sum()).any() or (spread_y <= _NOTHING * sums[:, 4].sum()).any():
        return Interval(len(sums))
    return Interval(len(sums), *_ends((sum_xy - sum_x * sum_y / n) / np.sqrt(spread_x * spread_y)))


_NOTHING = 1e-12
"""A sum of squares below this share of all of them is rounding."""


def sums_of_clusters(clusters: ArrayLike, *columns: Scores) -> NDArray[np.float64]:
    """The sums (k, m) of m columns in each of k clusters."""
    _, place = np.unique(np.asarray(clusters), return_inverse=True)
    return np.stack([np.bincount(place, weights=column) for column in columns], axis=1).astype(np.float64)


def _drawn_sums(sums: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """The sums (draws, m) over each sample of clusters, from those of the clusters (k, m)."""
    return _weights(len(sums), seed) @ sums


@lru_cache(maxsize=1)
def _weights(clusters: int, seed: int) -> NDArray[np.float64]:
    """The samples as doubles, which a product is fast with: those of several quantities of the same rows."""
    return _drawn(clusters, seed).astype(np.float64)


@lru_cache(maxsize=64)
def _drawn(clusters: int, seed: int) -> NDArray[np.uint8]:
    """How often each cluster is in each sample (draws, clusters)."""
    rng = generator(seed, "clusters", clusters)
    counts = np.empty((DRAWS, clusters), dtype=np.uint8)
    rows = np.arange(_BATCH)[:, None] * clusters
    for at in range(0, DRAWS, _BATCH):
        drawn = rng.integers(0, clusters, (_BATCH, clusters)) + rows
        counts[at : at + _BATCH] = np.bincount(drawn.ravel(), minlength=_BATCH * clusters).reshape(_BATCH, clusters)
    return counts


def _ends(drawn: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.quantile(drawn, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return float(low), float(high)
