"""The slot of a snippet, and the rules that a question may break: it is then flagged, not lost."""

import re
from collections.abc import Sequence

from data.records import SLOT

EMPTY_ANSWER = "empty_answer"
EMPTY_REPLACEMENT = "empty_replacement"
EMPTY_QUESTION = "empty_question"
NO_SLOT = "no_slot"
OBJECT_NOT_IN_CONTEXT = "object_not_in_context"
REPLACEMENT_IS_ANSWER = "replacement_is_answer"
QUESTION_CONTAINS_ANSWER = "question_contains_answer"

UNASKABLE = frozenset({EMPTY_ANSWER, EMPTY_REPLACEMENT, EMPTY_QUESTION, NO_SLOT, OBJECT_NOT_IN_CONTEXT})


def fill_slot(snippet: str, answer: str) -> str:
    """The snippet with the answer in every slot."""
    return snippet.replace(SLOT, answer)


def replace_object(context: str, answer: str, replacement: str) -> str | None:
    """The context with the answer's text replaced, as whole words in any case; None where it is not there."""
    pattern = re.compile(rf"(?<!\w){re.escape(answer)}(?!\w)", re.IGNORECASE)
    return pattern.sub(lambda _: replacement, context) if answer and pattern.search(context) else None


def flags_of(question: str, answers: Sequence[str], answer: str, replacement: str) -> tuple[str, ...]:
    """The names of the rules that a question breaks, whatever its context."""
    right = {form.casefold().strip() for form in (*answers, answer)} - {""}
    asked = re.findall(r"\w+", question.casefold())
    broken = {
        EMPTY_QUESTION: not question.strip(),
        EMPTY_ANSWER: not answer.strip(),
        EMPTY_REPLACEMENT: not replacement.strip(),
        REPLACEMENT_IS_ANSWER: replacement.casefold().strip() in right,
        QUESTION_CONTAINS_ANSWER: _contains(asked, re.findall(r"\w+", answer.casefold())),
    }
    return tuple(flag for flag, is_broken in broken.items() if is_broken)


def _contains(words: Sequence[str], phrase: Sequence[str]) -> bool:
    return bool(phrase) and any(
        list(words[start : start + len(phrase)]) == list(phrase) for start in range(len(words) - len(phrase) + 1)
    )
