"""Accuracy, whether an answer matches an expected one; persuaded and stubborn, how a context changes an answer.

An answer matches when the F-measure of ROUGE-L, with stemming, is above a threshold, 0.3 by default.
The released scores of the source read an answer without some words: all occurrences of "answer", also within others,
"assistant:" and colons, in small letters (`cleaned_as_released`).
What it is not: a judgement of truth, nor usable for other scripts: ROUGE here knows the letters a to z and digits, so
two texts without any of them never match.

With y1 the answer without, y2 the answer with the context, a the context's answer, = the ROUGE-L match of accuracy:
    persuaded          y1 != a and y2 = a
    stubborn           y1 != a and y1 = y2
    context_correct    y2 = a, whatever y1           (as the released code counts the persuaded)
    stubborn_released  y2 != a and y2 = y1           (as the released code counts the stubborn)
What it is not: a partition. An answer may be neither, and, since a ROUGE-L match is not transitive, both.
Source: Marjanovic et al. 2024, sections 5 and 5.2; ROUGE-L: Lin 2004.
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


def compare_answers(without: str, with_context: str, context_answer: str, *, threshold: float) -> dict[str, bool]:
    """Compares an answer without (y1) and with a context (y2) with each other and with the context's answer (a)."""
    knew = answers_match(without, context_answer, threshold=threshold)
    follows = answers_match(with_context, context_answer, threshold=threshold)
    stays = answers_match(with_context, without, threshold=threshold)
    return {
        "persuaded": follows and not knew,
        "stubborn": stays and not knew,
        "context_correct": follows,
        "stubborn_released": stays and not follows,
    }
