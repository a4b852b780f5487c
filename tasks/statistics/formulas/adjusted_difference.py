"""The difference of two groups with a covariate held: least squares, errors clustered.

    y = c + d [in the first group] + e x + error

d is how much the first group's mean is larger among rows of equal x. Its t and p are one-sided (d > 0), with a
covariance that lets the rows of a cluster depend on each other (sandwich estimator, corrected for few clusters) and as
many degrees of freedom as clusters less one. Cohen's d is d in pooled standard deviations of y in the groups, so that
it can be compared with that of the groups as they are.

Source: Liang and Zeger 1986, Longitudinal Data Analysis Using Generalized Linear Models; as statsmodels has it.
"""

import numpy as np
from numpy.typing import ArrayLike

from tasks.statistics.formulas.groups import Result, has_spread, pooled_variance, scores, untestable


def adjusted_difference(
    y: ArrayLike, first: ArrayLike, covariate: ArrayLike, clusters: ArrayLike
) -> tuple[Result, float | None]:
    """Whether the first group's y is larger with the covariate held, and Cohen's d of the adjusted difference.

    Args:
        y: finite scores (n,).
        first: whether each is of the first group (n,).
        covariate: what is held (n,).
        clusters: what each row belongs to (n,).

    Returns:
        Student's t and p; untestable as two groups are, and where the covariate is constant or tells the groups apart.
    """
    import statsmodels.api as sm
    from scipy import stats

    values, held, group = scores(y), scores(covariate), np.asarray(first, dtype=bool)
    a, b = values[group], values[~group]
    if reason := untestable(a, b):
        return Result(None, None, reason), None
    if not has_spread(held):
        return Result(None, None, "no spread in the covariate"), None
    design = np.column_stack([np.ones(len(values)), group, held])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return Result(None, None, "the covariate and the groups are one"), None
    _, places = np.unique(np.asarray(clusters), return_inverse=True)
    if len(values) <= design.shape[1] or places.max() < design.shape[1]:
        return Result(None, None, "too few clusters"), None
    fitted = sm.OLS(values, design).fit(cov_type="cluster", cov_kwds={"groups": places}, use_t=True)
    difference, error = float(fitted.params[1]), float(fitted.bse[1])
    if not error > 0:
        return Result(None, None, "no spread that the covariate leaves"), None
    t = difference / error
    p = float(stats.t.sf(t, places.max()))
    return Result(t, p), difference / float(np.sqrt(pooled_variance(a, b)))
