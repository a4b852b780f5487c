import math

import pytest

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.statistics.formulas.groups import cohens_d, scores


def d(a: list[float], b: list[float]) -> float:
    effect = cohens_d(scores(a), scores(b))
    assert effect is not None
    return effect


def test_the_effect_size_by_hand() -> None:
    # Means 5 and 2; sums of squares 2 and 2 over 2 + 3 - 2 = 3 degrees of freedom: s = sqrt(4/3).
    assert d([4, 6], [1, 2, 3]) == pytest.approx(3 / math.sqrt(4 / 3))
    assert d([1, 2, 4], [4, 2, 1]) == pytest.approx(0)


@pytest.mark.parametrize(("a", "b"), [([], [1, 2]), ([1], [1, 2]), ([1, 1], [2, 2])])
def test_groups_without_a_spread_have_no_effect_size(a: list[float], b: list[float]) -> None:
    assert cohens_d(scores(a), scores(b)) is None


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_score_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(ScoreError, match="1 of 2"):
        scores([1, value])
