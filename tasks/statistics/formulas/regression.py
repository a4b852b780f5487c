"""Regression and correlation.

Ordinary least squares of a score on standardised predictors, with two standard errors:

    y = b_0 + sum_j b_j (x_j - mean_j) / sd_j + e

mean_j and sd_j are the mean and the standard deviation of x_j, with divisor n. b_j is in the unit of y for one
standard deviation of x_j. The first standard error takes rows as independent, as in the published studies. The second,
the sandwich over clusters, lets the rows of a cluster depend on each other. For n rows in G clusters and k
coefficients, the sandwich has the small-sample factor G/(G-1) (n-1)/(n-k) and a t distribution with G - 1 degrees of
freedom. A regression shows which predictors go together with y given the other predictors, not what causes y.

Source: Liang and Zeger 1986 for the clusters. statsmodels' OLS gives the same numbers, but takes a second to import.

Correlation of two scores of the same items, with a p-value.

    Pearson   r   = cov(x, y) / (sd(x) sd(y))
    Spearman  rho = r of the ranks; equal values share their mean rank

The p-values test, two-sided, the hypothesis that there is no correlation. They use the t distribution with n - 2
degrees of freedom. They are exact for Pearson on normal data, and close for Spearman from about ten pairs on. They do
not hold for dependent pairs.

    95% interval of rho = tanh(artanh(rho) -+ 1.96 sqrt((1 + rho^2 / 2) / (n - 3)))

Source: Pearson 1895; Spearman 1904. scipy.stats gives the same numbers, but takes a second to import. The interval:
Bonett and Wright 2000, Sample size requirements for estimating Pearson, Kendall and Spearman correlations.
"""

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL
from swaymeter.tasks.statistics.formulas.groups import (
    Result,
    Scores,
    has_spread,
    pooled_variance,
    scores,
    untestable_reason,
)
from swaymeter.tasks.statistics.formulas.intervals import COVERAGE

CONSTANT = "constant"
Kind = Literal["pearson", "spearman"]


class Coefficient(NamedTuple):
    """A coefficient of a regression, in the unit of the outcome for one standard deviation of the predictor.

    Attributes:
        predictor: name of the predictor, or `CONSTANT`.
        beta: the coefficient.
        standard_error: its standard error for independent rows.
        low: lower end of its 95% interval, for independent rows.
        high: upper end of the interval.
        p: p-value for independent rows.
        cluster_standard_error: standard error over clusters; None for too few clusters.
        cluster_p: p-value over clusters; None for too few clusters.
    """

    predictor: str
    beta: float
    standard_error: float
    low: float
    high: float
    p: float
    cluster_standard_error: float | None = None
    cluster_p: float | None = None


class Regression(NamedTuple):
    """A regression, or the reason why it is untestable.

    Attributes:
        n: number of rows.
        clusters: number of clusters.
        r_squared: share of the outcome's variance that the predictors explain; None if untestable.
        coefficients: the constant, then one coefficient for each predictor; empty if untestable.
        untestable: the reason; None for a regression.
    """

    n: int
    clusters: int
    r_squared: float | None = None
    coefficients: tuple[Coefficient, ...] = ()
    untestable: str | None = None


def regression(outcome: tuple[str, ArrayLike], predictors: Mapping[str, ArrayLike], clusters: ArrayLike) -> Regression:
    """Regress an outcome on predictors.

    The result is untestable, with a reason, for too few rows, an outcome or a predictor without spread, or a predictor
    that is a linear combination of the predictors before it.

    Args:
        outcome: name and finite values (n,) of the outcome.
        predictors: finite values (n,) of each predictor, by its name.
        clusters: the cluster of each row (n,).

    Raises:
        ScoreError: a value is not finite.
    """
    y, columns = scores(outcome[1]), {name: scores(values) for name, values in predictors.items()}
    _, codes = np.unique(np.asarray(clusters), return_inverse=True)
    n, n_clusters = len(y), len(np.unique(codes))
    if reason := _reason_against_regression(outcome[0], y, columns):
        return Regression(n, n_clusters, untestable=reason)
    from scipy.special import stdtrit

    design = _design(columns)
    k = design.shape[1]
    inverse = np.linalg.pinv(design)
    beta, bread = inverse @ y, inverse @ inverse.T  # bread: the outer factors of the sandwich over clusters
    residuals = y - design @ beta
    errors = np.sqrt(residuals @ residuals / (n - k) * np.diag(bread))
    half_width = stdtrit(n - k, (1 + COVERAGE) / 2) * errors
    p = two_sided_p(beta / errors, n - k)
    names = (CONSTANT, *columns)
    fields = zip(names, beta, errors, beta - half_width, beta + half_width, p, strict=True)
    coefficients = [Coefficient(name, *map(float, values)) for name, *values in fields]
    if n_clusters > k:  # with k or fewer clusters, the sandwich is singular
        sums = np.zeros((n_clusters, k))
        np.add.at(sums, codes, design * residuals[:, None])
        variances = np.diag(bread @ (sums.T @ sums) @ bread) * (n_clusters / (n_clusters - 1) * (n - 1) / (n - k))
        with np.errstate(invalid="ignore", divide="ignore"):  # without spread, a variance is 0, or rounded below 0
            cluster_errors = np.sqrt(variances)
            cluster_ps = two_sided_p(beta / cluster_errors, n_clusters - 1)
        for index, (error, cluster_p) in enumerate(zip(cluster_errors.tolist(), cluster_ps.tolist(), strict=True)):
            if math.isfinite(error) and math.isfinite(cluster_p):
                coefficients[index] = coefficients[index]._replace(cluster_standard_error=error, cluster_p=cluster_p)
    deviations = y - y.mean()
    r_squared = float(1 - residuals @ residuals / (deviations @ deviations))
    return Regression(n, n_clusters, r_squared, tuple(coefficients))


