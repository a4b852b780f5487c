"""Permutation tests: of two groups on Student's t, of pairs on the paired t, and of many scores by level.

    t = (mean_a - mean_b) / sqrt(s^2 (1/n_a + 1/n_b)),  s^2 the pooled variance over n_a + n_b - 2
    p = (1 + #{permutations whose t is at least the observed t}) / (1 + #permutations); two-sided: by |t|

    of pairs: t = mean(d) / (sd(d) / sqrt(n)),  d = a - b, and a permutation flips the signs of some d

The null hypothesis: both groups come from one distribution, or the order within a pair is arbitrary. No normal
distribution is assumed. The test of two groups is neither paired nor Welch's t test. If the ways to deal the rows (or
to flip the signs) are at most as many as the requested permutations, all ways are taken. p is then exact, without the
two added 1s.

The smallest possible p:

    rows dealt to groups   1 / C(n_a + n_b, n_a); two-sided with n_a = n_b: 2 / C(n_a + n_b, n_a), because exchanging
                           the groups gives the same |t|
    n signs flipped        1 / 2^n; two-sided: 2 / 2^n

If the smallest possible p exceeds 0.05, "not significant" says nothing about the scores. The groups are then
untestable, and do not count as a test without effect. Adjustments for several tests are ignored here, because
Benjamini-Hochberg leaves the smallest possible p unchanged if all tests have this p.

Dealing preserves the rows' sum and sum of squares, so t rises with the sum of the first group. Permutations are
compared by that sum, a single matrix product for all tests of equal group sizes. These tests share their permutations,
which are drawn from the seed and the sizes. Sign flips are compared by the sum of the differences in the same way.

Very many scores are counted by level:

    level     the scores in one of many equally wide ranges; a range is at most a quarter of the scores' standard
              deviation wide
    t         Student's, as in `permutation`; t, Cohen's d and the means follow exactly from the levels' counts, means
              and mean squares
    p         one-sided, as in `permutation`; a permuted score counts as the mean of its level, and the distances of the
              level means from the overall mean are stretched until their variance equals the scores' variance

A permutation deals n_a of all scores to the first group. The numbers of scores from each level have the multivariate
hypergeometric distribution: a permutation draws some dozen random numbers instead of a hundred thousand. The shape of
the scores within a level is lost; the error is far below the Monte Carlo error of 10,000 permutations, which is 0.002
at p = 0.05.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, section 5; the released code compares |t|,
too. Phipson and Smyth 2010, Permutation P-values Should Never Be Zero, for the added 1s, which keep p above 0. Good
2005, Permutation, Parametric and Bootstrap Tests of Hypotheses, chapter 3, for pairs.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.randomness import generator
from swaymeter.data.records.statistics import ALPHA
from swaymeter.tasks.statistics.formulas.groups import ROUNDING as SPREAD_ROUNDING
from swaymeter.tasks.statistics.formulas.groups import Result, Scores, has_spread, pooled_variance, untestable_reason

Alternative = Literal["greater", "two-sided"]
TwoGroups = tuple[Scores, Scores]
"""The scores of groups a and b of one test."""

PERMUTATIONS = 10_000
BATCH = 500
"""Permutations in memory at a time: 500 of some hundred rows fit a processor's cache."""
ROUNDING = 1e-13
"""Largest difference by rounding of two equal sums, as a share of the sum of absolute values."""
TOO_FEW = f"n is too small for p ≤ {ALPHA}"


