"""The adjusted difference of groups, against least squares worked out here and against statsmodels' formulas."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from numpy.typing import NDArray
from scipy import stats

from swaymeter.tasks.statistics.formulas.groups import cohens_d
from swaymeter.tasks.statistics.formulas.regression import adjusted_difference


def rows(entities: int = 12) -> pd.DataFrame:
    """Two queries an entity that depend on each other; invented ones have longer names."""
    rng = np.random.default_rng(3)
    entity = np.arange(entities).repeat(2)
    first = entity % 2 == 0
    length = 5 + 4 * first + rng.integers(0, 6, entities)[entity]
    y = 0.4 * first + 0.1 * length + rng.normal(0, 0.3, entities)[entity] + rng.normal(0, 0.1, 2 * entities)
    return pd.DataFrame({"y": y, "first": first, "length": length, "entity": entity})


def by_hand(data: pd.DataFrame) -> tuple[float, float]:
    """Difference and t by the sandwich of sums over clusters."""
    x: NDArray[np.float64] = np.column_stack([np.ones(len(data)), data["first"], data["length"]]).astype(float)
    inverse = np.linalg.inv(x.T @ x)
    params = inverse @ x.T @ data["y"].to_numpy()
    scores = x * (data["y"].to_numpy() - x @ params)[:, None]
    sums = np.array([scores[data["entity"] == entity].sum(axis=0) for entity in data["entity"].unique()])
    clusters, (n, k) = len(sums), x.shape
    correction = clusters / (clusters - 1) * (n - 1) / (n - k)
    covariance = correction * inverse @ sums.T @ sums @ inverse
    return float(params[1]), float(params[1] / np.sqrt(covariance[1, 1]))


def test_the_adjusted_difference_is_that_of_the_sandwich_by_hand() -> None:
    data = rows()
    result, effect = adjusted_difference(data["y"], data["first"], ("length", data["length"]), data["entity"])
    difference, t = by_hand(data)
    a, b = (data.loc[data["first"] == group, "y"].to_numpy() for group in (True, False))
    assert result.statistic == pytest.approx(t, rel=1e-9)
    assert result.p == pytest.approx(stats.t.sf(t, 11), rel=1e-9)
    assert effect == pytest.approx(difference * cohens_d(a, b) / (a.mean() - b.mean()), rel=1e-9)


def test_the_adjusted_difference_is_that_of_statsmodels() -> None:
    data = rows()
    result, _ = adjusted_difference(data["y"], data["first"], ("length", data["length"]), data["entity"])
    fitted = smf.ols("y ~ first + length", data.astype({"first": float})).fit(
        cov_type="cluster", cov_kwds={"groups": data["entity"]}, use_t=True
    )
    assert result.statistic == pytest.approx(fitted.tvalues["first"], rel=1e-9)
    assert 2 * float(result.p or 0) == pytest.approx(fitted.pvalues["first"], rel=1e-9)


@pytest.mark.parametrize(
    ("covariate", "reason"),
    [
        (np.full(24, 7.0), "length: no spread"),
        (np.tile([9.0, 9.0, 5.0, 5.0], 6), "length: follows from the predictors before it"),
    ],
)
def test_a_covariate_that_cannot_be_held_is_untestable(covariate: NDArray[np.float64], reason: str) -> None:
    data = rows()
    result = adjusted_difference(data["y"], data["first"], ("length", covariate), data["entity"])
    assert result == ((None, None, reason), None)
