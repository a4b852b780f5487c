"""Two groups of scores, and why they may not be comparable.

A comparison needs two rows in each group, so that there is a spread to speak of, and some spread in one of them at
least. What lacks that is `Untestable` with its reason: never NaN, never p = 1, never a silent zero.
"""

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
    if vector.ndim != 1:
        raise ValueError(f"scores of one group are a vector, not an array of shape {vector.shape}")
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


def pooled_variance(a: Scores, b: Scores, axis: int = -1) -> Scores:
    """((n_a - 1) var_a + (n_b - 1) var_b) / (n_a + n_b - 2), each variance over n - 1, along an axis of the groups."""
    n_a, n_b = a.shape[axis], b.shape[axis]
    total = (n_a - 1) * a.var(axis=axis, ddof=1) + (n_b - 1) * b.var(axis=axis, ddof=1)
    return np.asarray(total / (n_a + n_b - 2))
