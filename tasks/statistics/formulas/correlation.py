"""Correlation of two scores of the same things, with a p-value.

    Pearson   r   = cov(x, y) / (sd(x) sd(y))
    Spearman  rho = r of the ranks, equal values sharing their mean rank

The p-values are two-sided, for no correlation at all, and rest on the t distribution with n - 2 degrees of freedom:
exact for Pearson on normal data, near enough for Spearman from some ten pairs on; not for pairs that depend on each
other.

Source: Pearson 1895; Spearman 1904; as scipy.stats has them.
"""

from typing import Literal

from numpy.typing import ArrayLike

from tasks.statistics.formulas.groups import Result, has_spread, scores

Kind = Literal["pearson", "spearman"]


def correlation(kind: Kind, x: ArrayLike, y: ArrayLike) -> Result:
    """Pearson's r or Spearman's rho of x (n,) and y (n,); untestable below three pairs, or where one is constant.

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
