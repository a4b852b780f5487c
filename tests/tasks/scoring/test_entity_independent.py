"""Worked by hand; a bound, an identity, and what is degenerate."""

import math

import numpy as np
import pytest

from swaymeter.data.errors import ScoreError, UsageError
from swaymeter.tasks.scoring.entity_independent import entity_independent_persuasion, entity_independent_susceptibility

SCORES = [[0.0, 0.2, 0.4], [0.6, 0.2, 0.1]]  # two entities, three contexts


def test_scores_by_hand() -> None:
    np.testing.assert_allclose(entity_independent_persuasion(SCORES), [0.3, 0.2, 0.25], atol=1e-15)
    assert entity_independent_susceptibility(SCORES) == pytest.approx(0.25)
    twice = [[*row, row[0]] for row in SCORES]  # a context that occurs twice weighs twice
    assert entity_independent_susceptibility(twice) == pytest.approx((0.3 + 0.2 + 0.25 + 0.3) / 4)
    assert entity_independent_persuasion(SCORES[:1]).tolist() == SCORES[0]


def test_a_mean_of_bounded_scores_is_bounded() -> None:
    kappa = entity_independent_persuasion(np.random.default_rng(0).uniform(0, math.log(5), (7, 5)))
    assert kappa.shape == (5,)
    assert ((kappa >= 0) & (kappa <= math.log(5))).all()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3,)])
def test_no_entity_or_no_context_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="entities x contexts"):
        entity_independent_persuasion(np.zeros(shape))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_score_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(ScoreError, match="entity 1 by context 2"):
        entity_independent_susceptibility([[0.1, 0.1, 0.1], [0.1, 0.1, value]])
