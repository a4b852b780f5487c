"""Means with intervals, for drawing: the percentile bootstrap of the mean, seeded, whatever the order of the rows.

An interval shows how far a mean would move under another draw of the same rows. It is no test: tests come ready-made.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

DRAWS = 1000
COVERAGE = 0.95
_SEED = 20240815


@dataclass(frozen=True)
class Interval:
    """A mean, its interval (NaN under two values), and how many values it is of."""

    mean: float
    low: float
    high: float
    n: int


def mean_interval(values: ArrayLike) -> Interval:
    """The mean of finite values (n,) and its 95% bootstrap interval; NaN where there are too few values."""
    ordered = np.sort(np.asarray(values, dtype=float))
    n = len(ordered)
    if n == 0:
        return Interval(np.nan, np.nan, np.nan, 0)
    mean = float(ordered.mean())
    if n == 1:
        return Interval(mean, np.nan, np.nan, 1)
    draws = ordered[np.random.default_rng(_SEED).integers(0, n, size=(DRAWS, n))].mean(axis=1)
    low, high = np.quantile(draws, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return Interval(mean, float(low), float(high), n)
