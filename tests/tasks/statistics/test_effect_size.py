import math

import pytest

from data.errors import ScoreError
from tasks.statistics.effect_size import cohens_d
from tasks.statistics.groups import Untestable


def test_two_against_three_by_hand() -> None:
    # Means 5 and 2; sums of squares 2 and 2 over 2 + 3 - 2 = 3 degrees of freedom: s = sqrt(4/3).
    assert cohens_d([4, 6], [1, 2, 3]) == pytest.approx(3 / math.sqrt(4 / 3))


def test_exchanging_the_groups_turns_the_sign() -> None:
    a, b = [0.3, 0.9, 0.5], [0.1, 0.4]
    forward, backward = cohens_d(a, b), cohens_d(b, a)
    assert isinstance(forward, float)
    assert backward == pytest.approx(-forward)


def test_unit_and_origin_do_not_matter() -> None:
    assert cohens_d([14, 16], [11, 12, 13]) == pytest.approx(cohens_d([0.4, 0.6], [0.1, 0.2, 0.3]))


def test_a_group_against_itself_is_zero() -> None:
    assert cohens_d([1, 2, 4], [4, 2, 1]) == pytest.approx(0)


@pytest.mark.parametrize(("a", "b"), [([], [1, 2]), ([1], [1, 2]), ([1, 1], [2, 2])])
def test_groups_without_a_spread_have_none(a: list[float], b: list[float]) -> None:
    assert isinstance(cohens_d(a, b), Untestable)


def test_a_score_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ScoreError):
        cohens_d([1, float("nan")], [1, 2])
