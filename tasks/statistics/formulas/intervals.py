"""Intervals of means, correlations, shares and differences of shares, of values that may come in clusters.

Bootstrap intervals of a mean and of a correlation resample values, or whole clusters if values come in clusters.

    low, high = the 2.5th and 97.5th percentiles of the mean, or of Pearson's r, over 10,000 samples. With more than
                500 clusters, fewer samples are drawn, but at least 1,000. A sample of k clusters draws k clusters with
                replacement

The Monte Carlo error of low and high is 0.7% of the interval's width with 10,000 samples, and 2.2% with 1,000
(`end_error` in data/records/statistics.py). Values of a cluster depend on each other, such as the two contexts of one
question. Without clusters, each value is a cluster; the order of values changes nothing. The interval shows the spread
of a result over other clusters. With few clusters it is too narrow, and fewer than 5 clusters have no interval
(docs/decisions/0014-statistics.md). The mean of equal values has an interval of width 0 or, in clusters, no interval.

Source: Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 8; the percentile method.

Intervals of a share, and of the difference of two shares of the same items, are always wider than 0.

    share       Wilson's score interval of p over n_e values
    difference  Bonett and Price's interval of two shares p: the share of items for which only the first value is 1, and
                the share for which only the second is 1. Each p is replaced by (n_e p + 1) / (n_e + 2)
    n_e         the effective sample size, of n values in k clusters: 1 / n_e = (m / n_d + w / n_k) / (m + w)
    n_d         the size by the design effect: (n / deff) (t_(n-1) / t_(k-1))^2
    deff        the design effect, max(1, v / (s^2 / (n - 1))); s^2 is the variance of the values, over n
    v           the variance of the mean from clusters c of n_c values with the sum y_c:
                k / (k - 1) sum_c (y_c - n_c mean)^2 / n^2
    n_k         Kish's size, if values are equal within each cluster: n^2 / sum_c n_c^2, which is k or less
    m           the number of values that differ from the most frequent value
    w           (z^2 / 2) (n / k), the number of values in z^2 / 2 clusters of average size

t and z are the 97.5th percentiles of Student's and the normal distribution. If each value is a cluster of its own,
n_e = n. If all values are equal, their likeness within clusters is unknown, and n_e = n_k. Fewer than 5 clusters have
no interval. docs/decisions/0014-statistics.md explains why n_d has the weight m, and measures the coverage.

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
_NORMAL = 1.959963984540054
"""The 97.5th percentile of the normal distribution."""
_SEED = 20240815
"""The seed of intervals without clusters, so that the same values have the same interval in every study."""
_BATCH = 500
"""Samples that are drawn and multiplied together, so that many samples need little memory."""


class Interval(NamedTuple):
    """The number of clusters and the ends of the interval, which are None for an undefined interval."""

    clusters: int
    low: float | None = None
    high: float | None = None


def mean_interval(values: ArrayLike) -> tuple[float | None, float | None, float | None]:
    """Return the mean of finite values (n,) and the ends of its 95% interval; fewer than 5 values have no interval."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    if n < FEWEST_FOR_INTERVAL:
        return (float(ordered.mean()) if n else None), None, None
    smallest = ordered[0]
    (sums,) = sums_over_samples((ordered - smallest)[:, np.newaxis], _SEED).T
    return float(ordered.mean()), *ends(smallest + sums / n)


def clustered_mean(values: ArrayLike, clusters: ArrayLike, seed: int) -> Interval:
    """Return the interval of the mean of finite values (n,) in clusters (n,)."""
    vector = scores(values)
    sums = sums_of_clusters(clusters, np.ones(len(vector)), vector)
    if len(sums) < FEWEST_FOR_INTERVAL or not has_spread(vector):
        return Interval(len(sums))
    counts, totals = sums_over_samples(sums, seed).T
    return Interval(len(sums), *ends(totals / counts))


def clustered_pearson(x: ArrayLike, y: ArrayLike, clusters: ArrayLike, seed: int) -> Interval:
    """Return the interval of Pearson's r of x (n,) and y (n,); none if a sample has no spread in x or in y."""
    first, second = scores(x), scores(y)
    if len(first) < 3:
        return Interval(len(sums_of_clusters(clusters, first)))
    first, second = first - first.mean(), second - second.mean()
    sums = sums_of_clusters(clusters, np.ones(len(first)), first, second, first**2, second**2, first * second)
    if len(sums) < FEWEST_FOR_INTERVAL or not (has_spread(first) and has_spread(second)):
        return Interval(len(sums))
    n, sum_x, sum_y, sum_xx, sum_yy, sum_xy = sums_over_samples(sums, seed).T
    spread_x, spread_y = sum_xx - sum_x**2 / n, sum_yy - sum_y**2 / n
    if (spread_x <= _NO_SPREAD * sums[:, 3].sum()).any() or (spread_y <= _NO_SPREAD * sums[:, 4].sum()).any():
        return Interval(len(sums))
    return Interval(len(sums), *ends((sum_xy - sum_x * sum_y / n) / np.sqrt(spread_x * spread_y)))


