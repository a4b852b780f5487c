"""The interval of a share, and of the difference of two shares of the same items: both always have a width.

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
n_e = n_k. Decision 0066 says why n_d counts by the rarer values alone, and how much the intervals cover; fewer than 5
clusters have none (decision 0055).

Source: Wilson 1927; Korn and Graubard 1998, Confidence Intervals for Proportions with Small Expected Number of Positive
Counts Estimated from Survey Data, for n_d; Kish 1965, Survey Sampling, for n_k; Dean and Pagano 2015, Evaluating
Confidence Interval Methods for Binomial Proportions in Clustered Surveys, for Wilson's with n_d; Franco, Little, Louis
and Slud 2019, Comparative Study of Confidence Intervals for Proportions in Complex Sample Surveys, which finds that n_d
alone covers too little; Agresti and Coull 1998, Approximate Is Better than "Exact", for z^2 / 2; Bonett and Price 2012,
Adjusted Wald Confidence Interval for a Difference of Binomial Proportions Based on Paired Data.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from swaymeter.data.errors import ScoreError
from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL
from swaymeter.tasks.statistics.formulas.clustered import COVERAGE, Interval, sums_of_clusters
from swaymeter.tasks.statistics.formulas.groups import scores


def share_interval(values: ArrayLike, clusters: ArrayLike) -> Interval:
    """The interval of the share of ones among values (n,), 0 or 1, each of the cluster (n,) that it belongs to.

    Raises:
        ScoreError: a value is neither 0 nor 1.
    """
    from statsmodels.stats.proportion import proportion_confint

    vector = _among(values, (0, 1))
    size, count = effective_size(vector, clusters)
    if count < FEWEST_FOR_INTERVAL:
        return Interval(count)
    low, high = proportion_confint(vector.mean() * size, size, 1 - COVERAGE, "wilson")
    return Interval(count, max(0.0, float(low)), min(1.0, float(high)))


def difference_interval(differences: ArrayLike, clusters: ArrayLike) -> Interval:
    """The interval of the mean of differences (n,) of two values that are 0 or 1, each of a cluster (n,).

    Raises:
        ScoreError: a difference is not -1, 0 or 1.
    """
    from scipy import stats

    vector = _among(differences, (-1, 0, 1))
    size, count = effective_size(vector, clusters)
    if count < FEWEST_FOR_INTERVAL:
        return Interval(count)
    more, less = ((np.mean(vector == sign) * size + 1) / (size + 2) for sign in (1, -1))
    half = stats.norm.ppf((1 + COVERAGE) / 2) * math.sqrt((more + less - (more - less) ** 2) / (size + 2))
    return Interval(count, max(-1.0, float(more - less - half)), min(1.0, float(more - less + half)))


def effective_size(values: ArrayLike, clusters: ArrayLike) -> tuple[float, int]:
    """How many independent values say as much of the mean as values (n,) in clusters (n,) do, and the clusters."""
    from scipy import stats

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
    few = stats.t.ppf((1 + COVERAGE) / 2, n - 1) / stats.t.ppf((1 + COVERAGE) / 2, k - 1)
    weight = stats.norm.ppf((1 + COVERAGE) / 2) ** 2 / 2 * n / k
    return float((rarer + weight) / (rarer * effect / (n * few**2) + weight / alike)), k


def _among(values: ArrayLike, allowed: tuple[int, ...]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    vector = scores(values)
    if wrong := int((~np.isin(vector, allowed)).sum()):
        raise ScoreError(f"{wrong} of {len(vector)} values are none of {', '.join(map(str, allowed))}")
    return vector
