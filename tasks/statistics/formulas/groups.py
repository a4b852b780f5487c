"""Two groups of scores: why they may not be comparable, and how far apart they are.

A comparison needs two rows in each group, so that there is a spread to speak of, and some spread in one of them at
least. What lacks that is `Untestable` with its reason: never NaN, never p = 1, never a silent zero.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from data.errors import ScoreError

Reason = Literal["a group is empty", "a group has one row", "no spread in either group", "too few pairs", "no spread"]
Scores = NDArray[np.float64]

# Means that agree in exact arithmetic differ by some units in the last place; that is no spread.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class TestResult:
    """A test of two groups: its statistic, without unit, and its p-value."""

    __test__ = False

    statistic: float
    p: float


@dataclass(frozen=True, slots=True)
class Untestable:
    """Why there is no test of two groups."""

    reason: Reason


def scores(values: ArrayLike) -> Scores:
    """The values as a vector (n,) of float64; ScoreError where one is not a finite number."""
    vector = np.asarray(values, dtype=np.float64)
    if wrong := int(np.count_nonzero(~np.isfinite(vector))):
        raise ScoreError(f"{wrong} of {len(vector)} scores are not finite numbers; leave out what was not measured")
    return vector


def has_spread(vector: Scores) -> bool:
    """Whether the values of a vector (n,) differ by more than rounding."""
    if len(vector) < 2:
        return False
    return bool(np.ptp(vector) > ROUNDING * np.max(np.abs(vector)))


def untestable(a: Scores, b: Scores) -> Untestable | None:
    """Why groups (n_a,) and (n_b,) cannot be compared; None where they can."""
    smaller = min(len(a), len(b))
    if smaller == 0:
        return Untestable("a group is empty")
    if smaller == 1:
        return Untestable("a group has one row")
    if not (has_spread(a) or has_spread(b)):
        return Untestable("no spread in either group")
    return None


def pooled_variance(a: Scores, b: Scores) -> float:
    """((n_a - 1) var_a + (n_b - 1) var_b) / (n_a + n_b - 2) of groups (n_a,) and (n_b,), each variance over n - 1."""
    total = (len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)
    return float(total / (len(a) + len(b) - 2))


def cohens_d(a: Scores, b: Scores) -> float | None:
    """Cohen's d of groups (n_a,) and (n_b,): the difference of their means in units of their common spread.

        d = (mean_a - mean_b) / s,  s^2 the pooled variance

    Without unit; None where the groups cannot be compared. It is not corrected for small groups (Hedges' g), and the
    denominator is not the root of the mean of the two variances, which some call d too.

    Source: Cohen 1988, Statistical Power Analysis for the Behavioral Sciences, section 2.5.
    """
    if untestable(a, b):
        return None
    return float(a.mean() - b.mean()) / math.sqrt(pooled_variance(a, b))
