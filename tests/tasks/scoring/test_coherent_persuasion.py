from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import rel_entr

from data.errors import InputError, ScoreError
from tasks.scoring import coherent_persuasion as module
from tasks.scoring.coherent_persuasion import GroupedAnswers, coherent_persuasion, coherent_persuasions
from tasks.scoring.half_samples import draw_halves
from tasks.scoring.semantic_entropy import group_answers


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
    with pytest.raises(ScoreError, match="is inf: p_context can have tokens that cannot occur in p_query"):
        coherent_persuasion([[1.0, 0.0]], [[0]], [[0.5, 0.5]], [[0]])


def test_a_token_is_lost_only_where_no_answer_of_a_group_can_give_it() -> None:
    without, within = [[1.0, 0.0], [0.5, 0.5]], [[0.75, 0.25]]
    assert coherent_persuasion(without, [[0, 1]], within, [[0]]) == pytest.approx(0)
    with pytest.raises(ScoreError, match="inf"):
        coherent_persuasion(without, [[0], [1]], within, [[0]])


def test_the_smallest_probabilities_are_not_taken_for_none() -> None:
    tiny = float(np.float32(1e-45))
    score = coherent_persuasion([[1 - tiny, tiny], [1.0, 0.0]], [[0, 1]], [[0.5, 0.5]], [[0]])
    assert score == pytest.approx(0.5 * np.log(0.5) + 0.5 * np.log(0.5 / (tiny / 2)))


def _answers(name: str, seed: int, *, halves: int = 12, vocabulary: int = 40) -> GroupedAnswers:
    """Nine answers, two of them equal, in three meanings and a pair that is equivalent to two of these."""
    random = np.random.default_rng(seed)
    rows = list(random.dirichlet(np.full(vocabulary, 0.3), size=8).astype(np.float32))
    meaning = random.integers(0, 3, size=9)
    equivalent = meaning[:, None] == meaning
    equivalent[0, 1] = equivalent[1, 0] = True
    regrouped = [group_answers(equivalent, half) for half in draw_halves(9, halves, seed, name)]
    return GroupedAnswers(name, [*rows, rows[3]], group_answers(equivalent), regrouped)


def _by_pairs(without: GroupedAnswers, within: GroupedAnswers, half: int | None = None) -> float:
    """The score as Eq. 4 has it, pair by pair."""
    groupings = [side.groups if half is None else side.halves[half] for side in (without, within)]
    means = [
        [np.mean([np.float64(side.distributions[member]) for member in group], axis=0) for group in groups]
        for side, groups in zip((without, within), groupings, strict=True)
    ]
    return float(np.mean([rel_entr(h / h.sum(), g / g.sum()).sum() for g in means[0] for h in means[1]]))


@pytest.mark.parametrize("block", [7, 40, 2048])
def test_scores_and_errors_are_those_of_every_half_by_itself(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    without, contexts = _answers("without", 1), [_answers("original", 2), _answers("counter_memory", 3)]
    for made, within in zip(coherent_persuasions(without, contexts), contexts, strict=True):
        assert made.score == pytest.approx(_by_pairs(without, within), abs=1e-7)
        of_halves = [_by_pairs(without, within, half) for half in range(12)]
        assert made.standard_error == pytest.approx(np.std(of_halves, ddof=1) * np.sqrt(4 / 5), abs=1e-7)


def test_without_half_samples_there_is_the_same_score_and_no_error() -> None:
    sides = [_answers("without", 1), _answers("with", 2)]
    (made,), (plain,) = (
        coherent_persuasions(first, [second]) for first, second in (sides, [replace(one, halves=()) for one in sides])
    )
    assert (plain.score, plain.standard_error) == (made.score, None)


def test_answers_that_are_all_alike_have_no_error() -> None:
    row = np.array([0.5, 0.5])
    side = GroupedAnswers("alike", [row] * 4, [[0, 1, 2, 3]], [[[0, 1]], [[2, 3]], [[0, 3]]])
    assert coherent_persuasions(side, [side])[0].standard_error == 0


def test_a_half_sample_that_is_infinite_is_named_with_the_answers_and_what_to_do() -> None:
    without = GroupedAnswers("none", [np.array([1.0, 0.0]), np.array([0.5, 0.5])], [[0, 1]], [[[1]], [[0]]])
    within = GroupedAnswers("original", [np.array([0.5, 0.5])] * 2, [[0, 1]], [[[1]], [[0]]])
    with pytest.raises(ScoreError, match=r"of half-sample 1 is inf: original .* in none; half_samples: 0"):
        coherent_persuasions(without, [within])


def test_half_samples_that_do_not_fit_each_other_are_refused() -> None:
    without = _answers("without", 1)
    with pytest.raises(InputError, match="without has 12 half-samples of 9 answers and with 11 of 9"):
        coherent_persuasions(without, [_answers("with", 2, halves=11)])
    fewer = GroupedAnswers("with", without.distributions[:8], [list(range(8))], [[[0]]] * 12)
    with pytest.raises(InputError, match="12 half-samples of 9 answers and with 12 of 8"):
        coherent_persuasions(without, [fewer])


@pytest.mark.parametrize("row", [[0.5, 0.6], [1.5, -0.5], [float("nan"), 1.0]])
def test_rows_that_are_no_distributions_are_refused(row: list[float]) -> None:
    with pytest.raises(InputError, match="row 0 of p_context"):
        coherent_persuasion([[0.5, 0.5]], [[0]], [row], [[0]])


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="one vocabulary"):
        coherent_persuasion([[0.5, 0.5]], [[0]], [[1.0]], [[0]])
    with pytest.raises(InputError, match="one row per answer"):
        coherent_persuasion([0.5, 0.5], [[0]], [[1.0]], [[0]])
    with pytest.raises(InputError, match="of p_query are not of one length"):
        coherent_persuasion([[0.5, 0.5], [1.0]], [[0], [1]], [[1.0]], [[0]])
    with pytest.raises(InputError, match="once"):
        coherent_persuasion([[0.5, 0.5]], [[0], [1]], [[0.5, 0.5]], [[0]])
