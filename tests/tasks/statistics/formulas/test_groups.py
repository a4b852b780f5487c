"""Effect sizes and adjusted p-values by hand, and groups without them."""

import math

import pytest

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.statistics.formulas.groups import benjamini_hochberg, cohens_d, scores


@pytest.mark.parametrize(
    ("a", "b", "effect"),
    [
        # Means 5 and 2; sums of squares 2 and 2 over 2 + 3 - 2 = 3 degrees of freedom: s = sqrt(4/3).
        ([4, 6], [1, 2, 3], 3 / math.sqrt(4 / 3)),
        ([1, 2, 4], [4, 2, 1], 0),
        ([], [1, 2], None),
        ([1], [1, 2], None),
        ([1, 1], [2, 2], None),
    ],
)
def test_effect_size_matches_hand_worked_values(a: list[float], b: list[float], effect: float | None) -> None:
    assert cohens_d(scores(a), scores(b)) == (None if effect is None else pytest.approx(effect))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_score_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(ScoreError, match="1 of 2"):
        scores([1, value])
    with pytest.raises(ValueError, match="between 0 and 1"):
        benjamini_hochberg([0.5, value])


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        # Sorted 0.01, 0.02, 0.04, 0.5 times 4/1, 4/2, 4/3, 4/4: 0.04, 0.04, 0.0533, 0.5.
        ([0.04, 0.01, 0.5, 0.02], [4 * 0.04 / 3, 0.04, 0.5, 0.04]),
        # 0.03 * 3 / 2 = 0.045 exceeds 0.04 * 3 / 3: the smaller value counts for both p-values.
        ([0.001, 0.03, 0.04], [0.003, 0.04, 0.04]),
        ([0.03], [0.03]),
        ([], []),
        ([None, 0.01, None, 0.02], [None, 0.02, None, 0.02]),
        ([None, None], [None, None]),
    ],
)
def test_adjusted_p_values_match_hand_worked_values(p_values: list[float | None], adjusted: list[float | None]) -> None:
    assert benjamini_hochberg(p_values) == [p if p is None else pytest.approx(p) for p in adjusted]


@pytest.mark.parametrize("p", [-0.1, 1.1])
def test_a_value_outside_zero_to_one_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        benjamini_hochberg([0.5, p])
