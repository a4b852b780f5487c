import itertools

import numpy as np
import pytest

from swaymeter.data.errors import ScoreError
from swaymeter.tasks.scoring.persuasion_bound import persuasion_bound

WEIGHTS = np.array([0.5, 0.25, 0.25])


def distributions(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(50, 0.3), size=3)


def likeliest(p: np.ndarray, count: int) -> list[dict[str, float]]:
    return [{str(token): float(np.log(row[token])) for token in np.argsort(-row)[:count]} for row in p]


@pytest.mark.parametrize("seed", range(5))
def test_bound_rises_with_tokens_to_exact_score(seed: int) -> None:
    p = distributions(seed)
    exact = (p * np.log(p / (WEIGHTS @ p))).sum(axis=1)
    bounds = [persuasion_bound(likeliest(p, count), WEIGHTS) for count in (1, 5, 20, 40, 50)]
    for less, more in itertools.pairwise(bounds):
        assert (less.scores <= more.scores + 1e-12).all()
    np.testing.assert_allclose(bounds[-1].scores, exact, atol=1e-9)
    assert bounds[2].tokens < 20  # fewer than 20 tokens are common to all contexts
    common = [int(token) for token in set.intersection(*map(set, likeliest(p, 20)))]
    assert bounds[2].mass[0] == pytest.approx(p[0][common].sum())


def test_bound_without_common_tokens_is_zero() -> None:
    bound = persuasion_bound([{"a": -0.1}, {"b": -0.1}, {"c": -0.1}], WEIGHTS)
    assert (bound.tokens, bound.scores.tolist()) == (0, [0.0, 0.0, 0.0])


@pytest.mark.parametrize("value", [0.5, float("nan")])
def test_value_that_is_no_probability_is_refused(value: float) -> None:
    with pytest.raises(ScoreError, match="must sum to at most 1"):
        persuasion_bound([{"a": value}, {"a": -1.0}], [0.5, 0.5])
