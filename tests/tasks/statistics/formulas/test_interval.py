import numpy as np
import pytest

from swaymeter.tasks.statistics.formulas.clustered import mean_interval


def test_an_interval_covers_the_mean_whatever_the_order() -> None:
    values = [3.0, 1.0, 2.0, 5.0, 2.75]
    mean, low, high = mean_interval(values)
    assert (mean, low, high) == mean_interval(values[::-1])
    assert low is not None
    assert high is not None
    assert low < mean == 2.75 < high


def test_large_samples_are_drawn_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(0).random(99)
    whole = mean_interval(values)
    monkeypatch.setattr("swaymeter.tasks.statistics.formulas.clustered._AT_A_TIME", 1000)
    assert mean_interval(values) == whole


@pytest.mark.parametrize(
    ("values", "expected"),
    [([], (None,) * 3), ([2.0], (2.0, None, None)), ([1.0, 2.0, 3.0, 6.0], (3.0, None, None)), ([2.0] * 7, (2.0,) * 3)],
)
def test_few_or_equal_values_have_no_width(values: list[float], expected: tuple[float | None, ...]) -> None:
    assert mean_interval(values) == expected
