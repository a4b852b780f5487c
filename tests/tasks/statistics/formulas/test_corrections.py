import pytest

from swaymeter.tasks.statistics.formulas.corrections import benjamini_hochberg


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        # Sorted 0.01, 0.02, 0.04, 0.5 times 4/1, 4/2, 4/3, 4/4: 0.04, 0.04, 0.0533, 0.5.
        ([0.04, 0.01, 0.5, 0.02], [4 * 0.04 / 3, 0.04, 0.5, 0.04]),
        # 0.03 * 3 / 2 = 0.045 exceeds 0.04 * 3 / 3: the smaller of the two holds for both.
        ([0.001, 0.03, 0.04], [0.003, 0.04, 0.04]),
        ([0.03], [0.03]),
        ([], []),
    ],
)
def test_p_values_are_adjusted_by_hand(p_values: list[float], adjusted: list[float]) -> None:
    assert benjamini_hochberg(p_values) == pytest.approx(adjusted)


def test_untestable_groups_do_not_count() -> None:
    assert benjamini_hochberg([None, 0.01, None, 0.02]) == [None, pytest.approx(0.02), None, pytest.approx(0.02)]
    assert benjamini_hochberg([None, None]) == [None, None]


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_a_value_outside_zero_to_one_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        benjamini_hochberg([0.5, p])
