"""Accuracy of a reply by ROUGE-L, and the change of a reply with a context: persuaded and stubborn.

A reply matches an expected answer if the F-measure of ROUGE-L, with stemming, exceeds a threshold, 0.3 by default.
The released code of Marjanovic et al. first cleans a reply: `cleaned_as_released`.
What it is not: a judgement of truth. ROUGE reads only the letters a to z and digits, so two texts without any of them,
such as texts in other scripts, never match.

y1 is the reply without the context, y2 is the reply with it, and `a` is the context's answer; = is a match as above.
    persuaded          y1 != a and y2 = a
    stubborn           y1 != a and y1 = y2
    context_correct    y2 = a, for any y1            (the released code counts these as persuaded)
    stubborn_released  y2 != a and y2 = y1           (the released code counts these as stubborn)
A reply may be neither persuaded nor stubborn. It may also be both, because a ROUGE-L match is not transitive.
Source: Marjanovic et al. 2024, sections 5 and 5.2; ROUGE-L: Lin 2004.
"""

import re
from functools import cache
from typing import Any

from rouge_score.rouge_scorer import RougeScorer

_REMOVED = re.compile("answer|:")


def answers_match(answer: str, expected: str, *, threshold: float) -> bool:
    """Return True if ROUGE-L's F-measure of two texts exceeds the threshold; the order of the texts does not matter."""
    return bool(_scorer().score(expected, answer)["rougeL"].fmeasure > threshold)


def cleaned_as_released(answer: str) -> str:
    """Return a reply in lower case, without "assistant:", colons and every "answer", also within other words."""
    return _REMOVED.sub("", answer.lower().replace("assistant:", "").strip())


@cache
def _scorer() -> Any:
    return RougeScorer(["rougeL"], use_stemmer=True)


def compare_answers(without: str, with_context: str, context_answer: str, *, threshold: float) -> dict[str, bool]:
    """Compare a reply without a context (y1), the reply with it (y2) and the context's answer (a) with each other."""
    knew = answers_match(without, context_answer, threshold=threshold)  # y1 = a
    follows = answers_match(with_context, context_answer, threshold=threshold)  # y2 = a
    stays = answers_match(with_context, without, threshold=threshold)  # y2 = y1
    return {
        "persuaded": follows and not knew,
        "stubborn": stays and not knew,
        "context_correct": follows,
        "stubborn_released": stays and not follows,
    }
