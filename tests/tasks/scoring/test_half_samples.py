"""Standard errors from halves of the answers, by hand."""

from itertools import combinations

import numpy as np
import pytest

from swaymeter.data.errors import ScoreError, UsageError
from swaymeter.tasks.scoring.half_samples import draw_halves, standard_error


def test_a_half_has_half_of_the_answers_in_order() -> None:
    for answers, size in ((2, 1), (5, 2), (10, 5)):
        for half in draw_halves(answers, 20, 3, "q"):
            assert len(half) == size
            assert half == sorted(set(half))
            assert set(half) <= set(range(answers))


def test_every_half_is_as_likely() -> None:
    halves = [tuple(half) for half in draw_halves(4, 6000, 0, "q")]
    times = [halves.count(half) for half in combinations(range(4), 2)]
    assert sum(times) == 6000
    assert max(abs(time - 1000) for time in times) < 150  # five standard deviations


def test_halves_depend_on_seed_and_identity_alone() -> None:
    halves = draw_halves(10, 20, 7, "q1", "none")
    assert draw_halves(10, 20, 7, "q1", "none") == halves
    assert draw_halves(10, 50, 7, "q1", "none")[:20] == halves
    others = [draw_halves(10, 20, *one) for one in ((8, "q1", "none"), (7, "q2", "none"), (7, "q1", "original"))]
    assert all(other != halves for other in others)


def test_one_answer_has_no_halves_and_no_standard_error() -> None:
    assert draw_halves(1, 50, 0, "q") == draw_halves(0, 50, 0, "q") == draw_halves(10, 0, 0, "q") == []
    assert standard_error([], 1) is None


def test_halves_that_show_no_spread_are_refused() -> None:
    for count in (-1, 1):
        with pytest.raises(UsageError, match=f"{count} half-samples"):
            draw_halves(10, count, 0, "q")
    with pytest.raises(ScoreError, match="half-sample 1 has the score nan"):
        standard_error([1.0, float("nan")], 10)


@pytest.mark.parametrize("answers", [2, 3, 9, 10])
def test_error_of_a_mean_is_its_standard_error(answers: int) -> None:
    values = np.random.default_rng(answers).normal(size=answers)
    halves = list(combinations(range(answers), answers // 2))
    means = [values[list(half)].mean() for half in halves]
    sample = values.std(ddof=1) / np.sqrt(answers)
    known = np.sqrt((len(halves) - 1) / len(halves))  # all halves are there, not a sample of them
    assert standard_error(means, answers) == pytest.approx(sample / known)
