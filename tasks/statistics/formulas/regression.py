"""Ordinary least squares of a score on standardised predictors, with two standard errors.

    y = b_0 + sum_j b_j (x_j - mean_j) / sd_j + e,  sd_j over n

b_j is in the unit of y for one standard deviation of x_j. The published standard errors take rows as independent; the
other ones let the rows of a cluster depend on each other (the sandwich over clusters, with the small-sample factor
G/(G-1) (n-1)/(n-k) and the t distribution with G - 1 degrees of freedom). It shows which predictors go together with
y given the others, not what causes it.

Source: statsmodels, whose OLS it is; Liang and Zeger 1986 for the clusters.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from swaymeter.tasks.statistics.formulas.groups import Scores, has_spread, scores

CONSTANT = "constant"


class Coefficient(NamedTuple):
    """A coefficient in the unit of the outcome; those over clusters are None where clusters are too few."""

    predictor: str
    beta: float
    standard_error: float
    low: float
    high: float
    p: float
    cluster_standard_error: float | None = None
    cluster_p: float | None = None


class Regression(NamedTuple):
    """A regression of n rows in so many clusters; or why there is none."""

    n: int
    clusters: int
    r_squared: float | None = None
    coefficients: tuple[Coefficient, ...] = ()
    untestable: str | None = None


def regression(outcome: tuple[str, ArrayLike], predictors: Mapping[str, ArrayLike], clusters: ArrayLike) -> Regression:
    """The regression of an outcome (n,) on predictors (n,), all finite, of rows in clusters (n,).

    Untestable, with the name of what is at fault: too few rows, an outcome or a predictor without spread, a predictor
    that follows from those before it. ScoreError where a value is not finite.
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
        by_cluster = [one if all(map(math.isfinite, one)) else () for one in errors]
    plain = zip(
        (CONSTANT, *columns), result.params.tolist(), result.bse.tolist(), *result.conf_int().T.tolist(),
        result.pvalues.tolist(), strict=True,
    )  # fmt: skip
    coefficients = tuple(Coefficient(*one, *other) for one, other in zip(plain, by_cluster, strict=True))
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
    """A column of ones, then each predictor with mean 0 and standard deviation 1 (n, 1 + predictors)."""
    standardised = [(vector - vector.mean()) / vector.std() for vector in columns.values()]
    return np.column_stack([np.ones(len(next(iter(columns.values())))), *standardised])