def permutation(
    tests: Sequence[TwoGroups],
    alternative: Alternative,
    seed: int,
    permutations: int = PERMUTATIONS,
    *,
    paired: bool = False,
) -> list[Result]:
    """Test if group a of each test has a greater mean than group b or, two-sided, a different mean.

    Args:
        tests: groups a (n_a,) and b (n_b,) of each test, finite scores, with rows in a canonical order.
        alternative: greater, or two-sided.
        seed: seed of the study.
        permutations: largest number of permutations; tests with groups of equal sizes share the permutations.
        paired: True if row i of a (n,) belongs to row i of b (n,); permutations then flip signs of differences.

    Returns:
        Student's t and p of each test. A test is untestable if a group has fewer than two rows, if both groups (or
        the differences of paired rows) are without spread, or if the rows are so few that p cannot be 0.05 or less.
    """
    results = [Result(None, None, _untestable_reason(a, b, alternative, paired=paired)) for a, b in tests]
    positions_by_sizes: dict[tuple[int, int], list[int]] = {}
    for position, (a, b) in enumerate(tests):
        if not results[position].untestable:
            positions_by_sizes.setdefault((len(a), len(b)), []).append(position)
    for (n_a, n_b), positions in positions_by_sizes.items():
        first, second = (np.stack([tests[position][side] for position in positions], axis=1) for side in (0, 1))
        if paired:
            rows, is_exact = first - second, 2**n_a <= permutations
            observed = rows.sum(axis=0)
            batches = all_signs(n_a) if is_exact else _random_signs(n_a, permutations, seed)
        else:
            rows, is_exact = np.concatenate([first, second]), math.comb(n_a + n_b, n_a) <= permutations
            rows -= rows.mean(axis=0)
            observed = rows[:n_a].sum(axis=0)
            batches = _all_deals(n_a, n_b) if is_exact else _random_deals(n_a, n_b, permutations, seed)
        tolerance = ROUNDING * np.abs(rows).sum(axis=0)
        p_of_tests = p_values(batches, rows, observed, tolerance, alternative, is_exact)
        for position, p in zip(positions, p_of_tests, strict=True):
            results[position] = Result(_t(*tests[position], paired=paired), float(p))
    return results


def _t(a: Scores, b: Scores, *, paired: bool) -> float:
    if paired:
        return float((a - b).mean() / ((a - b).std(ddof=1) / np.sqrt(len(a))))
    return float((a.mean() - b.mean()) / np.sqrt(pooled_variance(a, b) * (1 / len(a) + 1 / len(b))))


def _untestable_reason(a: Scores, b: Scores, alternative: Alternative, *, paired: bool) -> str:
    """Return the reason why groups (n_a,) and (n_b,), or pairs (n,) and (n,), cannot be tested; empty if they can."""
    if reason := untestable_reason(a, b):
        return reason
    if paired and not has_spread(a - b):
        return "no spread in the differences"
    # If each way has an opposite with the same |t|, at least two ways are as extreme as the observed way.
    has_opposites = alternative == "two-sided" and (paired or len(a) == len(b))
    ways = 2 ** len(a) if paired else math.comb(len(a) + len(b), len(a))
    return too_few_reason((2 if has_opposites else 1) / ways)


def p_values(
    batches: Iterator[NDArray[np.float64]],
    rows: NDArray[np.float64],
    observed: NDArray[np.float64],
    tolerance: NDArray[np.float64],
    alternative: Alternative,
    is_exact: bool,
) -> Scores:
    """Return the p-values of m tests, (m,).

    Args:
        batches: the permutations as weights of rows, (k, n) each, such as 1 for a row that is dealt to the first group
            and 0 for other rows.
        rows: the values of each test, (n, m).
        observed: the observed sum of each test, (m,).
        tolerance: largest rounding error of each sum, (m,).
        alternative: greater or two-sided.
        is_exact: True if the batches have every permutation, so that the observed one is among them.
    """
    extreme, count = np.zeros(rows.shape[1]), 0
    for weights in batches:
        sums = weights @ rows
        if alternative == "two-sided":
            extreme += (np.abs(sums) >= np.abs(observed) - tolerance).sum(axis=0)
        else:
            extreme += (sums >= observed - tolerance).sum(axis=0)
        count += len(weights)
    observed_count = 0 if is_exact else 1
    return np.asarray((extreme + observed_count) / (count + observed_count))


