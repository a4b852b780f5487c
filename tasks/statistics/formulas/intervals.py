"""Intervals of means, correlations, shares and differences of shares, of values that may come in clusters.

Bootstrap intervals of a mean and of a correlation: values are drawn, or whole clusters where they come in clusters.

    low, high = the 2.5th and 97.5th percentiles of the mean (of Pearson's r) over 10,000 samples of as many clusters as
                there are, drawn with replacement; over fewer samples of more than 500 clusters, at least 1,000

Their Monte Carlo error is 0.7% of the interval's width with 10,000 samples and 2.2% with 1,000 (`end_error`).
Single values are clusters of their own, drawn in one order whatever theirs is.
Values of a cluster depend on each other, as the two contexts of one question do. It shows how far a result would move
with other clusters; with few clusters it is too narrow, and fewer than 5 have none (decision 0014). Values that are all
equal have none either; the interval of a share has a width then, too.

Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 8; the percentile method.

The interval of a share, and of the difference of two shares of the same items: both always have a width.

    share       Wilson's score interval of p over n_e values
    difference  Bonett and Price's: 1 is added to the n_e-fold shares of items that only one of the two counts, 2 to n_e
    n_e         the effective sample size, of n values in k clusters: 1 / n_e = (m / n_d + w / n_k) / (m + w)
    n_d         as the values say: n / deff (t_(n-1) / t_(k-1))^2
    deff        max(1, v / (s^2 / (n - 1))), where s^2 is the variance of the values over n, and the mean's, over
                clusters c of n_c values with the sum y_c, is v = k / (k - 1) sum_c (y_c - n_c mean)^2 / n^2
    n_k         Kish's, where the values of a cluster are all alike: n^2 / sum_c n_c^2, which is k or less
    m, w        how many values are not the most frequent one, and z^2 / 2 clusters of n / k values

t and z are the 97.5th percentiles of Student's and the normal distribution. Where each value is a cluster of its own,
n_e = n and the interval is Wilson's; where all values are equal, nothing says how alike those of a cluster are, and
n_e = n_k. Decision 0014 says why n_d counts by the rarer values alone, and how much the intervals cover; fewer than 5
clusters have none (decision 0014).

Source: Wilson 1927; Korn and Graubard 1998, Confidence Intervals for Proportions with Small Expected Number of Positive
Counts Estimated from Survey Data, for n_d; Kish 1965, Survey Sampling, for n_k; Dean and Pagano 2015, Evaluating
Confidence Interval Methods for Binomial Proportions in Clustered Surveys, for Wilson's with n_d; Franco, Little, Louis
and Slud 2019, Comparative Study of Confidence Intervals for Proportions in Complex Sample Surveys, which finds that n_d
alone covers too little; Agresti and Coull 1998, Approximate Is Better than "Exact", for z^2 / 2; Bonett and Price 2012,
Adjusted Wald Confidence Interval for a Difference of Binomial Proportions Based on Paired Data.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swaymeter.data.errors import ScoreError
from swaymeter.data.randomness import generator
from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL, bootstrap_samples
from swaymeter.tasks.statistics.formulas.groups import Scores, has_spread, scores

COVERAGE = 0.95
_SEED = 20240815
_BATCH = 500
"""Samples drawn, and multiplied, at a time, so that many samples need little memory."""


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
    smallest = ordered[0]
    (sums,) = sums_over_samples((ordered - smallest)[:, np.newaxis], _SEED).T
    return float(ordered.mean()), *ends(smallest + sums / n)


def clustered_mean(values: ArrayLike, clusters: ArrayLike, seed: int) -> Interval:
    """The interval of the mean of finite values (n,), each of the cluster (n,) that it belongs to."""
    vector = scores(values)
    sums = sums_of_clusters(clusters, np.ones(len(vector)), vector)
    if len(sums) < FEWEST_FOR_INTERVAL or not has_spread(vector):
        return Interval(len(sums))
    counts, totals = sums_over_samples(sums, seed).T
    return Interval(len(sums), *ends(totals / counts))


def clustered_pearson(x: ArrayLike, y: ArrayLike, clusters: ArrayLike, seed: int) -> Interval:
    """The interval of Pearson's r of x (n,) and y (n,); none where a sample of clusters has no spread in either."""
    first, second = scores(x), scores(y)
    if len(first) < 3:
        return Interval(len(sums_of_clusters(clusters, first)))
    first, second = first - first.mean(), second - second.mean()
    sums = sums_of_clusters(clusters, np.ones(len(first)), first, second, first**2, second**2, first * second)
    if len(sums) < FEWEST_FOR_INTERVAL or not (has_spread(first) and has_spread(second)):
        return Interval(len(sums))
    n, sum_x, sum_y, sum_xx, sum_yy, sum_xy = sums_over_samples(sums, seed).T
    spread_x, spread_y = sum_xx - sum_x**2 / n, sum_yy - sum_y**2 / n
    if (spread_x <= _NOTHING * sums[:, 3].sum()).any() or (spread_y <= _NOTHING * sums[:, 4].sum()).any():
        return Interval(len(sums))
    return Interval(len(sums), *ends((sum_xy - sum_x * sum_y / n) / np.sqrt(spread_x * spread_y)))


