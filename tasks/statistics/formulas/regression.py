"""Regression and correlation.

Ordinary least squares of a score on standardised predictors, with two standard errors:

    y = b_0 + sum_j b_j (x_j - mean_j) / sd_j + e,  sd_j over n

b_j is in the unit of y for one standard deviation of x_j. The published standard errors take rows as independent. The
other standard errors let the rows of a cluster depend on each other: the sandwich over clusters, with the small-sample
factor G/(G-1) (n-1)/(n-k) and the t distribution with G - 1 degrees of freedom. A regression shows which predictors go
together with y given the other predictors, not what causes y.

Source: statsmodels, for its OLS; Liang and Zeger 1986 for the clusters.

Correlation of two scores of the same items, with a p-value.

    Pearson   r   = cov(x, y) / (sd(x) sd(y))
    Spearman  rho = r of the ranks; equal values share their mean rank

The p-values are two-sided, for no correlation at all, and use the t distribution with n - 2 degrees of freedom. They
are exact for Pearson on normal data, and close for Spearman from about ten pairs on. They do not hold for dependent
pairs.

    95% interval of rho = tanh(artanh(rho) -+ 1.96 sqrt((1 + rho^2 / 2) / (n - 3)))

Source: Pearson 1895; Spearman 1904; as in scipy.stats. The interval: Bonett and Wright 2000, Sample size requirements
for estimating Pearson, Kendall and Spearman correlations.
"""

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL
from swaymeter.tasks.statistics.formulas.groups import Result, Scores, has_spread, pooled_variance, scores, untestable
from swaymeter.tasks.statistics.formulas.intervals import COVERAGE

CONSTANT = "constant"
Kind = Literal["pearson", "spearman"]


class Coefficient(NamedTuple):
    """A coefficient in the unit of the outcome; its columns over clusters are None if there are too few clusters."""

    predictor: str
    beta: float
    standard_error: float
    low: float
    high: float
    p: float
    cluster_standard_error: float | None = None
    cluster_p: float | None = None


class Regression(NamedTuple):
    """A regression of n rows in `clusters` clusters; or the reason why there is none."""

    n: int
    clusters: int
    r_squared: float | None = None
    coefficients: tuple[Coefficient, ...] = ()
    untestable: str | None = None


def regression(outcome: tuple[str, ArrayLike], predictors: Mapping[str, ArrayLike], clusters: ArrayLike) -> Regression:
    """Regress an outcome (n,) on predictors (n,), all finite, of rows in clusters (n,).

    The result is untestable, with the name of the culprit, for too few rows, an outcome or a predictor without spread,
    or a predictor that follows from the predictors before it.

    Raises:
        ScoreError: a value is not finite.
    """
    y, columns = scores(outcome[1]), {name: scores(values) for name, values in predictors.items()}
    _, codes = np.unique(np.asarray(clusters), return_inverse=True)
    n, count = len(y), len(np.unique(codes))
    if reason := _untestable(outcome[0], y, columns):
        return Regression(n, count, untestable=reason)
    from statsmodels.regression.linear_model import OLS

    design = _design(columns)
    model = OLS(y, design)
    result = model.fit()
    by_cluster: list[tuple[float, float] | tuple[()]] = [()] * design.shape[1]
    if count > design.shape[1]:
        robust = model.fit(cov_type="cluster", cov_kwds={"groups": codes}, use_t=True)
        # Clusters without any spread between them: statsmodels takes the root of a zero that is rounded below it.
        with np.errstate(invalid="ignore"):
            errors = zip(robust.bse.tolist(), robust.pvalues.tolist(), strict=True)
        by_cluster = [pair if all(map(math.isfinite, pair)) else () for pair in errors]
    plain = zip(
        (CONSTANT, *columns),
        result.params.tolist(),
        result.bse.tolist(),
        *result.conf_int().T.tolist(),
        result.pvalues.tolist(),
        strict=True,
    )
    coefficients = tuple(
        Coefficient(*row, *cluster_columns) for row, cluster_columns in zip(plain, by_cluster, strict=True)
    )
    return Regression(n, count, float(result.rsquared), coefficients)


def _untestable(outcome: str, y: Scores, columns: Mapping[str, Scores]) -> str:
    if len(y) < len(columns) + 3:
        return f"{len(y)} rows are too few for {len(columns)} predictors"
    for name, vector in ((outcome, y), *columns.items()):
        if not has_spread(vector):
            return f"{name}: no spread"
    design = _design(columns)
    for at, name in enumerate(columns, 1):
        if np.linalg.matrix_rank(design[:, : at + 1]) <= at:
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

        y = c + d [in the first group] + e x + error

    d is the difference of the groups' means among rows of equal x. Its t and p are one-sided (d > 0), with the standard
    errors over clusters. Cohen's d is d in pooled standard deviations of y in the groups.

    Args:
        y: finite scores (n,).
        first: True for rows of the first group (n,).
        covariate: name and finite values (n,) of the covariate.
        clusters: the cluster of each row (n,).

    Returns:
        Student's t and p; untestable like two groups, and like a regression.
    """
    from scipy import stats

    values, group = scores(y), np.asarray(first, dtype=bool)
    a, b = values[group], values[~group]
    if reason := untestable(a, b):
        return Result(None, None, reason), None
    result = regression(("score", values), {"group": group, covariate[0]: covariate[1]}, clusters)
    if result.untestable:
        return Result(None, None, result.untestable), None
    coefficient = result.coefficients[1]  # of a group whose standard deviation is 1
    if not coefficient.cluster_standard_error:
        return Result(None, None, f"no spread between the clusters, or {result.clusters} are too few"), None
    t = coefficient.beta / coefficient.cluster_standard_error
    difference = coefficient.beta / float(group.std())
    return Result(t, float(stats.t.sf(t, result.clusters - 1))), difference / math.sqrt(pooled_variance(a, b))


def correlation(kind: Kind, x: ArrayLike, y: ArrayLike) -> Result:
    """Return Pearson's r or Spearman's rho of x (n,) and y (n,); untestable below three pairs, or for constants.

    Raises:
        ScoreError: a value is not finite.
        ValueError: the vectors have different lengths.
    """
    from scipy import stats

    first, second = scores(x), scores(y)
    if len(first) != len(second):
        raise ValueError(f"a correlation is of pairs, not of {len(first)} and {len(second)} values")
    if len(first) < 3:
        return Result(None, None, "too few pairs")
    if not (has_spread(first) and has_spread(second)):
        return Result(None, None, "no spread")
    result = stats.pearsonr(first, second) if kind == "pearson" else stats.spearmanr(first, second)
    return Result(float(result.statistic), float(result.pvalue))


def spearman_interval(rho: float | None, n: int) -> tuple[float | None, float | None]:
    """Return the ends of the 95% interval of Spearman's rho of n pairs; None below five pairs or for |rho| = 1."""
    from scipy import stats

    if rho is None or n < FEWEST_FOR_INTERVAL or abs(rho) >= 1:
        return None, None
    half_width = stats.norm.ppf((1 + COVERAGE) / 2) * math.sqrt((1 + rho**2 / 2) / (n - 3))
    return math.tanh(math.atanh(rho) - half_width), math.tanh(math.atanh(rho) + half_width)
