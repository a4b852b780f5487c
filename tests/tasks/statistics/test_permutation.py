from itertools import combinations

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy import stats

from data.errors import ScoreError
from tasks.statistics.comparison import Alternative
from tasks.statistics.groups import TestResult, Untestable, scores
from tasks.statistics.permutation import permutation_tests


def outcome(
    a: ArrayLike, b: ArrayLike, *, seed: int = 1, alternative: Alternative = "greater", permutations: int = 10_000
) -> TestResult:
    pairs = [(scores(a), scores(b))]
    (result,) = permutation_tests(pairs, alternative=alternative, seed=seed, permutations=permutations)
    assert isinstance(result, TestResult)
    return result


def test_two_against_two_by_hand() -> None:
    # Means 3.5 and 1.5; both variances 0.5, so s^2 = 0.5 and t = 2 / sqrt(0.5 (1/2 + 1/2)) = 2.828; of the six ways to
    # deal four rows, the observed one has the greatest t.
    result = outcome([3, 4], [1, 2])
    assert (result.statistic, result.p) == (pytest.approx(2 / np.sqrt(0.5)), pytest.approx(1 / 6))


def test_two_sided_is_twice_the_smaller_side() -> None:
    assert outcome([3, 4], [1, 2], alternative="two-sided").p == pytest.approx(2 / 6)
    assert outcome([1, 2], [3, 4], alternative="two-sided").p == pytest.approx(2 / 6)
    assert outcome([1, 2], [3, 4]).p == pytest.approx(1)


def test_the_statistic_is_students_t() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(1, 1, 9).tolist(), rng.normal(0, 2, 14).tolist()
    assert outcome(a, b).statistic == pytest.approx(stats.ttest_ind(a, b).statistic)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_tiny_samples_agree_with_every_way_to_deal(alternative: Alternative) -> None:
    a, b = [0.9, 0.4, 1.7], [0.1, 0.8, 0.3, 0.2]
    rows = np.array(a + b)
    dealt = [
        stats.ttest_ind(rows[list(chosen)], np.delete(rows, list(chosen))).statistic
        for chosen in combinations(range(7), 3)
    ]
    greater = np.mean(np.array(dealt) >= dealt[0] - 1e-9)
    less = np.mean(np.array(dealt) <= dealt[0] + 1e-9)
    expected = greater if alternative == "greater" else min(1, 2 * min(greater, less))
    exact = stats.ttest_ind(a, b, alternative=alternative, method=stats.PermutationMethod(n_resamples=10_000))
    assert outcome(a, b, alternative=alternative).p == pytest.approx(expected)
    assert exact.pvalue == pytest.approx(expected)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_drawn_permutations_agree_with_scipy(alternative: Alternative) -> None:
    rng = np.random.default_rng(0)
    pairs = [(rng.normal(0.15 * shift, 1, 40), rng.normal(0, 1, 40)) for shift in range(4)]
    pairs.append((rng.integers(0, 4, 40).astype(float), rng.integers(0, 4, 40).astype(float)))  # many equal values
    for (a, b), result in zip(pairs, permutation_tests(pairs, alternative=alternative, seed=1), strict=True):
        assert isinstance(result, TestResult)
        method = stats.PermutationMethod(n_resamples=2000, rng=np.random.default_rng(1))
        expected = stats.ttest_ind(a, b, alternative=alternative, method=method)
        assert result.statistic == pytest.approx(expected.statistic)
        # Four standard errors of the difference of two Monte Carlo estimates.
        error = 4 * np.sqrt(0.25 * (1 / 2000 + 1 / 10_000)) * (2 if alternative == "two-sided" else 1)
        assert result.p == pytest.approx(expected.pvalue, abs=error)


def test_a_test_does_not_depend_on_its_family() -> None:
    rng = np.random.default_rng(0)
    pairs = [(rng.normal(0, 1, size), rng.normal(0, 1, 30)) for size in (30, 20, 30)]
    together = permutation_tests(pairs, seed=5, permutations=499)
    assert together == [permutation_tests([pair], seed=5, permutations=499)[0] for pair in pairs]


def test_p_is_never_zero() -> None:
    a, b = (np.arange(20) + 100.0).tolist(), np.arange(20.0).tolist()
    assert outcome(a, b, permutations=999).p == pytest.approx(1 / 1000)


def test_a_group_against_itself_shows_nothing() -> None:
    result = outcome([1, 2, 3, 4], [1, 2, 3, 4])
    assert result.statistic == 0
    assert result.p >= 0.5


def test_the_same_seed_gives_the_same_p() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.2, 1, 30).tolist(), rng.normal(0, 1, 30).tolist()
    assert outcome(a, b, seed=5) == outcome(a, b, seed=5)
    assert outcome(a, b, seed=5).p != outcome(a, b, seed=6).p


def test_one_constant_group_can_be_outcome() -> None:
    assert outcome([0.1, 0.1, 0.1], [0.2, 0.3, 0.4]).p == pytest.approx(1)


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ([], [1, 2], "a group is empty"),
        ([1, 2], [3], "a group has one row"),
        ([1, 1], [2, 2], "no spread in either group"),
        ([0.1 + 0.2, 0.3], [0.7, 0.7], "no spread in either group"),
    ],
)
def test_groups_without_a_test_say_why(a: list[float], b: list[float], reason: str) -> None:
    (result,) = permutation_tests([(scores(a), scores(b))], seed=0)
    assert isinstance(result, Untestable)
    assert result.reason == reason


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_score_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(ScoreError, match="1 of 2"):
        scores([1, value])


def test_a_group_is_a_vector() -> None:
    with pytest.raises(ValueError, match="vector"):
        scores([[1, 2]])
