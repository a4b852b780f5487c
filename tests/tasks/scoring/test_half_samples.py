"""Standard errors from halves of the answers, against the formula for a mean and the spread over new samples."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from swaymeter.data.errors import ScoreError, UsageError
from swaymeter.tasks.scoring.coherent_persuasion import GroupedAnswers, coherent_persuasions
from swaymeter.tasks.scoring.half_samples import draw_halves, standard_error
from swaymeter.tasks.scoring.semantic_entropy import KINDS, group_answers, semantic_entropy, semantic_entropy_error


def test_half_has_half_of_answers_in_order() -> None:
    for answers, size in ((2, 1), (5, 2), (10, 5)):
        for half in draw_halves(answers, 20, 3, "q"):
            assert len(half) == size
            assert half == sorted(set(half))
            assert set(half) <= set(range(answers))


def test_all_halves_are_equally_likely() -> None:
    halves = [tuple(half) for half in draw_halves(4, 6000, 0, "q")]
    counts = [halves.count(half) for half in combinations(range(4), 2)]
    assert sum(counts) == 6000
    assert max(abs(count - 1000) for count in counts) < 150  # five standard deviations


def test_halves_depend_on_seed_and_identity_alone() -> None:
    halves = draw_halves(10, 20, 7, "q1", "none")
    assert draw_halves(10, 20, 7, "q1", "none") == halves
    assert draw_halves(10, 50, 7, "q1", "none")[:20] == halves
    others = [
        draw_halves(10, 20, *identity) for identity in ((8, "q1", "none"), (7, "q2", "none"), (7, "q1", "original"))
    ]
    assert all(other != halves for other in others)


def test_one_answer_has_no_standard_error() -> None:
    assert draw_halves(1, 50, 0, "q") == draw_halves(0, 50, 0, "q") == draw_halves(10, 0, 0, "q") == []
    assert standard_error([], 1) is None


def test_unusable_counts_and_scores_are_refused() -> None:
    for count in (-1, 1):
        with pytest.raises(UsageError, match=f"half_samples is {count}"):
            draw_halves(10, count, 0, "q")
    with pytest.raises(ScoreError, match="half-sample 1 has the score nan"):
        standard_error([1.0, float("nan")], 10)


@pytest.mark.parametrize("answers", [2, 3, 9, 10])
def test_error_of_a_mean_is_its_standard_error(answers: int) -> None:
    values = np.random.default_rng(answers).normal(size=answers)
    halves = list(combinations(range(answers), answers // 2))
    means = [values[list(half)].mean() for half in halves]
    expected = values.std(ddof=1) / np.sqrt(answers)
    # For all halves, the variance divides by their number. `standard_error` divides by the number less 1.
    correction = np.sqrt((len(halves) - 1) / len(halves))
    assert standard_error(means, answers) == pytest.approx(expected / correction)


def _draw_answers(
    random: np.random.Generator, shift: float = 0.0
) -> tuple[list[list[float]], np.ndarray, list[np.ndarray]]:
    """Return log-probabilities, equivalences and distributions of ten answers: four meanings, two wordings each.

    `shift` moves probability from the first meaning to the second.
    """
    weights = np.array([0.45, 0.3, 0.15, 0.1]) + shift * np.array([-1, 1, 0, 0])
    wordings = np.outer(weights, [0.6, 0.4]).ravel()
    answers = random.choice(8, size=10, p=wordings)
    distributions = np.eye(8) * 0.6 + 0.05
    return (
        [[float(np.log(wordings[answer]))] for answer in answers],
        (answers // 2)[:, None] == answers // 2,
        [distributions[answer] for answer in answers],
    )


def _check_errors(errors: Sequence[float | None], scores: Sequence[float]) -> None:
    """Check that the mean error is the spread of the scores, up to a factor of 1.5."""
    ratio = np.mean(np.array(errors, dtype=float)) / np.std(scores, ddof=1)
    assert 1 / 1.5 < ratio < 1.5


@pytest.mark.parametrize("kind", KINDS)
def test_errors_of_entropy_match_new_samples(kind: str) -> None:
    random = np.random.default_rng(5)
    scores, errors = [], []
    for number in range(150):
        log_probs, equivalent, _ = _draw_answers(random)
        halves = [group_answers(equivalent, half) for half in draw_halves(10, 30, 0, number)]
        scores.append(semantic_entropy(log_probs, group_answers(equivalent), kind=kind))
        errors.append(semantic_entropy_error(log_probs, halves, kind=kind))
    _check_errors(errors, scores)


def test_errors_of_coherent_persuasion_match_new_samples() -> None:
    random = np.random.default_rng(6)
    scores, errors = [], []
    for number in range(150):
        sides = []
        for name, shift in (("without", 0.0), ("with", 0.25)):
            _, equivalent, distributions = _draw_answers(random, shift)
            halves = [group_answers(equivalent, half) for half in draw_halves(10, 30, 0, number, name)]
            sides.append(GroupedAnswers(name, distributions, group_answers(equivalent), halves))
        ((score, error),) = coherent_persuasions(sides[0], sides[1:])
        scores.append(score)
        errors.append(error)
    _check_errors(errors, scores)