_NO_SPREAD = 1e-12
"""A sample has no spread if its sum of squares is at most this share of the sum of squares of all values."""


def sums_of_clusters(clusters: ArrayLike, *columns: Scores) -> NDArray[np.float64]:
    """Return the sums (k, m) of m columns in each of k clusters."""
    _, codes = np.unique(np.asarray(clusters), return_inverse=True)
    return np.stack([np.bincount(codes, weights=column) for column in columns], axis=1).astype(np.float64)


def sums_over_samples(sums: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return the sums (samples, m) over samples of clusters, from the sums (k, m) of m columns in k clusters."""
    counts = _sample_counts(len(sums), seed)
    # float64, because a matrix product of floats is fast.
    batches = (counts[start : start + _BATCH].astype(np.float64) @ sums for start in range(0, len(counts), _BATCH))
    return np.concatenate([*batches])


@lru_cache(maxsize=64)
def _sample_counts(clusters: int, seed: int) -> NDArray[np.uint8]:
    """Return the number of occurrences of each cluster in each sample (samples, clusters)."""
    rng, samples = generator(seed, "clusters", clusters), bootstrap_samples(clusters)
    counts = np.empty((samples, clusters), dtype=np.uint8)
    row_offsets = np.arange(_BATCH)[:, None] * clusters
    for start in range(0, samples, _BATCH):
        size = min(_BATCH, samples - start)
        cells = rng.integers(0, clusters, (size, clusters)) + row_offsets[:size]
        counts[start : start + size] = np.bincount(cells.ravel(), minlength=size * clusters).reshape(size, clusters)
    return counts


def ends(results: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ends of the 95% interval from the results of all samples, (samples,)."""
    low, high = np.quantile(results, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return float(low), float(high)


def share_interval(values: ArrayLike, clusters: ArrayLike) -> Interval:
    """Return the interval of the share of ones among values (n,), 0 or 1, in clusters (n,).

    Raises:
        ScoreError: a value is neither 0 nor 1.
    """
    vector = _check_values(values, (0, 1))
    size, k = effective_size(vector, clusters)
    if k < FEWEST_FOR_INTERVAL:
        return Interval(k)
    share, z2 = float(vector.mean()), _NORMAL**2
    centre = (share + z2 / (2 * size)) / (1 + z2 / size)
    half_width = _NORMAL * math.sqrt(share * (1 - share) / size + z2 / (4 * size**2)) / (1 + z2 / size)
    return Interval(k, max(0.0, centre - half_width), min(1.0, centre + half_width))


def difference_interval(differences: ArrayLike, clusters: ArrayLike) -> Interval:
    """Return the interval of the mean of differences (n,) of two values that are 0 or 1, in clusters (n,).

    Raises:
        ScoreError: a difference is not -1, 0 or 1.
    """
    vector = _check_values(differences, (-1, 0, 1))
    size, k = effective_size(vector, clusters)
    if k < FEWEST_FOR_INTERVAL:
        return Interval(k)
    only_first, only_second = ((np.mean(vector == sign) * size + 1) / (size + 2) for sign in (1, -1))
    difference = only_first - only_second
    half_width = _NORMAL * math.sqrt((only_first + only_second - difference**2) / (size + 2))
    return Interval(k, max(-1.0, float(difference - half_width)), min(1.0, float(difference + half_width)))


def effective_size(values: ArrayLike, clusters: ArrayLike) -> tuple[float, int]:
    """Return the effective sample size of the mean of values (n,) in clusters (n,), and the number of clusters."""
    vector = scores(values)
    sums = sums_of_clusters(clusters, np.ones(len(vector)), vector)
    n, k = len(vector), len(sums)
    rarer = n - max(np.unique(vector, return_counts=True)[1], default=0)  # m of the module's docstring
    kish_size = n**2 / max(1.0, float((sums[:, 0] ** 2).sum()))  # n_k of the module's docstring
    if k < 2 or not rarer:
        return kish_size, k
    mean = vector.mean()
    variance = k / (k - 1) * float(((sums[:, 1] - mean * sums[:, 0]) ** 2).sum()) / n**2
    design_effect = max(1.0, variance * (n - 1) / float(vector.var()))
    t_ratio = 1.0 if n == k else _student(n - 1) / _student(k - 1)
    weight = _NORMAL**2 / 2 * n / k  # w of the module's docstring
    return float((rarer + weight) / (rarer * design_effect / (n * t_ratio**2) + weight / kish_size)), k


def _student(degrees: int) -> float:
    """Return the 97.5th percentile of Student's distribution; the import of scipy.special takes half a second."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + COVERAGE) / 2))


def _check_values(values: ArrayLike, allowed: tuple[int, ...]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return values as a vector, (n,); ScoreError for a value that is not allowed."""
    vector = scores(values)
    if wrong := int((~np.isin(vector, allowed)).sum()):
        raise ScoreError(f"{wrong} of {len(vector)} values are none of the allowed values {list(allowed)}")
    return vector
