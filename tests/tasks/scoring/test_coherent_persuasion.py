from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import rel_entr

from swaymeter.data.errors import InputError, ScoreError
from swaymeter.tasks.scoring import coherent_persuasion as module
from swaymeter.tasks.scoring.coherent_persuasion import (
    GroupedAnswers,
    between_halves,
    coherent_persuasion,
    coherent_persuasions,
)
from swaymeter.tasks.scoring.half_samples import draw_halves
from swaymeter.tasks.scoring.semantic_entropy import group_answers

KL = 0.75 * np.log(1.5) + 0.25 * np.log(0.5)  # of (3/4, 1/4) from (1/2, 1/2)
TINY = float(np.float32(1e-45))  # the smallest float32


@pytest.mark.parametrize("number", range(4))
def test_score_agrees_with_the_reference(number: int, oracle: Any) -> None:
    case = oracle["answers"]["coherent_persuasion"][number]
    score = coherent_persuasion(case["p_query"], case["groups_query"], case["p_context"], case["groups_context"])
    assert score == pytest.approx(case["coherent_persuasion"], abs=1e-6)


@pytest.mark.parametrize(
    ("without", "groups_without", "with_context", "groups_with", "expected"),
    [
        ([[0.5, 0.5]], [[0]], [[0.75, 0.25]], [[0]], KL),
        ([[1.0, 0.0], [0.0, 1.0]], [[0, 1]], [[0.5, 0.5], [0.75, 0.25]], [[0], [1]], KL / 2),
        ([[0.5, 0.5]], [[0]], [[1.0, 0.0]], [[0]], np.log(2)),  # 0 log 0 = 0
        ([[1.0, 0.0], [0.5, 0.5]], [[0, 1]], [[0.75, 0.25]], [[0]], 0),  # the mean of the group is (3/4, 1/4), too
        ([[1 - TINY, TINY], [1.0, 0.0]], [[0, 1]], [[0.5, 0.5]], [[0]], np.log(0.5) - 0.5 * np.log(TINY / 2)),
        # groups with the context: means (3/4, 1/4) and (1, 0); group without it: mean (1/2, 1/2)
        ([[0.5, 0.5]], [[0]], [[1.0, 0.0], [0.5, 0.5]], [[0, 1], [0]], (KL + np.log(2)) / 2),
    ],
    ids=["one pair", "means before pairs", "zero in the context", "no change", "the smallest float32", "overlap"],
)
def test_scores_match_hand_worked_values(
    without: Any, groups_without: list[list[int]], with_context: Any, groups_with: list[list[int]], expected: float
) -> None:
    score = coherent_persuasion(without, groups_without, with_context, groups_with)
    assert score == pytest.approx(expected, abs=1e-15)


def test_score_is_asymmetric_and_zero_for_equal_answers() -> None:
    assert coherent_persuasion([[0.75, 0.25]], [[0]], [[0.5, 0.5]], [[0]]) != pytest.approx(KL)
    rows = np.random.default_rng(1).dirichlet(np.ones(50), size=4).astype(np.float32)
    assert coherent_persuasion(rows, [[0, 1, 2, 3]], rows, [[0, 1, 2, 3]]) == 0


def test_halves_of_closed_book_answers_are_compared() -> None:
    equal, different = [[0.5, 0.5]] * 4, [[0.5, 0.5], [0.75, 0.25]] * 2
    halves, other_halves = [[[0, 1]], [[0, 3]]], [[[2, 3]], [[1, 2]]]
    assert between_halves(GroupedAnswers("a", equal, [[0, 1, 2, 3]], halves), other_halves) == 0
    # Each half has two groups. Two of the four pairs of groups have equal distributions.
    halves, other_halves = [[[0], [1]], [[0], [3]]], [[[2], [3]], [[2], [1]]]
    reverse = -0.5 * np.log(0.75 / 0.5) - 0.5 * np.log(0.25 / 0.5)  # KL of (1/2, 1/2) from (3/4, 1/4)
    score = between_halves(GroupedAnswers("a", different, [[0, 2], [1, 3]], halves), other_halves)
    assert score == pytest.approx((KL + reverse) / 4)
    assert between_halves(GroupedAnswers("a", equal, [[0, 1, 2, 3]]), []) is None


def test_infinite_score_is_refused() -> None:
    with pytest.raises(ScoreError, match="is inf: p_context can have tokens that cannot occur in p_query"):
        coherent_persuasion([[1.0, 0.0], [0.5, 0.5]], [[0], [1]], [[0.75, 0.25]], [[0]])


