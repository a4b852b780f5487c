"""Accuracy: whether an answer matches an expected one.

An answer matches when the F-measure of ROUGE-L, with stemming, is above 0.3.
What it is not: a judgement of truth, nor usable for other scripts: ROUGE here knows the letters a to z and digits, so
two texts without any of them never match.
Source: Marjanovic et al. 2024, section 5; ROUGE-L: Lin 2004.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from rouge_score.rouge_scorer import RougeScorer

THRESHOLD = 0.3


def answers_match(answer: str, expected: str, *, threshold: float = THRESHOLD) -> bool:
    """Whether ROUGE-L's F-measure of two texts is above the threshold; the order of the two does not matter."""
    return bool(_scorer().score(expected, answer)["rougeL"].fmeasure > threshold)


def is_accurate(answer: str, expected: Sequence[str], *, threshold: float = THRESHOLD) -> bool:
    """Whether the answer matches any of the expected ones; False without expected answers."""
    return any(answers_match(answer, reference, threshold=threshold) for reference in expected)


@cache
def _scorer() -> Any:
    return RougeScorer(["rougeL"], use_stemmer=True)