_NOTHING = 1e-12
"""A sum of squares below this share of all of them is rounding."""


def sums_of_clusters(clusters: ArrayLike, *columns: Scores) -> NDArray[np.float64]:
    """The sums (k, m) of m columns in each of k clusters."""
    _, place = np.unique(np.asarray(clusters), return_inverse=True)
    return np.stack([np.bincount(place, weights=column) for column in columns], axis=1).astype(np.float64)


def sums_over_samples(sums: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return the sums (samples, m) over samples of clusters, from the sums (k, m) of m columns in k clusters."""
    drawn = _drawn(len(sums), seed)
    # Doubles, because a product with them is fast.
    batches = (drawn[at : at + _BATCH].astype(np.float64) @ sums for at in range(0, len(drawn), _BATCH))
    return np.concatenate([*batches])


@lru_cache(maxsize=64)
def _drawn(clusters: int, seed: int) -> NDArray[np.uint8]:
    """Return how often each cluster is in each sample (samples, clusters)."""
    rng, samples = generator(seed, "clusters", clusters), bootstrap_samples(clusters)
    counts = np.empty((samples, clusters), dtype=np.uint8)
    rows = np.arange(_BATCH)[:, None] * clusters
    for at in range(0, samples, _BATCH):
        batch = min(_BATCH, samples - at)
        drawn = rng.integers(0, clusters, (batch, clusters)) + rows[:batch]
        counts[at : at + batch] = np.bincount(drawn.ravel(), minlength=batch * clusters).reshape(batch, clusters)
    return counts


def ends(drawn: NDArray[np.float64]) -> tuple[float, float]:
    """The ends of the interval of what was drawn (draws,)."""
    low, high = np.quantile(drawn, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return float(low), float(high)


def share_interval(values: ArrayLike, clusters: ArrayLike) -> Interval:
    """The interval of the share of ones among values (n,), 0 or 1, each of the cluster (n,) that it belongs to.

    Raises:
        ScoreError: a value is neither 0 nor 1.
    """
    vector = _among(values, (0, 1))
    size, count = effective_size(vector, clusters)
    if count < FEWEST_FOR_INTERVAL:
        return Interval(count)
    share, z2 = float(vector.mean()), _normal() ** 2
    middle = (share + z2 / (2 * size)) / (1 + z2 / size)
    half = _normal() * math.sqrt(share * (1 - share) / size + z2 / (4 * size**2)) / (1 + z2 / size)
    return Interval(count, max(0.0, middle - half), min(1.0, middle + half))


def difference_interval(differences: ArrayLike, clusters: ArrayLike) -> Interval:
    """The interval of the mean of differences (n,) of two values that are 0 or 1, each of a cluster (n,).

    Raises:
        ScoreError: a difference is not -1, 0 or 1.
    """
    vector = _among(differences, (-1, 0, 1))
    size, count = effective_size(vector, clusters)
    if count < FEWEST_FOR_INTERVAL:
        return Interval(count)
    more, less = ((np.mean(vector == sign) * size + 1) / (size + 2) for sign in (1, -1))
    half = _normal() * math.sqrt((more + less - (more - less) ** 2) / (size + 2))
    return Interval(count, max(-1.0, float(more - less - half)), min(1.0, float(more - less + half)))


def effective_size(values: ArrayLike, clusters: ArrayLike) -> tuple[float, int]:
    """How many independent values say as much of the mean as values (n,) in clusters (n,) do, and the clusters."""
    from scipy.special import stdtrit

    vector = scores(values)
    sums = sums_of_clusters(clusters, np.ones(len(vector)), vector)
    n, k = len(vector), len(sums)
    rarer = n - max(np.unique(vector, return_counts=True)[1], default=0)
    alike = n**2 / max(1.0, float((sums[:, 0] ** 2).sum()))
    if k < 2 or not rarer:
        return alike, k
    mean = vector.mean()
    variance = k / (k - 1) * float(((sums[:, 1] - mean * sums[:, 0]) ** 2).sum()) / n**2
    effect = max(1.0, variance * (n - 1) / float(vector.var()))
    few = float(stdtrit(n - 1, (1 + COVERAGE) / 2) / stdtrit(k - 1, (1 + COVERAGE) / 2))
    weight = _normal() ** 2 / 2 * n / k
    return float((rarer + weight) / (rarer * effect / (n * few**2) + weight / alike)), k


def _normal() -> float:
    """Return the 97.5th percentile of the normal distribution; scipy.stats would take a second to import."""
    from scipy.special import ndtri

    return float(ndtri((1 + COVERAGE) / 2))


def _among(values: ArrayLike, allowed: tuple[int, ...]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    vector = scores(values)
    if wrong := int((~np.isin(vector, allowed)).sum()):
        raise ScoreError(f"{wrong} of {len(vector)} values are none of {', '.join(map(str, allowed))}")
    return vector
