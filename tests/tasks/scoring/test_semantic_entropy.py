from typing import Any

import numpy as np
import pytest

from swaymeter.data.errors import InputError, ScoreError, UnknownName
from swaymeter.tasks.measures.clusters import KINDS as COLUMNS
from swaymeter.tasks.scoring.half_samples import draw_halves
from swaymeter.tasks.scoring.semantic_entropy import (
    KINDS,
    group_answers,
    last_group_of_each,
    semantic_entropy,
    semantic_entropy_error,
)


@pytest.mark.parametrize("number", range(8))
def test_groups_and_entropies_agree_with_the_reference(number: int, oracle: Any) -> None:
    case = oracle["answers"]["semantic_entropy"][number]
    entails = np.array(case["entails"])
    groups = group_answers(entails & entails.T)
    assert groups == case["groups"]
    for kind in KINDS:
        entropy = semantic_entropy(case["token_log_probs"], groups, kind=kind)
        assert entropy == pytest.approx(case[COLUMNS[kind]], abs=1e-6)


def test_answer_joins_first_group_of_equivalent_answers() -> None:
    # 0 ~ 1 ~ 2, but not 0 ~ 2
    assert group_answers(equivalence(4, (0, 1), (1, 2), (1, 3), (2, 3))) == [[0, 1], [2, 3]]


def equivalence(answers: int, *pairs: tuple[int, int]) -> Any:
    equivalent = np.eye(answers, dtype=bool)
    for first, second in pairs:
        equivalent[first, second] = equivalent[second, first] = True
    return equivalent


def test_overlapping_groups_follow_the_answer_that_joined_last() -> None:
    path = equivalence(3, (0, 1), (1, 2))
    assert group_answers(path, grouping="overlapping") == [[0, 1], [1, 2]]
    assert last_group_of_each([[0, 1], [1, 2]]) == [[0], [1, 2]]
    # 1 and 3 are not equivalent. But 3 is equivalent to 0, which opens the group, and to 2, which joined last.
    chain = equivalence(4, (0, 1), (0, 2), (0, 3), (1, 2), (2, 3))
    assert group_answers(chain, grouping="overlapping") == [[0, 1, 2, 3], [0, 1, 2], [0, 2, 3]]
    assert last_group_of_each([[0, 1, 2, 3], [0, 1, 2], [0, 2, 3]]) == [[1], [0, 2, 3]]
    assert group_answers(chain, [1, 3], grouping="overlapping") == [[1], [3]]
    assert group_answers(np.ones((3, 3), dtype=bool), grouping="overlapping") == [[0, 1, 2]]


def test_later_groups_take_equivalent_answers_over() -> None:
    # 0 takes 1 and 3. No group has 2, so 2 opens a group and takes 3 over. 4 is alone.
    chain = equivalence(5, (0, 1), (0, 3), (1, 2), (2, 3))
    assert group_answers(chain, grouping="first_member") == [[0, 1], [2, 3], [4]]
    assert group_answers(chain, [1, 3, 2], grouping="first_member") == [[1], [3, 2]]
    assert group_answers(chain) == [[0, 1], [2, 3], [4]]
    assert group_answers(equivalence(4, (0, 3), (2, 3)), grouping="first_member") == [[0], [1], [2, 3]]
    # Members need not be equivalent to each other.
    assert group_answers(equivalence(3, (0, 1), (0, 2)), grouping="first_member") == [[0, 1, 2]]
    assert group_answers(equivalence(3, (0, 1), (0, 2))) == [[0, 1], [2]]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3), dtype=bool), "a row and a column for each answer"),
        (np.array([[True, True], [False, True]]), "symmetric, but answers 0 and 1"),
        (np.array([[True, False], [False, False]]), "itself"),
        (np.eye(2), "true or false"),
    ],
)
def test_matrices_that_are_no_equivalence_are_refused(matrix: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        group_answers(matrix)
    assert group_answers(np.zeros((0, 0), dtype=bool)) == []


def test_entropies_match_hand_worked_values() -> None:
    # p = 1/2, 1/4, 1/8; the first two answers have one meaning: -(log 3/4 + log 1/8) / 2
    log_probs = [[np.log(0.5)], [np.log(0.5), np.log(0.5)], [np.log(0.125)]]
    groups = [[0, 1], [2]]
    assert semantic_entropy(log_probs, groups) == pytest.approx(-(np.log(0.75) + np.log(0.125)) / 2)
    # normalised by length: 1/2, 1/2, 1/8; groups: 1 and 1/8, renormalised: 8/9 and 1/9
    assert semantic_entropy(log_probs, groups, kind="length_normalised") == pytest.approx(-np.log(0.125) / 2)
    rao = -(8 / 9) * np.log(8 / 9) - (1 / 9) * np.log(1 / 9)
    assert semantic_entropy(log_probs, groups, kind="rao") == pytest.approx(rao)
    sizes = -(2 / 3) * np.log(2 / 3) - (1 / 3) * np.log(1 / 3)
    assert semantic_entropy(log_probs, groups, kind="assignment") == pytest.approx(sizes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("answers", [9, 10])
def test_errors_are_the_spread_of_halves(kind: str, answers: int) -> None:
    random = np.random.default_rng(8)
    log_probs = [list(np.log(random.random(size=random.integers(1, 6)))) for _ in range(answers)]
    meaning = random.integers(0, 4, size=answers)
    equivalent = meaning[:, None] == meaning
    halves = draw_halves(answers, 15, 0, "q")
    entropies = [
        semantic_entropy(
            [log_probs[answer] for answer in half], group_answers(equivalent[np.ix_(half, half)]), kind=kind
        )
        for half in halves
    ]
    correction = {9: np.sqrt(4 / 5), 10: 1.0}[answers]  # a half has 4 of 9 answers, or 5 of 10
    error = semantic_entropy_error(log_probs, [group_answers(equivalent, half) for half in halves], kind=kind)
    assert error == pytest.approx(np.std(entropies, ddof=1) * correction)


def test_bounds_are_reached() -> None:
    together, apart = [list(range(10))], [[answer] for answer in range(10)]
    assert semantic_entropy([[0.0]] * 10, together) == pytest.approx(-np.log(10))
    for kind in ("rao", "assignment"):
        assert semantic_entropy([[0.0]] * 10, together, kind=kind) == 0
        assert semantic_entropy([[-2.0]] * 10, apart, kind=kind) == pytest.approx(np.log(10))


def test_entropy_of_improbable_answers_is_finite() -> None:
    long = [[-100.0] * 20, [-120.0] * 20]
    assert semantic_entropy(long, [[0], [1]]) == pytest.approx(2200)
    assert semantic_entropy(long, [[0], [1]], kind="rao") == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("groups", [[[0]], [[0, 1], [1]], [[0], [1], []], [[0, 1, 2]]])
def test_groups_need_each_answer_once(groups: list[list[int]]) -> None:
    with pytest.raises(InputError, match="once"):
        semantic_entropy([[-1.0], [-2.0]], groups)


def test_answers_without_an_entropy_are_refused() -> None:
    with pytest.raises(UnknownName, match="length_normalised"):
        semantic_entropy([[-1.0]], [[0]], kind="length_normalized")
    with pytest.raises(InputError, match="answer 1 has no token"):
        semantic_entropy([[-1.0], []], [[0, 1]])
    with pytest.raises(ScoreError, match="answer 1"):
        semantic_entropy([[-1.0], [float("nan")]], [[0, 1]])
    with pytest.raises(InputError, match="no answers"):
        semantic_entropy([], [])
