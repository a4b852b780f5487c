import math
from collections.abc import Callable

import pytest

from data.errors import ScoreError
from tasks.statistics.correlation import Correlation, pearson, spearman
from tasks.statistics.groups import Untestable


def test_pearson_by_hand() -> None:
    # Deviations (-1, 0, 1) and (-1, -1, 2): 3 / sqrt(2 * 6) = 0.866.
    result = pearson([1, 2, 3], [1, 1, 4])
    assert isinstance(result, Correlation)
    assert result.coefficient == pytest.approx(3 / math.sqrt(12))
    # t = r sqrt(1 / (1 - r^2)) = sqrt(3) with one degree of freedom: p = 1 - 2 arctan(sqrt(3)) / pi.
    assert result.p == pytest.approx(1 / 3)
    assert result.n == 3


def test_spearman_by_hand() -> None:
    # Ranks 1 2 3 4 and 2 1 4 3: 1 - 6 (1 + 1 + 1 + 1) / (4 * 15) = 0.6.
    result = spearman([1, 2, 3, 4], [20, 10, 1000, 30])
    assert isinstance(result, Correlation)
    assert result.coefficient == pytest.approx(0.6)
    assert result.n == 4


def test_spearman_knows_only_the_order() -> None:
    x, y = [0.1, 0.5, 0.2, 0.9, 0.7], [3.0, 1.0, 4.0, 2.0, 5.0]
    assert spearman(x, y) == spearman([math.exp(10 * value) for value in x], y)


def test_a_line_correlates_fully() -> None:
    for rising, sign in (([2, 4, 6, 8], 1), ([8, 6, 4, 2], -1)):
        for correlation in (pearson, spearman):
            result = correlation([1, 2, 3, 4], rising)
            assert isinstance(result, Correlation)
            assert result.coefficient == pytest.approx(sign)


@pytest.mark.parametrize("correlation", [pearson, spearman])
def test_too_few_or_constant_values_have_none(correlation: Callable[..., object]) -> None:
    assert correlation([1, 2], [3, 4]) == Untestable("too few pairs")
    assert correlation([1, 1, 1], [1, 2, 3]) == Untestable("no spread")
    assert correlation([1, 2, 3], [0.1 + 0.2, 0.3, 0.3]) == Untestable("no spread")


def test_what_is_no_pair_of_scores_is_refused() -> None:
    with pytest.raises(ValueError, match="pairs"):
        pearson([1, 2, 3], [1, 2])
    with pytest.raises(ScoreError):
        spearman([1, 2, float("nan")], [1, 2, 3])
