"""Permutation test of two groups on Student's t.

    t = (mean_a - mean_b) / sqrt(s^2 (1/n_a + 1/n_b)),  s^2 the pooled variance over n_a + n_b - 2
    p = (1 + #{permutations whose t is at least the observed one}) / (1 + #permutations); two-sided: twice the smaller p

It asks whether the groups could be one, assuming no normal distribution; it is neither paired nor Welch's t test. Where
there are no more ways to deal the rows than permutations asked for, all are taken and p is exact, without the ones.

Dealing keeps the rows' sum and sum of squares, so t rises with the sum of the first group: permutations are compared by
that sum, which for all tests of equal group sizes is one matrix product. These tests share their permutations, drawn
from the seed and the sizes.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, section 5; the ones that keep p above 0:
Phipson and Smyth 2010, Permutation P-values Should Never Be Zero.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from data.storage.keys import generator
from tasks.statistics.formulas.groups import Result, Scores, pooled_variance, untestable

Alternative = Literal["greater", "two-sided"]

PERMUTATIONS = 10_000
# Permutations held in memory at a time: 500 of some hundred rows fit a processor's cache.
BATCH = 500
# Sums that agree in exact arithmetic differ by some units in the last place; relative to the sum of all sizes.
ROUNDING = 1e-13


def permutation(pairs: Sequence[tuple[Scores, Scores]], alternative: Alternative, seed: int) -> list[Result]:
    """Whether group a of each pair has the greater mean than its group b, or (two-sided) another one.

    Args:
        pairs: groups a (n_a,) and b (n_b,) of finite scores, their rows sorted by what they are.
        alternative: greater, or two-sided.
        seed: of the study.

    Returns:
        Student's t and p of each pair; untestable for groups of fewer than two rows or without any spread.
    """
    results = [Result(None, None, untestable(a, b)) for a, b in pairs]
    families: dict[tuple[int, int], list[int]] = {}
    for number, (a, b) in enumerate(pairs):
        if not results[number].untestable:
            families.setdefault((len(a), len(b)), []).append(number)
    for sizes, family in families.items():
        p_values = _p_values([pairs[number] for number in family], sizes, alternative, seed)
        for number, p in zip(family, p_values, strict=True):
            results[number] = Result(_t(*pairs[number]), float(p))
    return results


def _p_values(
    family: Sequence[tuple[Scores, Scores]], sizes: tuple[int, int], alternative: Alternative, seed: int
) -> Scores:
    """The p-values (m,) of m pairs whose groups have these sizes."""
    rows = np.stack([np.concatenate(pair) for pair in family], axis=1)
    rows -= rows.mean(axis=0)
    observed = rows[: sizes[0]].sum(axis=0)
    tolerance = ROUNDING * np.abs(rows).sum(axis=0)
    greater, less = np.zeros(len(family)), np.zeros(len(family))
    exact = math.comb(sum(sizes), sizes[0]) <= PERMUTATIONS
    count = 0
    for chosen in _every(*sizes) if exact else _drawn(*sizes, seed):
        sums = chosen @ rows
        greater += (sums >= observed - tolerance).sum(axis=0)
        less += (sums <= observed + tolerance).sum(axis=0)
        count += len(chosen)
    statistic = 0 if exact else 1
    greater, less = ((side + statistic) / (count + statistic) for side in (greater, less))
    return greater if alternative == "greater" else np.minimum(1.0, 2 * np.minimum(greater, less))


def _drawn(n_a: int, n_b: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Batches (k, n_a + n_b) of permutations: 1 where a row is dealt to the first group."""
    rng = generator(seed, "permutations", n_a, n_b)
    dealt = np.repeat([1.0, 0.0], [n_a, n_b])
    for start in range(0, PERMUTATIONS, BATCH):
        yield rng.permuted(np.tile(dealt, (min(BATCH, PERMUTATIONS - start), 1)), axis=1)


def _every(n_a: int, n_b: int) -> Iterator[NDArray[np.float64]]:
    """One batch (k, n_a + n_b) of every way to deal the rows."""
    chosen = np.array(list(combinations(range(n_a + n_b), n_a)))
    dealt = np.zeros((len(chosen), n_a + n_b))
    np.put_along_axis(dealt, chosen, 1.0, axis=1)
    yield dealt


def _t(a: Scores, b: Scores) -> float:
    error = np.sqrt(pooled_variance(a, b) * (1 / len(a) + 1 / len(b)))
    return float((a.mean() - b.mean()) / error)
