from typing import Any

import numpy as np
import pytest

from data.errors import InputError, ScoreError
from tasks.scoring.coherent_persuasion import coherent_persuasion


@pytest.mark.parametrize("place", range(4))
def test_score_agrees_with_the_reference(place: int, oracle_answers: Any) -> None:
    case = oracle_answers["coherent_persuasion"][place]
    found = coherent_persuasion(case["p_query"], case["groups_query"], case["p_context"], case["groups_context"])
    assert found == pytest.approx(case["coherent_persuasion"], abs=1e-6)


def test_score_by_hand_and_in_the_direction_of_the_context() -> None:
    without, within = [[0.5, 0.5]], [[0.75, 0.25]]
    by_hand = 0.75 * np.log(1.5) + 0.25 * np.log(0.5)
    assert coherent_persuasion(without, [[0]], within, [[0]]) == pytest.approx(by_hand)
    assert coherent_persuasion(within, [[0]], without, [[0]]) != pytest.approx(by_hand)


def test_groups_are_averaged_before_and_pairs_after() -> None:
    without = [[1.0, 0.0], [0.0, 1.0]]
    within = [[0.5, 0.5], [0.75, 0.25]]
    by_hand = (0 + 0.75 * np.log(1.5) + 0.25 * np.log(0.5)) / 2
    assert coherent_persuasion(without, [[0, 1]], within, [[0], [1]]) == pytest.approx(by_hand)


def test_context_that_changes_nothing_scores_zero() -> None:
    rows = np.random.default_rng(1).dirichlet(np.ones(50), size=4).astype(np.float32)
    assert coherent_persuasion(rows, [[0, 1, 2, 3]], rows, [[0, 1, 2, 3]]) == 0


def test_score_is_never_negative() -> None:
    random = np.random.default_rng(2)
    for _ in range(20):
        p, q = (random.dirichlet(np.ones(6), size=3) for _ in range(2))
        assert coherent_persuasion(p, [[0], [1, 2]], q, [[0, 2], [1]]) >= 0


def test_token_without_probability_in_the_context_adds_nothing() -> None:
    assert coherent_persuasion([[0.5, 0.5]], [[0]], [[1.0, 0.0]], [[0]]) == pytest.approx(np.log(2))


def test_infinite_score_is_refused() -> None:
    with pytest.raises(ScoreError, match="inf"):
        coherent_persuasion([[1.0, 0.0]], [[0]], [[0.5, 0.5]], [[0]])


@pytest.mark.parametrize("row", [[0.5, 0.6], [1.5, -0.5], [float("nan"), 1.0]])
def test_rows_that_are_no_distributions_are_refused(row: list[float]) -> None:
    with pytest.raises(InputError, match="row 0 of p_context"):
        coherent_persuasion([[0.5, 0.5]], [[0]], [row], [[0]])


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="one vocabulary"):
        coherent_persuasion([[0.5, 0.5]], [[0]], [[1.0]], [[0]])
    with pytest.raises(InputError, match="one row per answer"):
        coherent_persuasion([0.5, 0.5], [[0]], [[1.0]], [[0]])
    with pytest.raises(InputError, match="once"):
        coherent_persuasion([[0.5, 0.5]], [[0], [1]], [[0.5, 0.5]], [[0]])
