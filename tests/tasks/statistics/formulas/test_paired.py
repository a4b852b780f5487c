"""Paired differences against SciPy and statsmodels, on the same numbers."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from statsmodels.regression.linear_model import OLS

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.statistics.formulas.paired import WAYS, paired_difference, smallest_significant_decrease
from swaymeter.tasks.statistics.formulas.permutation import TOO_FEW

RNG = np.random.default_rng(5)
MANY = RNG.normal(0.3, 1, 40)


def exact_p(sums: NDArray[np.float64]) -> float:
    """Return SciPy's p-value of the sums of clusters, over all sign flips."""
    zeros = np.zeros(len(sums))
    result = stats.permutation_test(
        (sums, zeros), lambda a, b: np.sum(a - b), permutation_type="samples", n_resamples=np.inf
    )
    return float(result.pvalue)


def ends(values: NDArray[np.float64], clusters: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the ends of the interval, each as the mean over 20 seeds."""
    results = [paired_difference(values, clusters, seed) for seed in range(20)]
    return np.mean([(result.low, result.high) for result in results], axis=0)


@pytest.mark.parametrize("clusters", [6, 8, 13])
@pytest.mark.parametrize("kind", ["normal", "integer"])
def test_p_of_few_clusters_equals_scipys_exact_p(clusters: int, kind: str) -> None:
    rng = np.random.default_rng(clusters)
    values = rng.normal(0.4, 1, (clusters, 3)) if kind == "normal" else rng.integers(-1, 3, (clusters, 3)) + 0.0
    result = paired_difference(values.ravel(), np.repeat(np.arange(clusters), 3), 0)
    assert result.p == pytest.approx(exact_p(values.sum(axis=1)), abs=1e-12)


@pytest.mark.parametrize("shift", [0.1, 0.3, 0.5])
def test_drawn_p_is_near_the_exact_p(shift: float) -> None:
    sums = np.random.default_rng(14).normal(shift, 1, 14)
    exact = exact_p(sums)
    error = 4 * np.sqrt(exact * (1 - exact) / WAYS)
    assert 2 ** len(sums) > WAYS
    assert paired_difference(sums, np.arange(14), 0).p == pytest.approx(exact, abs=error)


def test_intervals_of_unequal_clusters_are_near_statsmodels() -> None:
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 8, 300)
    clusters = np.repeat(np.arange(300), sizes)
    # Pairs of a cluster are similar, and large clusters have larger differences than small clusters.
    values = 0.1 * sizes[clusters] + rng.normal(0, 1, 300)[clusters] + rng.normal(0, 0.5, len(clusters))
    fitted = OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False}, use_t=False
    )
    assert paired_difference(values, clusters, 0).difference == pytest.approx(fitted.params[0])
    # Of the tolerance 0.05, the random draws need 0.024, four of their standard errors. The rest is for the skewness of
    # the values, because statsmodels assumes a normal distribution.
    assert ends(values, clusters) == pytest.approx(fitted.conf_int()[0], abs=0.05 * fitted.bse[0])


def test_pairs_of_a_cluster_are_drawn_together() -> None:
    alone = paired_difference(MANY, np.arange(40), 0)
    fourfold = paired_difference(np.repeat(MANY, 4), np.repeat(np.arange(40), 4), 0)
    assert (fourfold.n, fourfold.clusters) == (160, 40)
    # The difference, its interval and p are equal; neither result has a reason.
    assert fourfold[2:] == pytest.approx((*alone[2:6], None), nan_ok=True)


def test_equal_values_have_zero_difference() -> None:
    assert paired_difference(np.zeros(6), np.arange(6), 0)[2:6] == (0, 0, 0, 1)  # difference, low, high and p


@pytest.mark.parametrize(("clusters", "has_interval"), [(4, False), (5, True)])
def test_few_clusters_have_neither_p_nor_interval(clusters: int, has_interval: bool) -> None:
    result = paired_difference(MANY[:clusters], np.arange(clusters), 0)
    assert (result.p, result.untestable) == (None, TOO_FEW)
    assert result.difference == pytest.approx(MANY[:clusters].mean())
    assert (result.low is not None, result.high is not None) == (has_interval, has_interval)


@pytest.mark.parametrize(("values", "reason"), [([], "no pair"), ([1.0, 2.0], "one cluster")])
def test_fewer_than_two_clusters_are_untestable(values: list[float], reason: str) -> None:
    result = paired_difference(values, ["a"] * len(values), 0)
    assert (result.untestable, result.p) == (reason, None)


def test_value_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ScoreError):
        paired_difference([1.0, np.nan], ["a", "b"], 0)


@pytest.mark.parametrize(
    ("clusters", "tests", "decrease"), [(5, 1, None), (8, 6, 1.0), (15, 6, 8 / 15), (15, 1, 0.4), (100, 6, 0.08)]
)
def test_smallest_significant_decrease_depends_on_clusters_and_tests(
    clusters: int, tests: int, decrease: float | None
) -> None:
    assert smallest_significant_decrease(clusters, tests) == decrease
    if decrease is not None:
        needed = round(clusters * decrease)
        for count, is_significant in ((needed, True), (needed - 1, False)):
            changes = np.repeat([-1.0, 0.0], [count, clusters - count])
            paired = paired_difference(changes, np.arange(clusters), 0, shares=True)
            p = 2 * 0.5**count  # of all 2^count ways to flip signs, only two are as extreme
            assert (tests * p <= 0.05 and (paired.high or 0) < 0) == is_significant
