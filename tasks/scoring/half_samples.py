"""How far a score of K sampled answers would scatter if they were drawn anew, told by halves of them.

    SE = sqrt(m / (K - m)) * the standard deviation of the score over random halves of m = floor(K/2) answers
A half is drawn without replacement and its answers are grouped anew. The mean of m of K numbers with the variance s^2
has, over such halves, the variance (s^2/m) (1 - m/K); the mean of all K has, over new samples, s^2/K: m / (K - m) of
it. That is 1 where K is even, so the spread of halves is the standard error as it stands. For scores that are no means
it holds roughly: of ten answers of a known process it was on average 0.76 to 1.31 times the truth.
What it is not: a bootstrap, whose samples repeat answers, so that they hold fewer groups than a real one. It knows
nothing of bias, for a score of more answers may lie elsewhere, and nothing of meanings that were not drawn: where all
answers agree, or no two of them, so do those of every half, and an entropy of groups has the error 0.
Source: ours; the subsampling (delete-d jackknife) of Shao and Wu 1989.
"""

import numpy as np
from numpy.typing import ArrayLike

from data.errors import ScoreError, UsageError
from tasks.scoring.generation.sampling import uniforms


def draw_halves(answers: int, count: int, seed: int, *identity: str | int) -> list[list[int]]:
    """The answers' numbers in each of `count` random halves, in order; none where fewer than two can be parted.

    identity: what the answers are to, such as question and condition; with seed and a half's own number it is all the
    randomness there is, so more halves begin with the same ones. Raises UsageError for a count that cannot be.
    """
    if count < 0 or count == 1:
        raise UsageError(f"{count} half-samples were asked for; use 0 for none, or enough to tell how far they scatter")
    if answers < 2:
        return []
    points = uniforms(count * answers, seed, "half-samples", *identity).reshape(count, answers)
    chosen = np.sort(np.argsort(points, axis=1, kind="stable")[:, : answers // 2], axis=1)
    return [[int(number) for number in half] for half in chosen]


def standard_error(scores: ArrayLike, answers: int) -> float | None:
    """The standard error of a score of `answers` answers, in the score's unit; None where there are no halves.

    scores: (h,), the score of each half that draw_halves gave. Raises ScoreError where one of them is not finite.
    """
    of_halves = np.asarray(scores, dtype=np.float64)
    if len(of_halves) == 0:
        return None
    if not np.isfinite(of_halves).all():
        number = int(np.argmin(np.isfinite(of_halves)))
        raise ScoreError(
            f"half-sample {number} has the score {of_halves[number]}, so there is no standard error; "
            "half_samples: 0 leaves it out"
        )
    half = answers // 2
    return float(of_halves.std(ddof=1) * np.sqrt(half / (answers - half)))
