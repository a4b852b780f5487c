"""Accuracy: whether an answer matches an expected one.

An answer matches when the F-measure of ROUGE-L, with stemming, is above a threshold, 0.3 by default.
What it is not: a judgement of truth, nor usable for other scripts: ROUGE here knows the letters a to z and digits, so
two texts without any of them never match.
Source: Marjanovic et al. 2024, section 5; ROUGE-L: Lin 2004.
"""

from functools import cache
from typing import Any

from rouge_score.rouge_scorer import RougeScorer


def answers_match(answer: str, expected: str, *, threshold: float) -> bool:
    """Whether ROUGE-L's F-measure of two texts is above the threshold; the order of the two does not matter."""
    return bool(_scorer().score(expected, answer)["rougeL"].fmeasure > threshold)


@cache
def _scorer() -> Any:
    return RougeScorer(["rougeL"], use_stemmer=True)
