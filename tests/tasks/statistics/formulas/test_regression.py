"""Regressions against matrix formulas, adjusted differences against statsmodels, and correlations by hand."""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from numpy.typing import NDArray
from scipy import stats

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.statistics.formulas.groups import cohens_d
from swaymeter.tasks.statistics.formulas.regression import (
    CONSTANT,
    Kind,
    adjusted_difference,
    correlation,
    regression,
    spearman_interval,
)

RNG = np.random.default_rng(8)
N = 60
SUBJECTS = RNG.integers(0, 15, N)
EDITS = RNG.geometric(0.2, N) + 0.0
VIEWS = RNG.lognormal(5, 2, N)
PERSUASION = 3 + 0.4 * EDITS + RNG.normal(0, 1, 15)[SUBJECTS] + RNG.normal(0, 1, N)
PREDICTORS = {"edits": EDITS, "views": VIEWS}


def design(predictors: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.column_stack([np.ones(N), *(stats.zscore(values) for values in predictors.values())])


def test_coefficients_solve_the_normal_equations() -> None:
    result, x = regression(("persuasion", PERSUASION), PREDICTORS, SUBJECTS), design(PREDICTORS)
    beta = np.linalg.solve(x.T @ x, x.T @ PERSUASION)
    residuals = PERSUASION - x @ beta
    errors = np.sqrt(residuals @ residuals / (N - 3) * np.diag(np.linalg.inv(x.T @ x)))
    p = 2 * stats.t.sf(np.abs(beta / errors), N - 3)
    half = stats.t.ppf(0.975, N - 3) * errors
    assert [coefficient.predictor for coefficient in result.coefficients] == [CONSTANT, "edits", "views"]
    for i, coefficient in enumerate(result.coefficients):
        expected = (beta[i], errors[i], beta[i] - half[i], beta[i] + half[i], p[i])
        # Beta, its standard error, the interval and p.
        assert coefficient[1:6] == pytest.approx(expected, abs=1e-9)
    assert result.r_squared == pytest.approx(
        1 - residuals @ residuals / np.sum((PERSUASION - PERSUASION.mean()) ** 2), abs=1e-9
    )
    assert (result.n, result.clusters, result.untestable) == (N, 15, None)


def test_cluster_errors_match_the_sandwich_formula() -> None:
    result, x = regression(("persuasion", PERSUASION), PREDICTORS, SUBJECTS), design(PREDICTORS)
    bread = np.linalg.inv(x.T @ x)
    residuals = PERSUASION - x @ (bread @ x.T @ PERSUASION)
    sums = np.array([(x * residuals[:, None])[subject == SUBJECTS].sum(axis=0) for subject in range(15)])
    covariance = bread @ (sums.T @ sums) @ bread * (15 / 14) * ((N - 1) / (N - 3))
    errors = np.sqrt(np.diag(covariance))
    for coefficient, error in zip(result.coefficients, errors, strict=True):
        assert coefficient.cluster_standard_error == pytest.approx(error, abs=1e-9)
        assert coefficient.cluster_p == pytest.approx(2 * stats.t.sf(abs(coefficient.beta / error), 14), abs=1e-9)


@pytest.mark.parametrize(
    ("outcome", "predictors", "rows", "reason"),
    [
        (PERSUASION, {"edits": np.ones(N), "views": VIEWS}, N, "edits: no spread"),
        (PERSUASION, {"edits": EDITS, "twice": 2 * EDITS + 1}, N, "twice: follows from the predictors before it"),
        (PERSUASION, PREDICTORS, 4, "4 rows are too few for 2 predictors"),
        (PERSUASION, PREDICTORS, 0, "0 rows are too few for 2 predictors"),
        (np.ones(N), PREDICTORS, N, "persuasion: no spread"),
    ],
    ids=["constant", "collinear", "few", "none", "outcome"],
)
def test_untestable_regression_has_a_reason(
    outcome: NDArray[np.float64], predictors: Mapping[str, NDArray[np.float64]], rows: int, reason: str
) -> None:
    first_rows = {name: values[:rows] for name, values in predictors.items()}
    result = regression(("persuasion", outcome[:rows]), first_rows, SUBJECTS[:rows])
    assert (result.untestable, result.coefficients, result.r_squared) == (reason, (), None)


def test_few_clusters_have_no_cluster_standard_errors() -> None:
    (_, edits, _) = regression(("persuasion", PERSUASION), PREDICTORS, SUBJECTS % 3).coefficients
    assert (edits.cluster_standard_error, edits.cluster_p) == (None, None)
    assert edits.p < 1


def test_cluster_standard_errors_are_finite_or_none() -> None:
    group, length, clusters = (np.repeat(values, 2) for values in ([0.0, 0, 0, 1], [5.0, 5, 8, 8], [0, 1, 2, 3]))
    lacks_error = set()
    for seed in range(40):
        values = np.random.default_rng(seed).random(8)
        for row in regression(("score", values), {"group": group, "length": length}, clusters).coefficients:
            lacks_error.add(row.cluster_standard_error is None)
            assert row.cluster_standard_error is None or np.isfinite([row.cluster_standard_error, row.cluster_p]).all()
    assert lacks_error == {True, False}


def rows(entities: int = 12) -> pd.DataFrame:
    """Return two similar queries of each entity; entities of the first group have longer names."""
    rng = np.random.default_rng(3)
    entity = np.arange(entities).repeat(2)
    first = entity % 2 == 0
    length = 5 + 4 * first + rng.integers(0, 6, entities)[entity]
    y = 0.4 * first + 0.1 * length + rng.normal(0, 0.3, entities)[entity] + rng.normal(0, 0.1, 2 * entities)
    return pd.DataFrame({"y": y, "first": first, "length": length, "entity": entity})


def test_adjusted_difference_agrees_with_statsmodels() -> None:
    data = rows()
    result, effect = adjusted_difference(data["y"], data["first"], ("length", data["length"]), data["entity"])
    fitted = smf.ols("y ~ first + length", data.astype({"first": float})).fit(
        cov_type="cluster", cov_kwds={"groups": data["entity"]}, use_t=True
    )
    assert result.statistic == pytest.approx(fitted.tvalues["first"], rel=1e-9)
    a, b = (data.loc[data["first"] == group, "y"].to_numpy() for group in (True, False))
    assert effect == pytest.approx(fitted.params["first"] * cohens_d(a, b) / (a.mean() - b.mean()), rel=1e-9)
    assert result.p is not None  # one-sided
    assert 2 * result.p == pytest.approx(fitted.pvalues["first"], rel=1e-9)


@pytest.mark.parametrize(
    ("covariate", "reason"),
    [
        (np.full(24, 7.0), "length: no spread"),
        (np.tile([9.0, 9.0, 5.0, 5.0], 6), "length: follows from the predictors before it"),
    ],
)
def test_constant_or_collinear_covariate_is_untestable(covariate: NDArray[np.float64], reason: str) -> None:
    data = rows()
    result = adjusted_difference(data["y"], data["first"], ("length", covariate), data["entity"])
    assert result == ((None, None, reason), None)


@pytest.mark.parametrize(
    ("kind", "x", "y", "expected"),
    [
        # Deviations (-1, 0, 1) and (-1, -1, 2): r = 3 / sqrt(2 * 6). t = r sqrt(1 / (1 - r^2)) = sqrt(3) with one
        # degree of freedom: p = 1 - 2 arctan(sqrt(3)) / pi.
        ("pearson", [1, 2, 3], [1, 1, 4], (3 / math.sqrt(12), 1 / 3)),
        # Ranks 1 2 3 4 and 2 1 4 3: 1 - 6 (1 + 1 + 1 + 1) / (4 * 15) = 0.6.
        ("spearman", [1, 2, 3, 4], [20, 10, 1000, 30], (0.6, 0.4)),
    ],
)
def test_correlations_match_hand_worked_values(
    kind: Kind, x: list[float], y: list[float], expected: tuple[float, float]
) -> None:
    assert correlation(kind, x, y)[:2] == pytest.approx(expected)


def test_correlation_of_a_line_is_exactly_one() -> None:
    x = np.arange(6) * 0.1  # without a bound, rounding gives 1 + 2e-16, and p is NaN
    assert correlation("pearson", x, 3 * x + 0.7)[:2] == (1.0, 0.0)
    assert correlation("pearson", x, -3 * x - 0.7)[:2] == (-1.0, 0.0)


@pytest.mark.parametrize("kind", ["pearson", "spearman"])
def test_few_or_constant_values_are_untestable(kind: Kind) -> None:
    assert correlation(kind, [1, 2], [3, 4]) == (None, None, "too few pairs")
    assert correlation(kind, [1, 1, 1], [1, 2, 3]) == (None, None, "no spread")
    assert correlation(kind, [1, 2, 3], [0.1 + 0.2, 0.3, 0.3]) == (None, None, "no spread")


def test_unpaired_and_nan_values_are_refused() -> None:
    with pytest.raises(ValueError, match="vectors of equal length"):
        correlation("pearson", [1, 2, 3], [1, 2])
    with pytest.raises(ScoreError):
        correlation("spearman", [1, 2, float("nan")], [1, 2, 3])


def test_interval_of_rho_matches_hand_worked_values() -> None:
    # artanh(0.5) = 0.5493; 1.96 sqrt((1 + 0.25 / 2) / 25) = 0.4158: tanh(0.1335) and tanh(0.9651).
    assert spearman_interval(0.5, 28) == pytest.approx((0.1327, 0.7465), abs=1e-4)
    assert spearman_interval(-0.5, 28) == pytest.approx((-0.7465, -0.1327), abs=1e-4)
    assert [spearman_interval(rho, n) for rho, n in ((None, 28), (0.5, 3), (1.0, 28))] == [(None, None)] * 3
