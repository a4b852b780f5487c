import numpy as np
import pytest
from scipy import stats

from data.errors import ScoreError
from tasks.statistics.formulas.paired import paired_difference

RNG = np.random.default_rng(5)
MANY = RNG.normal(0.3, 1, 40)


def test_p_of_few_clusters_is_scipys_exact_one() -> None:
    values, clusters = RNG.normal(0.4, 1, 24), np.repeat(np.arange(8), 3)
    sums = values.reshape(8, 3).sum(axis=1)
    expected = stats.permutation_test(
        (sums, np.zeros(8)), lambda a, b: np.sum(a - b), permutation_type="samples", n_resamples=np.inf
    )
    assert paired_difference(values, clusters, 0).p == pytest.approx(expected.pvalue, abs=1e-12)


def test_p_of_many_clusters_is_near_scipys() -> None:
    expected = stats.permutation_test(
        (MANY, np.zeros(40)), lambda a, b: np.sum(a - b), permutation_type="samples", n_resamples=100_000, rng=1
    )
    assert paired_difference(MANY, np.arange(40), 0).p == pytest.approx(expected.pvalue, abs=0.01)


def test_the_interval_is_near_scipys_bootstrap() -> None:
    result = paired_difference(MANY, np.arange(40), 0)
    expected = stats.bootstrap((MANY,), np.mean, method="percentile", n_resamples=20_000, rng=1).confidence_interval
    assert result.difference == pytest.approx(MANY.mean())
    assert (result.low, result.high) == pytest.approx(expected, abs=0.05)


def test_pairs_of_a_cluster_are_drawn_together() -> None:
    alone = paired_difference(MANY, np.arange(40), 0)
    fourfold = paired_difference(np.repeat(MANY, 4), np.repeat(np.arange(40), 4), 0)
    assert (fourfold.n, fourfold.clusters) == (160, 40)
    assert fourfold[2:] == pytest.approx((*alone[2:6], None), nan_ok=True)


def test_equal_models_differ_by_nothing() -> None:
    assert paired_difference(np.zeros(6), np.arange(6), 0)[2:6] == (0, 0, 0, 1)


@pytest.mark.parametrize(("values", "reason"), [([], "no pair"), ([1.0, 2.0], "one cluster")])
def test_one_cluster_is_untestable(values: list[float], reason: str) -> None:
    result = paired_difference(values, ["a"] * len(values), 0)
    assert (result.untestable, result.p) == (reason, None)


def test_what_is_not_finite_is_an_error() -> None:
    with pytest.raises(ScoreError):
        paired_difference([1.0, np.nan], ["a", "b"], 0)
