"""The standard error of a score of K sampled answers, estimated from halves of them.

    SE = sqrt(m / (K - m)) * the standard deviation of the score over random halves of m = floor(K/2) answers
A half is drawn without replacement and its answers are grouped again. The mean of m of K numbers with the variance s^2
has, over such halves, the variance (s^2/m) (1 - m/K); the mean of all K has, over new samples, s^2/K: m / (K - m) of
it. That is 1 where K is even, so the standard deviation of halves is the standard error. For scores that are not means
it holds roughly: of ten answers of a known process it was on average 0.76 to 1.31 times the true value.
What it is not: a bootstrap, whose samples repeat answers, so that they have fewer groups than a real sample. It does
not include bias, since a score of more answers may differ, nor meanings that were not sampled: where all answers agree,
or no two of them, so do those of every half, and an entropy of groups has the error 0.
Source: this project, after the subsampling (delete-d jackknife) of Shao and Wu 1989.
"""

import numpy as np
from numpy.typing import ArrayLike

from swaymeter.data.errors import ScoreError, UsageError
from swaymeter.data.randomness import typed_generator


def draw_halves(answers: int, count: int, seed: int, *identity: str | int) -> list[list[int]]:
    """The answers' numbers in each of `count` random halves, in order; [] for fewer than two answers.

    identity: of the prompt, such as question and condition. Draws depend only on it, the seed and a half's number, so
    that the first of more halves are the same. Raises UsageError for a count that is negative or 1.
    """
    if count < 0 or count == 1:
        raise UsageError(f"{count} half-samples give no standard error; use 0 for none, or at least 2")
    if answers < 2:
        return []
    points = typed_generator(seed, "half-samples", *identity).random((count, answers))
    chosen = np.sort(np.argsort(points, axis=1, kind="stable")[:, : answers // 2], axis=1)
    return [[int(number) for number in half] for half in chosen]


def standard_error(scores: ArrayLike, answers: int) -> float | None:
    """The standard error of a score of `answers` answers, in the score's unit; None without halves.

    scores: (h,), the score of each half of `draw_halves`. Raises ScoreError where one is not finite.
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
