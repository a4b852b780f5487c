"""Intervals over clusters against the same draws made one by one, and against copies of the same values."""

import numpy as np
import pytest

from swaymeter.tasks.statistics.formulas.clustered import _drawn, clustered_mean, clustered_pearson, mean_interval

RNG = np.random.default_rng(3)
CLUSTERS = np.repeat(np.arange(12), [1, 2, 3, 4] * 3)
X = RNG.normal(50, 1, len(CLUSTERS))
Y = X + RNG.normal(0, 2, len(CLUSTERS))


def samples(seed: int) -> list[np.ndarray]:
    """The places of the values in each sample of whole clusters."""
    members = [np.flatnonzero(one == CLUSTERS) for one in range(12)]
    return [np.concatenate([np.tile(members[c], n) for c, n in enumerate(row)]) for row in _drawn(12, seed)]


def test_a_sample_draws_as_many_clusters_as_there_are() -> None:
    counts = _drawn(12, 5)
    assert set(counts.sum(axis=1)) == {12}
    assert counts.mean(axis=0) == pytest.approx(np.ones(12), abs=0.15)


def test_ends_are_percentiles_over_whole_clusters() -> None:
    drawn = samples(5)
    ends = np.quantile([X[places].mean() for places in drawn], [0.025, 0.975])
    assert clustered_mean(X, CLUSTERS, 5) == (12, pytest.approx(ends[0], abs=1e-9), pytest.approx(ends[1], abs=1e-9))
    ends = np.quantile([np.corrcoef(X[places], Y[places])[0, 1] for places in drawn], [0.025, 0.975])
    result = clustered_pearson(X, Y, CLUSTERS, 5)
    assert result == (12, pytest.approx(ends[0], abs=1e-9), pytest.approx(ends[1], abs=1e-9))


def test_copies_within_clusters_narrow_nothing() -> None:
    values, one_each = np.arange(20.0) ** 1.5, np.arange(20)
    copied = clustered_mean(np.repeat(values, 7), np.repeat(one_each, 7), 0)
    assert copied == pytest.approx(clustered_mean(values, one_each, 0))


@pytest.mark.parametrize("values", [[], [3.0], [1.0, 1.0, 1.0]], ids=["none", "one", "equal"])
def test_without_spread_there_is_no_interval(values: list[float]) -> None:
    assert clustered_mean(values, range(len(values)), 0)[1:] == (None, None)
    assert clustered_pearson(values, values, range(len(values)), 0)[1:] == (None, None)


def test_r_has_no_interval_where_a_sample_lacks_spread() -> None:
    x, y = np.array([0.0, 0, 0, 1]), np.array([1.0, 2, 3, 4])
    assert clustered_pearson(x, y, [0, 1, 2, 3], 0) == (4, None, None)


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
