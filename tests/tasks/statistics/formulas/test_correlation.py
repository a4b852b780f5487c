import math

import pytest

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.statistics.formulas.correlation import Kind, correlation, spearman_interval

KINDS: tuple[Kind, ...] = ("pearson", "spearman")


def test_pearson_by_hand() -> None:
    # Deviations (-1, 0, 1) and (-1, -1, 2): r = 3 / sqrt(2 * 6). t = r sqrt(1 / (1 - r^2)) = sqrt(3) with one degree of
    # freedom: p = 1 - 2 arctan(sqrt(3)) / pi.
    assert correlation("pearson", [1, 2, 3], [1, 1, 4])[:2] == pytest.approx((3 / math.sqrt(12), 1 / 3))


def test_spearman_by_hand() -> None:
    # Ranks 1 2 3 4 and 2 1 4 3: 1 - 6 (1 + 1 + 1 + 1) / (4 * 15) = 0.6.
    assert correlation("spearman", [1, 2, 3, 4], [20, 10, 1000, 30]).statistic == pytest.approx(0.6)


@pytest.mark.parametrize("kind", KINDS)
def test_few_or_constant_values_are_untestable(kind: Kind) -> None:
    assert correlation(kind, [1, 2], [3, 4]) == (None, None, "too few pairs")
    assert correlation(kind, [1, 1, 1], [1, 2, 3]) == (None, None, "no spread")
    assert correlation(kind, [1, 2, 3], [0.1 + 0.2, 0.3, 0.3]) == (None, None, "no spread")


def test_vectors_that_are_not_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="pairs"):
        correlation("pearson", [1, 2, 3], [1, 2])
    with pytest.raises(ScoreError):
        correlation("spearman", [1, 2, float("nan")], [1, 2, 3])


def test_the_interval_of_spearmans_rho_by_hand() -> None:
    # artanh(0.5) = 0.5493; 1.96 sqrt((1 + 0.25 / 2) / 25) = 0.4158: tanh(0.1335) and tanh(0.9651).
    assert spearman_interval(0.5, 28) == pytest.approx((0.1327, 0.7465), abs=1e-4)
    assert spearman_interval(-0.5, 28) == pytest.approx((-0.7465, -0.1327), abs=1e-4)
    assert [spearman_interval(rho, n) for rho, n in ((None, 28), (0.5, 3), (1.0, 28))] == [(None, None)] * 3
