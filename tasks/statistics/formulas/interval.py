"""The mean of a sample and its interval: the percentile bootstrap of the mean.

    low, high = the 2.5th and 97.5th percentiles of the means of 1,000 samples drawn from the values with replacement

Fewer than 5 values have none: drawn from so few, what is called 95% covers far less (decision 0055).

It shows how far the mean would move under another draw of the same rows, not how two groups differ, and says nothing of
values that depend on each other. The draws are the same for equal values, whatever their order.

Source: Efron 1979, Bootstrap Methods: Another Look at the Jackknife; the percentile method.
"""

import numpy as np
from numpy.typing import ArrayLike

from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL

DRAWS = 1000
COVERAGE = 0.95
_SEED = 20240815
# Values drawn at a time, so that large samples need no more memory than small ones.
_AT_A_TIME = 2_000_000


def mean_interval(values: ArrayLike) -> tuple[float | None, float | None, float | None]:
    """The mean of finite values (n,) and the ends of its 95% interval; no mean of none, no interval of fewer than 5."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    if n < FEWEST_FOR_INTERVAL:
        return (float(ordered.mean()) if n else None), None, None
    rng = np.random.default_rng(_SEED)
    draws = np.empty(DRAWS)
    step = max(1, _AT_A_TIME // n)
    for start in range(0, DRAWS, step):
        drawn = rng.integers(0, n, size=(min(step, DRAWS - start), n))
        draws[start : start + step] = ordered[drawn].mean(axis=1)
    low, high = np.quantile(draws, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return float(ordered.mean()), float(low), float(high)
