"""Permutation tests by hand and against SciPy, tests by level against tests of all scores, and untestable groups."""

from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy import stats

from swaymeter.tasks.statistics.formulas.groups import Result, cohens_d, scores
from swaymeter.tasks.statistics.formulas.permutation import (
    TOO_FEW,
    Alternative,
    Levels,
    permutation,
    permutation_of_levels,
)


def outcome(a: ArrayLike, b: ArrayLike, *, alternative: Alternative = "greater") -> Result:
    (result,) = permutation([(scores(a), scores(b))], alternative, 1)
    assert result.untestable is None
    return result


def test_groups_of_three_match_hand_worked_values() -> None:
    # Means 5 and 2, both variances 1: s^2 = 1 and t = 3 / sqrt(1/3 + 1/3). Of the twenty ways to deal six rows, the
    # observed way has the greatest t.
    result = outcome([4, 5, 6], [1, 2, 3])
    assert (result.statistic, result.p) == (pytest.approx(3 / np.sqrt(2 / 3)), pytest.approx(1 / 20))
    assert outcome([1, 2, 3], [4, 5, 6]).p == pytest.approx(1)


def test_two_sided_test_counts_both_ends() -> None:
    for a, b in (([5, 6, 7, 8], [1, 2, 3, 4]), ([1, 2, 3, 4], [5, 6, 7, 8])):
        assert outcome(a, b, alternative="two-sided").p == pytest.approx(2 / 70)
    # Groups of unequal size have no mirror image. Of 21 sums of two rows, only 17 is so far from the mean 34 / 7.
    assert outcome([8, 9], [0, 0, 0, 0, 0], alternative="two-sided").p == pytest.approx(1 / 21)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_drawn_permutations_agree_with_scipy(alternative: Alternative) -> None:
    rng = np.random.default_rng(0)
    pairs = [(rng.normal(0.15 * shift, 1, 40), rng.normal(0, 1, 40)) for shift in range(4)]
    pairs.append((rng.integers(0, 4, 40).astype(float), rng.integers(0, 4, 40).astype(float)))  # many equal values
    for (a, b), result in zip(pairs, permutation(pairs, alternative, 1), strict=True):
        method = stats.PermutationMethod(n_resamples=2000, rng=np.random.default_rng(1))
        expected = stats.ttest_ind(a, b, alternative=alternative, method=method)
        assert result.statistic == pytest.approx(expected.statistic)
        # Four standard errors of the difference of two Monte Carlo estimates.
        error = 4 * np.sqrt(0.25 * (1 / 2000 + 1 / 10_000)) * (2 if alternative == "two-sided" else 1)
        assert result.p == pytest.approx(expected.pvalue, abs=error)


def test_a_test_does_not_depend_on_its_family() -> None:
    rng = np.random.default_rng(0)
    pairs = [(rng.normal(0, 1, size), rng.normal(0, 1, 30)) for size in (30, 20, 30)]
    together = permutation(pairs, "greater", 5)
    assert together == [permutation([pair], "greater", 5)[0] for pair in pairs]
    assert together != permutation(pairs, "greater", 6)


def test_p_is_never_zero() -> None:
    assert outcome(np.arange(20) + 100.0, np.arange(20.0)).p == pytest.approx(1 / 10_001)


@pytest.mark.parametrize(
    ("a", "b", "paired", "reason"),
    [
        ([], [1, 2], False, "a group is empty"),
        ([1, 2], [3], False, "a group has one row"),
        ([1, 1], [2, 2], False, "no spread in either group"),
        ([0.1 + 0.2, 0.3], [0.7, 0.7], False, "no spread in either group"),
        ([2, 3], [1, 2], True, "no spread in the differences"),
    ],
)
def test_untestable_groups_have_a_reason(a: list[float], b: list[float], paired: bool, reason: str) -> None:
    assert permutation([(scores(a), scores(b))], "greater", 1, paired=paired) == [(None, None, reason)]


def test_one_constant_group_is_tested() -> None:
    assert outcome([0.1, 0.1, 0.1], [0.2, 0.3, 0.4]).p == pytest.approx(1)


# Differences 1 to 6: t = 3.5 / (sqrt(3.5) / sqrt(6)). Of the 64 ways to flip signs, one has a sum of at least 21.
def test_six_pairs_match_hand_worked_values() -> None:
    pair = (scores([2, 4, 6, 8, 10, 12]), scores([1, 2, 3, 4, 5, 6]))
    ((t, p, _),) = permutation([pair], "greater", 1, paired=True)
    assert (t, p) == (pytest.approx(np.sqrt(21)), pytest.approx(1 / 64))
    ((_, p, _),) = permutation([pair], "two-sided", 1, paired=True)
    assert p == pytest.approx(2 / 64)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize("n", [9, 40])
