"""Correlation of two scores of the same things, with a p-value.

    Pearson   r   = cov(x, y) / (sd(x) sd(y))
    Spearman  rho = r of the ranks, equal values sharing their mean rank

The p-values are two-sided, for no correlation at all, and rest on the t distribution with n - 2 degrees of freedom:
exact for Pearson on normal data, near enough for Spearman from some ten pairs on; not for pairs that depend on each
other.

    95% interval of rho = tanh(artanh(rho) -+ 1.96 sqrt((1 + rho^2 / 2) / (n - 3)))

Source: Pearson 1895; Spearman 1904; as scipy.stats has them. The interval: Bonett and Wright 2000, Sample size
requirements for estimating Pearson, Kendall and Spearman correlations.
"""

import math
from typing import Literal

from numpy.typing import ArrayLike

from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL
from swaymeter.tasks.statistics.formulas.clustered import COVERAGE
from swaymeter.tasks.statistics.formulas.groups import Result, has_spread, scores

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


def spearman_interval(rho: float | None, n: int) -> tuple[float | None, float | None]:
    """The ends of the 95% interval of Spearman's rho of n pairs; none of fewer than five, nor where rho is 1 or -1."""
    from scipy import stats

    if rho is None or n < FEWEST_FOR_INTERVAL or abs(rho) >= 1:
        return None, None
    half = stats.norm.ppf((1 + COVERAGE) / 2) * math.sqrt((1 + rho**2 / 2) / (n - 3))
    return math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half)
