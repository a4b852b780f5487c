"""Permutation test of two groups of very many scores, of which is known how many lie at each of some levels.

    level     the scores in one of many ranges of equal width, at most a quarter of the scores' standard deviation
    t         Student's, as in `permutation`; it, d and the means follow from counts, means and squares without loss
    p         one-sided, as in `permutation`, where a permuted score counts as the mean of its level, and the distances
              of these from the mean are stretched until their variance is that of the scores

A permutation deals n_a of all scores to the first group. How many of each level that gets has the multivariate
hypergeometric distribution, from which they are drawn: some dozen numbers in place of a hundred thousand. What is lost
is the shape of the scores within a level, far below the Monte Carlo error of 10,000 permutations (0.002 at p = 0.05).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.storage.keys import generator
from swaymeter.tasks.statistics.formulas.groups import ROUNDING as NO_SPREAD
from swaymeter.tasks.statistics.formulas.groups import Result
from swaymeter.tasks.statistics.formulas.permutation import ROUNDING, p_values

Numbers = NDArray[np.float64]


class Levels(NamedTuple):
    """A group of scores by level: how many (k,), their mean (k,) and the mean of their squares (k,); 0 where none."""

    counts: Numbers
    means: Numbers
    squares: Numbers

    @property
    def n(self) -> int:
        """How many scores."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float | None:
        """Their mean; None of none."""
        return float(self.counts @ self.means / self.n) if self.n else None

    @property
    def spread(self) -> float:
        """The sum of their squared distances from the mean."""
        within = self.counts @ np.maximum(self.squares - self.means**2, 0.0)
        return float(within + self.counts @ (self.means - (self.mean or 0.0)) ** 2)


def permutation_of_levels(a: Levels, b: Levels, seed: int, permutations: int) -> tuple[Result, float | None]:
    """Whether group a has the greater mean, and Cohen's d; both over the same levels, drawn from the seed and sizes."""
    reason = _untestable(a, b)
    if reason or a.mean is None or b.mean is None:
        return Result(None, None, reason), None
    deviation = math.sqrt((a.spread + b.spread) / (a.n + b.n - 2))
    effect = (a.mean - b.mean) / deviation
    counts = a.counts + b.counts
    mean = (a.n * a.mean + b.n * b.mean) / (a.n + b.n)
    rows = (a.counts * a.means + b.counts * b.means) / counts - mean
    between = a.n * (a.mean - mean) ** 2 + b.n * (b.mean - mean) ** 2
    rows *= math.sqrt((a.spread + b.spread + between) / float(counts @ rows**2)) if np.ptp(rows) else 1.0
    few, sign = (a, 1) if a.n <= b.n else (b, -1)  # the sum of one is as far from 0 as the other's, on the other side
    drawn = generator(seed, "levels", a.n, b.n).multivariate_hypergeometric(
        counts.astype(np.int64), few.n, size=permutations, method="marginals"
    )
    observed = np.array([a.n * (a.mean - mean)])
    tolerance = ROUNDING * np.array([np.abs(rows) @ counts])
    batch = sign * drawn.astype(np.float64)
    (p,) = p_values(iter([batch]), rows[:, None], observed, tolerance, "greater", every=False)
    return Result(effect / math.sqrt(1 / a.n + 1 / b.n), float(p)), effect


def _untestable(a: Levels, b: Levels) -> str:
    """Why the groups cannot be compared, in the words of `groups.untestable`; empty where they can."""
    smaller = min(a.n, b.n)
    if smaller < 2:
        return "a group has one row" if smaller else "a group is empty"
    largest = float(np.max(np.abs(np.concatenate([a.means, b.means]))))
    flat = all(group.spread <= group.n * (NO_SPREAD * largest) ** 2 for group in (a, b))
    return "no spread in either group" if flat else ""