def test_sign_flips_agree_with_scipy(alternative: Alternative, n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.normal(0.3, 1, n), rng.normal(0, 1, n)
    ((t, p, _),) = permutation([(a, b)], alternative, 1, paired=True)
    assert t == pytest.approx(stats.ttest_rel(a, b).statistic, rel=1e-9)
    expected = stats.permutation_test(
        (a - b,),
        np.mean,
        permutation_type="samples",
        alternative=alternative,
        n_resamples=5000,
        vectorized=True,
        rng=np.random.default_rng(2),
    )
    error = 1e-9 if 2**n <= 5000 else 4 * np.sqrt(0.25 * (1 / 5000 + 1 / 10_000)) * (1 + (alternative == "two-sided"))
    assert p == pytest.approx(expected.pvalue, abs=error)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize(("n_a", "n_b"), [*product(range(2, 7), repeat=2)])
def test_groups_that_cannot_be_significant_are_untestable(n_a: int, n_b: int, alternative: Alternative) -> None:
    rows = 4.0 ** np.arange(n_a + n_b)  # powers of 4, so that all groups have different sums
    rows -= rows.mean()
    groups = [list(group) for group in combinations(range(n_a + n_b), n_a)]
    sums = np.array([rows[group].sum() for group in groups])
    sums = np.abs(sums) if alternative == "two-sided" else sums
    first_group = groups[int(np.argmax(sums))]
    smallest_p = float(np.mean(sums >= sums.max() - 1e-6))
    (result,) = permutation([(rows[first_group], np.delete(rows, first_group))], alternative, 0)
    assert result.untestable == (TOO_FEW if smallest_p > 0.05 else None)
    assert result.p == (None if smallest_p > 0.05 else pytest.approx(smallest_p))


@pytest.mark.parametrize(("alternative", "fewest"), [("greater", 5), ("two-sided", 6)])
def test_pairs_that_cannot_be_significant_are_untestable(alternative: Alternative, fewest: int) -> None:
    pairs = [(np.arange(n) + 1.0, np.zeros(n)) for n in range(2, 9)]
    reasons = [result.untestable for result in permutation(pairs, alternative, 0, paired=True)]
    assert reasons == [TOO_FEW if n < fewest else None for n in range(2, 9)]


def levels(a: np.ndarray, b: np.ndarray) -> tuple[Levels, Levels]:
    """Return both groups by level: a range of scores, a quarter of the standard deviation of all scores wide."""
    width = np.concatenate([a, b]).std() / 4
    numbers = np.unique(np.floor(np.concatenate([a, b]) / width))

    def levels_of_group(values: np.ndarray) -> Levels:
        parts = [values[np.floor(values / width) == number] for number in numbers]
        means = [(part.mean(), (part**2).mean()) if len(part) else (0.0, 0.0) for part in parts]
        return Levels(np.array([len(part) for part in parts], dtype=float), *np.array(means).T)

    return levels_of_group(a), levels_of_group(b)


@pytest.mark.parametrize("sizes", [(400, 900), (900, 400), (6, 1500)])
@pytest.mark.parametrize("shift", [0.0, 0.08])
def test_levels_match_scipys_t_and_permutation_p(sizes: tuple[int, int], shift: float) -> None:
    rng = np.random.default_rng(sum(sizes))
    a, b = (rng.gamma(0.7, 0.8, size) for size in sizes)
    a = a + shift
    result, effect = permutation_of_levels(*levels(a, b), seed=1, permutations=5_000)
    expected = stats.ttest_ind(a, b, alternative="greater")
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert effect == pytest.approx(cohens_d(a, b), rel=1e-9)
    ((_, p, _),) = permutation([(a, b)], "greater", 2)
    assert result.p == pytest.approx(p, abs=4 * np.sqrt(0.25 * (1 / 5_000 + 1 / 10_000)))


def test_a_level_for_each_score_gives_permutation_p() -> None:
    a, b = np.random.default_rng(3).normal([[0.8], [0.0]], 1, (2, 10))
    nothing = np.zeros(10)
    group_a = Levels(np.repeat([1.0, 0.0], 10), np.concatenate([a, nothing]), np.concatenate([a**2, nothing]))
    group_b = Levels(np.repeat([0.0, 1.0], 10), np.concatenate([nothing, b]), np.concatenate([nothing, b**2]))
    result, _ = permutation_of_levels(group_a, group_b, seed=1, permutations=20_000)
    ((_, p, _),) = permutation([(a, b)], "greater", 2)
    assert p is not None
    assert 0.01 < p < 0.1
    assert result.p == pytest.approx(p, abs=4 * np.sqrt(p * (1 / 20_000 + 1 / 10_000)))


def test_levels_of_large_scores_keep_their_digits() -> None:
    a, b = np.random.default_rng(0).normal(8, 0.001, (2, 1000))
    result, _ = permutation_of_levels(*levels(a, b), seed=1, permutations=10)
    assert result.statistic == pytest.approx(stats.ttest_ind(a, b).statistic, rel=1e-5)


@pytest.mark.parametrize(
    ("counts_a", "reason"),
    [([0, 0], "a group is empty"), ([1, 0], "a group has one row"), ([3, 0], "no spread in either group")],
)
def test_untestable_levels_have_a_reason(counts_a: list[float], reason: str) -> None:
    a = Levels(np.array(counts_a, dtype=float), np.array([0.1, 0.3]), np.array([0.1**2, 0.3**2]))
    b = Levels(np.array([5.0, 0.0]), np.array([0.1, 0.3]), np.array([0.1**2, 0.3**2]))
    assert permutation_of_levels(a, b, seed=1, permutations=10) == ((None, None, reason), None)
