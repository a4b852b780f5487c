"""Worked by hand; a bound, an identity, and what is degenerate."""

import math

import numpy as np
import pytest

from data.errors import ScoreError, UsageError
from tasks.scoring.entity_independent import entity_independent_persuasion, entity_independent_susceptibility

SCORES = [[0.0, 0.2, 0.4], [0.6, 0.2, 0.1]]  # two entities, three contexts


def test_a_context_s_score_is_the_mean_over_the_entities() -> None:
    np.testing.assert_allclose(entity_independent_persuasion(SCORES), [0.3, 0.2, 0.25], atol=1e-15)


def test_susceptibility_is_the_mean_over_contexts_and_entities() -> None:
    assert entity_independent_susceptibility(SCORES) == pytest.approx(0.25)


def test_a_context_that_occurs_twice_weighs_twice() -> None:
    twice = [[*row, row[0]] for row in SCORES]
    assert entity_independent_susceptibility(twice) == pytest.approx((0.3 + 0.2 + 0.25 + 0.3) / 4)


def test_one_entity_keeps_its_own_scores() -> None:
    assert entity_independent_persuasion(SCORES[:1]).tolist() == SCORES[0]


def test_a_mean_of_bounded_scores_is_bounded() -> None:
    bound = math.log(5)
    scores = np.random.default_rng(0).uniform(0, bound, (7, 5))
    kappa = entity_independent_persuasion(scores)
    assert kappa.shape == (5,)
    assert (kappa >= 0).all()
    assert (kappa <= bound).all()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3,)])
def test_no_entity_or_no_context_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="entities x contexts"):
        entity_independent_persuasion(np.zeros(shape))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_score_that_is_none_is_named_by_its_place(value: float) -> None:
    with pytest.raises(ScoreError, match="entity 1 by context 2"):
        entity_independent_susceptibility([[0.1, 0.1, 0.1], [0.1, 0.1, value]])
