"""Correlation of two scores of the same things, with the number of pairs and a p-value.

    Pearson   r   = cov(x, y) / (sd(x) sd(y))
    Spearman  rho = r of the ranks, equal values sharing their mean rank

Pearson asks for a straight line, Spearman for any rising one. The p-values are two-sided, for no correlation at all,
and rest on the t distribution with n - 2 degrees of freedom: exact for Pearson on normal data, near enough for
Spearman from some ten pairs on. Neither says that one causes the other, nor survives pairs that depend on each other.

Source: Pearson 1895; Spearman 1904; as scipy.stats has them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike
from scipy import stats

from tasks.statistics.groups import Scores, Untestable, has_spread, scores


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation coefficient in -1 to 1, its two-sided p-value, and the number of pairs."""

    coefficient: float
    p: float
    n: int


def pearson(x: ArrayLike, y: ArrayLike) -> Correlation | Untestable:
    """Pearson's r of x (n,) and y (n,).

    Returns:
        The correlation; Untestable for fewer than three pairs or where one of them is constant.

    Raises:
        ScoreError: a value is not finite.
        ValueError: the vectors have different lengths.
    """
    return _correlation(stats.pearsonr, x, y)


def spearman(x: ArrayLike, y: ArrayLike) -> Correlation | Untestable:
    """Spearman's rho of x (n,) and y (n,); Untestable and raises like `pearson`."""
    return _correlation(stats.spearmanr, x, y)


def _correlation(coefficient: Callable[[Scores, Scores], Any], x: ArrayLike, y: ArrayLike) -> Correlation | Untestable:
    first, second = scores(x), scores(y)
    if len(first) != len(second):
        raise ValueError(f"a correlation is of pairs, not of {len(first)} and {len(second)} values")
    if len(first) < 3:
        return Untestable("too few pairs")
    if not (has_spread(first) and has_spread(second)):
        return Untestable("no spread")
    result = coefficient(first, second)
    return Correlation(float(result.statistic), float(result.pvalue), len(first))