def _answers(name: str, seed: int, *, halves: int = 12, vocabulary: int = 40) -> GroupedAnswers:
    """Return nine answers with up to three meanings.

    Answers 0 and 1 are equivalent even if their meanings differ. Answers 3 and 8 have equal distributions.
    """
    random = np.random.default_rng(seed)
    rows = list(random.dirichlet(np.full(vocabulary, 0.3), size=8).astype(np.float32))
    meaning = random.integers(0, 3, size=9)
    equivalent = meaning[:, None] == meaning
    equivalent[0, 1] = equivalent[1, 0] = True
    regrouped = [group_answers(equivalent, half) for half in draw_halves(9, halves, seed, name)]
    return GroupedAnswers(name, [*rows, rows[3]], group_answers(equivalent), regrouped)


def _by_pairs(without: GroupedAnswers, with_context: GroupedAnswers, half: int | None = None) -> float:
    """Return the score by Eq. 4 of Marjanović et al. 2024, pair by pair."""
    groupings = [side.groups if half is None else side.halves[half] for side in (without, with_context)]
    means = [
        [np.mean([np.float64(side.distributions[member]) for member in group], axis=0) for group in groups]
        for side, groups in zip((without, with_context), groupings, strict=True)
    ]
    return float(np.mean([rel_entr(h / h.sum(), g / g.sum()).sum() for g in means[0] for h in means[1]]))


@pytest.mark.parametrize("block", [7, 40, 2048])
def test_scores_and_errors_match_pairs_of_groups(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    without, contexts = _answers("without", 1), [_answers("original", 2), _answers("counter_memory", 3)]
    for (score, error), with_context in zip(coherent_persuasions(without, contexts), contexts, strict=True):
        assert score == pytest.approx(_by_pairs(without, with_context), abs=1e-7)
        scores_of_halves = [_by_pairs(without, with_context, half) for half in range(12)]
        correction = np.sqrt(4 / 5)  # a half has 4 of 9 answers
        assert error == pytest.approx(np.std(scores_of_halves, ddof=1) * correction, abs=1e-7)


def test_without_half_samples_the_score_has_no_error() -> None:
    without, with_context = _answers("without", 1), _answers("with", 2)
    ((score, _),) = coherent_persuasions(without, [with_context])
    assert coherent_persuasions(replace(without, halves=()), [replace(with_context, halves=())]) == [(score, None)]


def test_an_infinite_half_sample_is_named() -> None:
    without = GroupedAnswers("none", [np.array([1.0, 0.0]), np.array([0.5, 0.5])], [[0, 1]], [[[1]], [[0]]])
    with_context = GroupedAnswers("original", [np.array([0.5, 0.5])] * 2, [[0, 1]], [[[1]], [[0]]])
    with pytest.raises(ScoreError, match=r"of half-sample 1 is inf: original .* in none; set half_samples to 0"):
        coherent_persuasions(without, [with_context])


def test_unmatched_half_samples_are_refused() -> None:
    without = _answers("without", 1)
    with pytest.raises(InputError, match="without has 12 half-samples and 9 answers, but with has 11"):
        coherent_persuasions(without, [_answers("with", 2, halves=11)])
    fewer = GroupedAnswers("with", without.distributions[:8], [list(range(8))], [[[0]]] * 12)
    with pytest.raises(InputError, match="12 half-samples and 9 answers, but with has 12 half-samples and 8"):
        coherent_persuasions(without, [fewer])


@pytest.mark.parametrize(
    ("p_query", "groups", "p_context", "message"),
    [
        ([[0.5, 0.5]], [[0]], [[1.0]], "each token of the same vocabulary"),
        *(([[0.5, 0.5]], [[0]], [row], "row 0 of p_context") for row in ([0.5, 0.6], [1.5, -0.5], [float("nan"), 1.0])),
        ([0.5, 0.5], [[0]], [[1.0]], "one row per answer"),
        ([[0.5, 0.5], [1.0]], [[0], [1]], [[1.0]], "of p_query have different lengths"),
        ([[0.5, 0.5]], [[0], [1]], [[0.5, 0.5]], "contain each answer from 0 to 0, but no answer twice"),
        ([[0.5, 0.5]], [[0, 0]], [[0.5, 0.5]], "contain each answer from 0 to 0, but no answer twice"),
    ],
)
def test_invalid_arrays_and_groups_are_refused(
    p_query: Any, groups: list[list[int]], p_context: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        coherent_persuasion(p_query, groups, p_context, [[0]])
