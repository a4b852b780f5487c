import pytest

from tasks.statistics.corrections import benjamini_hochberg


def test_four_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.04, 0.5 times 4/1, 4/2, 4/3, 4/4: 0.04, 0.04, 0.0533, 0.5.
    assert benjamini_hochberg([0.04, 0.01, 0.5, 0.02]) == pytest.approx([4 * 0.04 / 3, 0.04, 0.5, 0.04])


def test_a_larger_p_never_ends_up_smaller() -> None:
    # 0.03 * 3 / 2 = 0.045 exceeds 0.04 * 3 / 3: the smaller of the two holds for both.
    assert benjamini_hochberg([0.001, 0.03, 0.04]) == pytest.approx([0.003, 0.04, 0.04])


def test_adjusted_lies_between_p_and_one() -> None:
    p_values: list[float | None] = [0.9, 0.95, 0.2, 1.0, 0.0]
    for p, adjusted in zip(p_values, benjamini_hochberg(p_values), strict=True):
        assert p is not None
        assert adjusted is not None
        assert p <= adjusted <= 1


def test_a_single_test_stays_as_it_is() -> None:
    assert benjamini_hochberg([0.03]) == [pytest.approx(0.03)]


def test_tests_that_could_not_be_done_do_not_count() -> None:
    assert benjamini_hochberg([None, 0.01, None, 0.02]) == [None, pytest.approx(0.02), None, pytest.approx(0.02)]


def test_no_tests_at_all() -> None:
    assert benjamini_hochberg([]) == []
    assert benjamini_hochberg([None, None]) == [None, None]


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        benjamini_hochberg([0.5, p])
