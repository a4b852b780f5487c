"""Bootstraps against explicit samples; shares against statsmodels, by hand and simulated; differences by hand."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from swaymeter.data.errors import ScoreError
from swaymeter.data.records.statistics import end_error
from swaymeter.tasks.statistics.formulas.intervals import (
    _NORMAL,
    COVERAGE,
    _sample_counts,
    clustered_mean,
    clustered_pearson,
    difference_interval,
    effective_size,
    mean_interval,
    share_interval,
)

RNG = np.random.default_rng(3)
CLUSTERS = np.repeat(np.arange(12), [1, 2, 3, 4] * 3)
X = RNG.normal(50, 1, len(CLUSTERS))
Y = X + RNG.normal(0, 2, len(CLUSTERS))


def samples(seed: int) -> list[np.ndarray]:
    """Return the indices of the values in each sample of whole clusters."""
    members = [np.flatnonzero(cluster == CLUSTERS) for cluster in range(12)]
    counts = _sample_counts(12, seed)
    return [np.concatenate([np.tile(members[c], n) for c, n in enumerate(row)]) for row in counts]


def test_sample_draws_as_many_clusters_as_there_are() -> None:
    counts = _sample_counts(12, 5)
    assert set(counts.sum(axis=1)) == {12}
    assert counts.mean(axis=0) == pytest.approx(np.ones(12), abs=0.05)


def test_ends_are_percentiles_over_whole_clusters() -> None:
    index_samples = samples(5)
    ends = np.quantile([X[indices].mean() for indices in index_samples], [0.025, 0.975])
    assert clustered_mean(X, CLUSTERS, 5) == (12, pytest.approx(ends[0], abs=1e-9), pytest.approx(ends[1], abs=1e-9))
    ends = np.quantile([np.corrcoef(X[indices], Y[indices])[0, 1] for indices in index_samples], [0.025, 0.975])
    result = clustered_pearson(X, Y, CLUSTERS, 5)
    assert result == (12, pytest.approx(ends[0], abs=1e-9), pytest.approx(ends[1], abs=1e-9))


def test_copies_within_clusters_leave_the_interval_unchanged() -> None:
    values, clusters = np.arange(20.0) ** 1.5, np.arange(20)
    copied = clustered_mean(np.repeat(values, 7), np.repeat(clusters, 7), 0)
    assert copied == pytest.approx(clustered_mean(values, clusters, 0))


@pytest.mark.parametrize("values", [[], [3.0], [1.0, 1.0, 1.0]], ids=["none", "one", "equal"])
def test_values_without_spread_have_no_interval(values: list[float]) -> None:
    assert clustered_mean(values, range(len(values)), 0)[1:] == (None, None)
    assert clustered_pearson(values, values, range(len(values)), 0)[1:] == (None, None)


def test_r_has_no_interval_if_samples_lack_spread() -> None:
    x, y = np.array([0.0, 0, 0, 1]), np.array([1.0, 2, 3, 4])
    assert clustered_pearson(x, y, [0, 1, 2, 3], 0) == (4, None, None)


def test_interval_covers_the_mean_in_any_order() -> None:
    values = [3.0, 1.0, 2.0, 5.0, 2.75]
    mean, low, high = mean_interval(values)
    assert (mean, low, high) == mean_interval(values[::-1])
    assert low is not None
    assert high is not None
    assert low < mean == 2.75 < high


@pytest.mark.parametrize("clusters", [40, 2000])
def test_ends_vary_by_their_stated_error(clusters: int) -> None:
    values = np.random.default_rng(0).normal(size=clusters)
    lows, highs = np.array([clustered_mean(values, range(clusters), seed)[1:] for seed in range(30)], dtype=float).T
    # With a probability of 99%, the standard deviation of 30 values is within 35% of the true standard deviation.
    assert np.std(lows, ddof=1) == pytest.approx(end_error(clusters) * np.mean(highs - lows), rel=0.35)
    assert end_error(40) == pytest.approx(0.0068, abs=1e-4)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([], (None,) * 3), ([2.0], (2.0, None, None)), ([1.0, 2.0, 3.0, 6.0], (3.0, None, None)), ([2.0] * 7, (2.0,) * 3)],
)
def test_few_values_lack_interval_equal_values_lack_width(
    values: list[float], expected: tuple[float | None, ...]
) -> None:
    assert mean_interval(values) == expected


@pytest.mark.parametrize(("hits", "n"), [(0, 24), (7, 24), (24, 24), (1, 5)])
def test_clusters_of_one_value_have_wilsons_interval(hits: int, n: int) -> None:
    low, high = proportion_confint(hits, n, method="wilson")
    interval = share_interval([1.0] * hits + [0.0] * (n - hits), range(n))
    assert interval == (n, pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_values_count_once_per_cluster(value: float) -> None:
    interval = share_interval([value] * 24, np.repeat(np.arange(12), 2))
    assert interval == share_interval([value] * 12, range(12))
    assert interval.high - interval.low > 0.2  # type: ignore[operator]


def test_the_effective_size_follows_from_the_design_effect() -> None:
    values, clusters = [1, 1, 1, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 1, 1, 2, 2, 3, 4, 4]
    # The docstring of formulas/intervals.py explains n, k, m, n_d, n_k and w. m counts the ones, the rarer value.
    mean, n, k, m = 0.4, 10, 5, 4
    sums = {0: (3, 3), 1: (0, 2), 2: (0, 2), 3: (0, 1), 4: (1, 2)}  # sum and number of the values of each cluster
    variance = k / (k - 1) * sum((total - mean * size) ** 2 for total, size in sums.values()) / n**2
    effect = variance / (mean * (1 - mean) / (n - 1))
    assert effect > 1
    t_ratio = stats.t.ppf(0.975, n - 1) / stats.t.ppf(0.975, k - 1)
    n_d, n_k, w = n / effect * t_ratio**2, n**2 / (9 + 4 + 4 + 1 + 4), 1.959964**2 / 2 * n / k
    assert effective_size(values, clusters) == (pytest.approx((m + w) / (m / n_d + w / n_k)), k)


@pytest.mark.parametrize(("clusters", "size"), [(5, 40), (12, 8), (60, 2)])
def test_more_hits_have_a_higher_interval(clusters: int, size: int) -> None:
    # The first values, which are the hits, are spread over as many clusters as possible.
    cluster_of_value = np.tile(np.arange(clusters), size)
    n = len(cluster_of_value)
    values_by_hits = [(np.arange(n) < hits).astype(float) for hits in range(n // 2)]
    for interval in (share_interval, difference_interval):
        ends = [interval(values, cluster_of_value)[1:] for values in values_by_hits]
        for (low, high), (more_low, more_high) in itertools.pairwise(ends):
            assert low < more_low  # type: ignore[operator]
            assert high < more_high  # type: ignore[operator]


def test_equal_values_have_the_interval_of_kishs_size() -> None:
    low, high = share_interval([0.0] * 24, [0] * 20 + [1, 2, 3, 4])[1:]
    assert (low, high) == (0, pytest.approx(proportion_confint(0, 24**2 / (20**2 + 4), method="wilson")[1]))


@pytest.mark.parametrize(("share", "clusters"), [(0.03, 12), (0.3, 12), (0.3, 60)])
def test_interval_covers_the_share_often_enough(share: float, clusters: int) -> None:
    rng, covered, times = np.random.default_rng(2), 0, 400
    for _ in range(times):
        sizes = rng.integers(1, 9, clusters)
        shares = np.repeat(rng.beta(share, 1 - share, clusters), sizes)  # two values of a cluster correlate by 0.5
        ends = share_interval((rng.random(len(shares)) < shares).astype(float), np.repeat(np.arange(clusters), sizes))
        covered += ends.low <= share <= ends.high  # type: ignore[operator]
    assert covered / times >= 0.92


@pytest.mark.parametrize("values", [[1.0] * 4, [0.0] * 4, []], ids=["ones", "zeros", "none"])
def test_few_clusters_have_no_interval(values: Sequence[float]) -> None:
    assert share_interval(values, range(len(values)))[1:] == (None, None)
    assert difference_interval(values, range(len(values)))[1:] == (None, None)


def test_value_other_than_0_and_1_is_refused() -> None:
    with pytest.raises(ScoreError, match=r"1 of 5 values are none of the allowed values \[0, 1\]"):
        share_interval([0, 1, 0.5, 1, 1], range(5))


def test_a_difference_has_bonetts_and_prices_interval() -> None:
    interval = difference_interval([1.0] * 6 + [-1.0] * 2 + [0.0] * 12, range(20))
    more, less = 7 / 22, 3 / 22
    half = 1.959964 * ((more + less - (more - less) ** 2) / 22) ** 0.5
    assert interval == (20, pytest.approx(more - less - half, abs=1e-6), pytest.approx(more - less + half, abs=1e-6))


def test_the_normal_percentile_is_that_of_scipy() -> None:
    assert stats.norm.ppf((1 + COVERAGE) / 2) == _NORMAL