def two_sided_p(t: Scores, degrees: int) -> Scores:
    """Return the two-sided p-values of Student's t with these degrees of freedom."""
    from scipy.special import stdtr

    p: Scores = 2 * stdtr(degrees, -np.abs(t))
    return p


def _reason_against_regression(outcome: str, y: Scores, columns: Mapping[str, Scores]) -> str:
    """Return the reason why a regression is untestable, with the column's name; an empty text if it is testable."""
    if len(y) < len(columns) + 3:
        return f"{len(y)} rows are too few for {len(columns)} predictors"
    for name, vector in ((outcome, y), *columns.items()):
        if not has_spread(vector):
            return f"{name}: no spread"
    design = _design(columns)
    for position, name in enumerate(columns, 1):
        if np.linalg.matrix_rank(design[:, : position + 1]) <= position:
            return f"{name}: follows from the predictors before it"
    return ""


def _design(columns: Mapping[str, Scores]) -> Scores:
    """Return a column of ones, then each predictor with mean 0 and standard deviation 1, (n, 1 + predictors)."""
    standardised = [(vector - vector.mean()) / vector.std() for vector in columns.values()]
    return np.column_stack([np.ones(len(next(iter(columns.values())))), *standardised])


def adjusted_difference(
    y: ArrayLike, first: ArrayLike, covariate: tuple[str, ArrayLike], clusters: ArrayLike
) -> tuple[Result, float | None]:
    """Test if the first group's y is larger with a covariate held fixed, and return Cohen's d of the difference.

        y = b_0 + b_1 [in the first group] + b_2 x + error

    x is the covariate, and b_1 the difference of the groups' means among rows of equal x. The test of b_1 > 0 is
    one-sided, with the standard error over clusters. Cohen's d is b_1 divided by the pooled standard deviation of y.

    Args:
        y: finite scores (n,).
        first: True for rows of the first group (n,).
        covariate: name and finite values (n,) of the covariate.
        clusters: the cluster of each row (n,).

    Returns:
        Student's t and p, or the reason why two groups or a regression are untestable; and Cohen's d.
    """
    from scipy.special import stdtr

    values, group = scores(y), np.asarray(first, dtype=bool)
    a, b = values[group], values[~group]
    if reason := untestable_reason(a, b):
        return Result(None, None, reason), None
    result = regression(("score", values), {"group": group, covariate[0]: covariate[1]}, clusters)
    if result.untestable:
        return Result(None, None, result.untestable), None
    coefficient = result.coefficients[1]  # of `group`, for one standard deviation
    if not coefficient.cluster_standard_error:
        return Result(None, None, f"no spread between the clusters, or {result.clusters} clusters are too few"), None
    t = coefficient.beta / coefficient.cluster_standard_error
    difference = coefficient.beta / float(group.std())  # the coefficient of the group as 1 and 0, not standardised
    return Result(t, float(stdtr(result.clusters - 1, -t))), difference / math.sqrt(pooled_variance(a, b))


def correlation(kind: Kind, x: ArrayLike, y: ArrayLike) -> Result:
    """Return Pearson's r or Spearman's rho of x (n,) and y (n,); untestable below three pairs, or without spread.

    Raises:
        ScoreError: a value is not finite.
        ValueError: the vectors have different lengths.
    """
    first, second = scores(x), scores(y)
    if len(first) != len(second):
        raise ValueError(f"a correlation needs vectors of equal length, not {len(first)} and {len(second)} values")
    if len(first) < 3:
        return Result(None, None, "too few pairs")
    if not (has_spread(first) and has_spread(second)):
        return Result(None, None, "no spread")
    if kind == "spearman":
        first, second = _ranks(first), _ranks(second)
    a, b = first - first.mean(), second - second.mean()
    r = min(max(float(a @ b) / math.sqrt((a @ a) * (b @ b)), -1.0), 1.0)
    degrees = len(first) - 2
    with np.errstate(divide="ignore"):  # for |r| = 1, t is infinite and p is 0
        t = r * np.sqrt(np.float64(degrees) / ((1 - r) * (1 + r)))
    return Result(r, float(two_sided_p(t, degrees)))


def _ranks(values: Scores) -> Scores:
    """Return the ranks of values (n,) from 1; equal values share their mean rank."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Scores = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return ranks


def pearson_interval(r: float, n: int) -> tuple[float, float]:
    """Return the ends of the 95% interval of Pearson's r of n pairs, by Fisher's transformation."""
    from scipy.special import ndtri

    half_width = float(ndtri((1 + COVERAGE) / 2)) / math.sqrt(n - 3)
    center = math.atanh(r) if abs(r) < 1 else math.copysign(math.inf, r)
    return math.tanh(center - half_width), math.tanh(center + half_width)


def spearman_interval(rho: float | None, n: int) -> tuple[float | None, float | None]:
    """Return the ends of the 95% interval of Spearman's rho of n pairs; None below five pairs or for |rho| = 1."""
    from scipy.special import ndtri

    if rho is None or n < FEWEST_FOR_INTERVAL or abs(rho) >= 1:
        return None, None
    half_width = float(ndtri((1 + COVERAGE) / 2)) * math.sqrt((1 + rho**2 / 2) / (n - 3))
    return math.tanh(math.atanh(rho) - half_width), math.tanh(math.atanh(rho) + half_width)
