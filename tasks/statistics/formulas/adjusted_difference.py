"""The difference of two groups with a covariate held: least squares, errors clustered.

    y = c + d [in the first group] + e x + error

d is how much the first group's mean is larger among rows of equal x. Its t and p are one-sided (d > 0), with standard
errors that let the rows of a cluster depend on each other, as `regression` has them. Cohen's d is d in pooled standard
deviations of y in the groups, so that it can be compared with that of the groups as they are.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from swaymeter.tasks.statistics.formulas.groups import Result, pooled_variance, scores, untestable
from swaymeter.tasks.statistics.formulas.regression import regression


def adjusted_difference(
    y: ArrayLike, first: ArrayLike, covariate: tuple[str, ArrayLike], clusters: ArrayLike
) -> tuple[Result, float | None]:
    """Whether the first group's y is larger with the covariate held, and Cohen's d of the adjusted difference.

    Args:
        y: finite scores (n,).
        first: whether each is of the first group (n,).
        covariate: what is held: its name, and finite values (n,).
        clusters: what each row belongs to (n,).

    Returns:
        Student's t and p; untestable as two groups are, and as a regression is.
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
