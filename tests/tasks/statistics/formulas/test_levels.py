"""Tests of many scores by level, against those of the scores themselves."""

import numpy as np
import pytest
from scipy import stats

from swaymeter.tasks.statistics.formulas.groups import cohens_d
from swaymeter.tasks.statistics.formulas.levels import Levels, permutation_of_levels
from swaymeter.tasks.statistics.formulas.permutation import permutation


def levels(a: np.ndarray, b: np.ndarray) -> tuple[Levels, Levels]:
    """The scores of both groups in ranges of a quarter of their standard deviation."""
    width = np.concatenate([a, b]).std() / 4
    ranges = np.unique(np.floor(np.concatenate([a, b]) / width))

    def of(values: np.ndarray) -> Levels:
        parts = [values[np.floor(values / width) == at] for at in ranges]
        means = [(part.mean(), (part**2).mean()) if len(part) else (0.0, 0.0) for part in parts]
        return Levels(np.array([len(part) for part in parts], dtype=float), *np.array(means).T)

    return of(a), of(b)


@pytest.mark.parametrize("sizes", [(400, 900), (900, 400), (6, 1500)])
@pytest.mark.parametrize("shift", [0.0, 0.08])
def test_levels_give_scipys_t_and_a_p_near_it(sizes: tuple[int, int], shift: float) -> None:
    rng = np.random.default_rng(sum(sizes))
    a, b = (rng.gamma(0.7, 0.8, size) for size in sizes)
    a = a + shift
    result, effect = permutation_of_levels(*levels(a, b), seed=1, permutations=5_000)
    expected = stats.ttest_ind(a, b, alternative="greater")
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert effect == pytest.approx(cohens_d(a, b), rel=1e-9)
    ((_, p, _),) = permutation([(a, b)], "greater", 2)
    assert result.p == pytest.approx(p, abs=4 * np.sqrt(0.25 * (1 / 5_000 + 1 / 10_000)))


def test_levels_of_large_scores_close_together_keep_their_digits() -> None:
    a, b = np.random.default_rng(0).normal(8, 0.001, (2, 1000))
    result, _ = permutation_of_levels(*levels(a, b), seed=1, permutations=10)
    assert result.statistic == pytest.approx(stats.ttest_ind(a, b).statistic, rel=1e-5)


@pytest.mark.parametrize(
    ("counts_a", "reason"),
    [([0, 0], "a group is empty"), ([1, 0], "a group has one row"), ([3, 0], "no spread in either group")],
)
def test_levels_without_a_test_say_why(counts_a: list[float], reason: str) -> None:
    a = Levels(np.array(counts_a, dtype=float), np.array([0.1, 0.3]), np.array([0.1**2, 0.3**2]))
    b = Levels(np.array([5.0, 0.0]), np.array([0.1, 0.3]), np.array([0.1**2, 0.3**2]))
    assert permutation_of_levels(a, b, seed=1, permutations=10) == ((None, None, reason), None)
