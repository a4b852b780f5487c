"""Accuracy: whether an answer matches an expected one.

An answer matches when the F-measure of ROUGE-L, with stemming, is above a threshold, 0.3 by default.
The released scores of the source read an answer without some words: all occurrences of "answer", also within others,
"assistant:" and colons, in small letters (`cleaned_as_released`).
What it is not: a judgement of truth, nor usable for other scripts: ROUGE here knows the letters a to z and digits, so
two texts without any of them never match.
Source: Marjanovic et al. 2024, section 5; ROUGE-L: Lin 2004.
"""

import re
from functools import cache
from typing import Any

from rouge_score.rouge_scorer import RougeScorer

_UNREAD = re.compile("answer|:")


def answers_match(answer: str, expected: str, *, threshold: float) -> bool:
    """Whether ROUGE-L's F-measure of two texts is above the threshold; the order of the two does not matter."""
    return bool(_scorer().score(expected, answer)["rougeL"].fmeasure > threshold)


def cleaned_as_released(answer: str) -> str:
    """A model's answer as the released code compares it with others and with the expected one."""
    return _UNREAD.sub("", answer.lower().replace("assistant:", "").strip())


@cache
def _scorer() -> Any:
    return RougeScorer(["rougeL"], use_stemmer=True)
