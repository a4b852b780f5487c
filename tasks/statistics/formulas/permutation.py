"""Permutation test of two groups on Student's t, and of pairs on the paired t.

    t = (mean_a - mean_b) / sqrt(s^2 (1/n_a + 1/n_b)),  s^2 the pooled variance over n_a + n_b - 2
    p = (1 + #{permutations whose t is at least the observed one}) / (1 + #permutations); two-sided: whose |t| is

    of pairs: t = mean(d) / (sd(d) / sqrt(n)),  d = a - b, and a permutation turns the signs of some d

It asks whether the groups could be one, or which of a pair is which be arbitrary, assuming no normal distribution; the
first is not paired, nor Welch's t test. Where there are no more ways to deal the rows than permutations asked for, all
are taken and p is exact, without the ones.

    rows dealt to groups   p >= 1 / C(n_a + n_b, n_a); two-sided, n_a = n_b: 2 / C, as the groups may be exchanged
    signs of n turned      p >= 1 / 2^n; two-sided: 2 / 2^n

Where this lowest attainable p is over 0.05, "not significant" says nothing of the scores: the test is untestable, and
is not counted among those that show nothing. Adjusting for several tests does not change which can be significant:
where all have the smallest p, Benjamini-Hochberg leaves it as it is.

Dealing keeps the rows' sum and sum of squares, so t rises with the sum of the first group: permutations are compared by
that sum, which for all tests of equal group sizes is one matrix product. These tests share their permutations, drawn
from the seed and the sizes. The same holds of the sum of differences and of signs.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, section 5, whose code counts |t|, too; the
ones that keep p above 0: Phipson and Smyth 2010, Permutation P-values Should Never Be Zero. Of pairs: Good 2005,
Permutation, Parametric and Bootstrap Tests of Hypotheses, chapter 3.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records.statistics import ALPHA
from swaymeter.data.storage.keys import generator
from swaymeter.tasks.statistics.formulas.groups import Result, Scores, has_spread, pooled_variance, untestable

Alternative = Literal["greater", "two-sided"]
Pair = tuple[Scores, Scores]

PERMUTATIONS = 10_000
# Permutations held in memory at a time: 500 of some hundred rows fit a processor's cache.
BATCH = 500
# Sums that agree in exact arithmetic differ by some units in the last place; relative to the sum of all sizes.
ROUNDING = 1e-13
TOO_FEW = f"n is too small for p ≤ {ALPHA}"


def permutation(
    pairs: Sequence[Pair], alternative: Alternative, seed: int, permutations: int = PERMUTATIONS
) -> list[Result]:
    """Whether group a of each pair has the greater mean than its group b, or (two-sided) another one.

    Args:
        pairs: groups a (n_a,) and b (n_b,) of finite scores, their rows sorted by what they are.
        alternative: greater, or two-sided.
        seed: of the study.
        permutations: how many are drawn at most.

    Returns:
        Student's t and p of each pair; untestable for groups of fewer than two rows, without any spread, or
        of so few rows that p cannot be 0.05.
    """
    return _tested(pairs, alternative, seed, permutations, paired=False)


def sign_flips(pairs: Sequence[Pair], alternative: Alternative, seed: int) -> list[Result]:
    """As `permutation`, for groups (n,) and (n,) whose rows are pairs; untestable without a spread of differences."""
    return _tested(pairs, alternative, seed, PERMUTATIONS, paired=True)


def _tested(
    pairs: Sequence[Pair], alternative: Alternative, seed: int, permutations: int, *, paired: bool
) -> list[Result]:
    """The results of pairs of groups; those of equal sizes are tested together."""
    results = [Result(None, None, _untestable(a, b, alternative, paired=paired)) for a, b in pairs]
    families: dict[tuple[int, int], list[int]] = {}
    for number, (a, b) in enumerate(pairs):
        if not results[number].untestable:
            families.setdefault((len(a), len(b)), []).append(number)
    for (n_a, n_b), family in families.items():
        first, second = (np.stack([pairs[number][group] for number in family], axis=1) for group in (0, 1))
        if paired:
            rows, every = first - second, 2**n_a <= permutations
            observed = rows.sum(axis=0)
            batches = every_sign(n_a) if every else _drawn_signs(n_a, permutations, seed)
        else:
            rows, every = np.concatenate([first, second]), math.comb(n_a + n_b, n_a) <= permutations
            rows -= rows.mean(axis=0)
            observed = rows[:n_a].sum(axis=0)
            batches = _every(n_a, n_b) if every else _drawn(n_a, n_b, permutations, seed)
        tolerance = ROUNDING * np.abs(rows).sum(axis=0)
        for number, p in zip(family, p_values(batches, rows, observed, tolerance, alternative, every), strict=True):
            results[number] = Result(_t(*pairs[number], paired=paired), float(p))
    return results


def _t(a: Scores, b: Scores, *, paired: bool) -> float:
    if paired:
        return float((a - b).mean() / ((a - b).std(ddof=1) / np.sqrt(len(a))))
    return float((a.mean() - b.mean()) / np.sqrt(pooled_variance(a, b) * (1 / len(a) + 1 / len(b))))


def _untestable(a: Scores, b: Scores, alternative: Alternative, *, paired: bool) -> str:
    """Why groups (n_a,) and (n_b,), or pairs (n,) and (n,), cannot be tested; empty where they can."""
    two_sided = alternative == "two-sided"
    if reason := untestable(a, b) or ("no spread in the differences" if paired and not has_spread(a - b) else ""):
        return reason
    if paired:
        return unreachable_by_signs(len(a), two_sided=two_sided)
    return _unreachable(math.comb(len(a) + len(b), len(a)), exchangeable=two_sided and len(a) == len(b))


def p_values(
    batches: Iterator[NDArray[np.float64]],
    rows: NDArray[np.float64],
    observed: NDArray[np.float64],
    tolerance: NDArray[np.float64],
    alternative: Alternative,
    every: bool,
) -> Scores:
    """The p-values (m,) of m sums over rows (n, m), from batches (k, n) of weights; every: whether these are all."""
    extreme, count = np.zeros(rows.shape[1]), 0
    for weights in batches:
        sums = weights @ rows
        if alternative == "two-sided":
            extreme += (np.abs(sums) >= np.abs(observed) - tolerance).sum(axis=0)
        else:
            extreme += (sums >= observed - tolerance).sum(axis=0)
        count += len(weights)
    observed_one = 0 if every else 1
    return np.asarray((extreme + observed_one) / (count + observed_one))


def _drawn(n_a: int, n_b: int, permutations: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Batches (k, n_a + n_b) of permutations: 1 where a row is dealt to the first group."""
    rng = generator(seed, "permutations", n_a, n_b)
    dealt = np.repeat([1.0, 0.0], [n_a, n_b])
    for start in range(0, permutations, BATCH):
        yield rng.permuted(np.tile(dealt, (min(BATCH, permutations - start), 1)), axis=1)


def _every(n_a: int, n_b: int) -> Iterator[NDArray[np.float64]]:
    """One batch (k, n_a + n_b) of every way to deal the rows."""
    chosen = np.array(list(combinations(range(n_a + n_b), n_a)))
    dealt = np.zeros((len(chosen), n_a + n_b))
    np.put_along_axis(dealt, chosen, 1.0, axis=1)
    yield dealt


def _drawn_signs(n: int, permutations: int, seed: int) -> Iterator[NDArray[np.float64]]:
    rng = generator(seed, "signs", n)
    for start in range(0, permutations, BATCH):
        yield rng.choice(np.array([1.0, -1.0]), size=(min(BATCH, permutations - start), n))


def every_sign(n: int) -> Iterator[NDArray[np.float64]]:
    """One batch (k, n) of every way to turn the signs of n rows."""
    yield np.array(list(product((1.0, -1.0), repeat=n)))


def unreachable_by_signs(n: int, *, two_sided: bool) -> str:
    """Why a test that turns the signs of n differences cannot be significant; empty where it can."""
    return _unreachable(2**n, exchangeable=two_sided)


def _unreachable(ways: int, *, exchangeable: bool) -> str:
    return TOO_FEW if (2 if exchangeable else 1) / ways > ALPHA else ""