def _random_deals(n_a: int, n_b: int, permutations: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield batches (k, n_a + n_b) of permutations: 1 for a row that is dealt to the first group."""
    rng = generator(seed, "permutations", n_a, n_b)
    dealt = np.repeat([1.0, 0.0], [n_a, n_b])
    for start in range(0, permutations, BATCH):
        yield rng.permuted(np.tile(dealt, (min(BATCH, permutations - start), 1)), axis=1)


def _all_deals(n_a: int, n_b: int) -> Iterator[NDArray[np.float64]]:
    """Yield one batch (k, n_a + n_b) of every way to deal the rows."""
    chosen = np.array(list(combinations(range(n_a + n_b), n_a)))
    dealt = np.zeros((len(chosen), n_a + n_b))
    np.put_along_axis(dealt, chosen, 1.0, axis=1)
    yield dealt


def _random_signs(n: int, permutations: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield batches (k, n) of random signs of n rows."""
    rng = generator(seed, "signs", n)
    for start in range(0, permutations, BATCH):
        yield rng.choice(np.array([1.0, -1.0]), size=(min(BATCH, permutations - start), n))


def all_signs(n: int) -> Iterator[NDArray[np.float64]]:
    """Yield one batch (k, n) of every way to flip the signs of n rows."""
    yield np.array(list(product((1.0, -1.0), repeat=n)))


def too_few_reason(smallest_p: float) -> str:
    """Return the reason why a test with this smallest possible p cannot be significant; empty if it can."""
    return TOO_FEW if smallest_p > ALPHA else ""


class Levels(NamedTuple):
    """A group of scores by level.

    Attributes:
        counts: number of scores in each level (k,).
        means: mean of the scores in each level (k,); 0 for an empty level.
        squares: mean of the squared scores in each level (k,); 0 for an empty level.
    """

    counts: Scores
    means: Scores
    squares: Scores

    @property
    def n(self) -> int:
        """Number of scores."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float | None:
        """Mean of the scores; None without scores."""
        return float(self.counts @ self.means / self.n) if self.n else None

    @property
    def spread(self) -> float:
        """Sum of the squared distances of the scores from the mean."""
        within = self.counts @ np.maximum(self.squares - self.means**2, 0.0)
        return float(within + self.counts @ (self.means - (self.mean or 0.0)) ** 2)


def permutation_of_levels(a: Levels, b: Levels, seed: int, permutations: int) -> tuple[Result, float | None]:
    """Test by levels if group a has the greater mean; return the result and Cohen's d.

    The random draws depend only on the seed and the sizes of the groups.
    """
    reason = _levels_untestable_reason(a, b)
    if reason or a.mean is None or b.mean is None:
        return Result(None, None, reason), None
    deviation = math.sqrt((a.spread + b.spread) / (a.n + b.n - 2))
    effect = (a.mean - b.mean) / deviation
    counts = a.counts + b.counts
    mean = (a.n * a.mean + b.n * b.mean) / (a.n + b.n)
    # The distances of the level means from the mean are stretched until their variance equals the scores' variance.
    distances = (a.counts * a.means + b.counts * b.means) / counts - mean
    between = a.n * (a.mean - mean) ** 2 + b.n * (b.mean - mean) ** 2
    distances *= math.sqrt((a.spread + b.spread + between) / float(counts @ distances**2)) if np.ptp(distances) else 1.0
    smaller_group, sign = (a, 1) if a.n <= b.n else (b, -1)  # the sums of both groups are opposite
    dealt_counts = generator(seed, "levels", a.n, b.n).multivariate_hypergeometric(
        counts.astype(np.int64), smaller_group.n, size=permutations, method="marginals"
    )
    observed = np.array([a.n * (a.mean - mean)])
    tolerance = ROUNDING * np.array([np.abs(distances) @ counts])
    batch = sign * dealt_counts.astype(np.float64)
    (p,) = p_values(iter([batch]), distances[:, None], observed, tolerance, "greater", is_exact=False)
    return Result(effect / math.sqrt(1 / a.n + 1 / b.n), float(p)), effect


def _levels_untestable_reason(a: Levels, b: Levels) -> str:
    """Return the reason why groups cannot be compared, in words of `groups.untestable_reason`; empty if they can."""
    smaller = min(a.n, b.n)
    if smaller < 2:
        return "a group has one row" if smaller else "a group is empty"
    largest = float(np.max(np.abs(np.concatenate([a.means, b.means]))))
    flat = all(group.spread <= group.n * (SPREAD_ROUNDING * largest) ** 2 for group in (a, b))
    return "no spread in either group" if flat else ""
