"""A question with an annotator's texts in place of its own: both contexts, other forms of the answer, flags."""

from dataclasses import replace

from data.records import SLOT, Question
from data.sources.slots import (
    EMPTY_ANSWER,
    EMPTY_QUESTION,
    EMPTY_REPLACEMENT,
    NO_SLOT,
    OBJECT_NOT_IN_CONTEXT,
    QUESTION_CONTAINS_ANSWER,
    REPLACEMENT_IS_ANSWER,
    fill_slot,
    flags_of,
    replace_object,
)

BY_ANNOTATORS = "annotators"
_OF_TEXTS = {EMPTY_ANSWER, EMPTY_QUESTION, EMPTY_REPLACEMENT, QUESTION_CONTAINS_ANSWER, REPLACEMENT_IS_ANSWER}
_OF_CONTEXTS = {NO_SLOT, OBJECT_NOT_IN_CONTEXT}


def change(
    question: Question, text: str | None, answer: str | None, other_answer: str | None, context: str | None
) -> Question:
    """The question with its new texts; None: that one stays. It keeps its id, its counts and where it comes from.

    A new answer that the context does not state yet is put where the old one stands. Slots in a new context are filled.
    A new answer that was not one of the old one's forms is no item of Wikidata that we know, and has no other forms.
    """
    changed = question if text is None else replace(question, question=text)
    if answer is not None:
        changed = _with_answer(changed, answer)
    if other_answer is not None:
        changed = replace(
            changed,
            replacement=other_answer,
            replacement_id=None,
            replacement_by=BY_ANNOTATORS,
            replacement_quality=None,
        )
    if (answer, other_answer, context) != (None, None, None):
        changed = _with_contexts(changed, question, context)
    kept = tuple(flag for flag in changed.flags if flag not in _OF_TEXTS)
    broken = flags_of(changed.question, changed.answers, changed.object, changed.replacement)
    return replace(changed, flags=tuple(dict.fromkeys((*broken, *kept))))


def _with_answer(question: Question, answer: str) -> Question:
    if answer.casefold() in {form.casefold() for form in (question.object, *question.answers)}:
        return replace(question, object=answer, answers=tuple(dict.fromkeys((answer, *question.answers))))
    return replace(question, object=answer, object_id=None, answers=(answer,), replacement_quality=None)


def _with_contexts(changed: Question, before: Question, context: str | None) -> Question:
    snippet = _snippet(before)
    if context is not None:
        snippet = context if SLOT in context else None
        original = fill_slot(context, changed.object)
    elif changed.object == before.object:
        original = before.original_context
    elif replace_object(before.original_context, changed.object, "") is not None:
        snippet, original = None, before.original_context
    elif snippet is not None:
        original = fill_slot(snippet, changed.object)
    else:
        original = replace_object(before.original_context, before.object, changed.object) or before.original_context
    counter_memory = (
        replace_object(original, changed.object, changed.replacement)
        if snippet is None
        else fill_slot(snippet, changed.replacement)
    )
    flags = tuple(flag for flag in changed.flags if flag not in _OF_CONTEXTS)
    if counter_memory is None:
        flags += (OBJECT_NOT_IN_CONTEXT,)
    return replace(changed, original_context=original, counter_memory_context=counter_memory or "", flags=flags)


def _snippet(question: Question) -> str | None:
    """The context with its slots, found where its two fillings differ; None where they are no fillings of one."""
    first, second = question.original_context, question.counter_memory_context
    answer, other = question.object, question.replacement
    if not answer:
        return None
    pieces: list[str] = []
    i = j = 0
    while i < len(first):
        if first.startswith(answer, i) and second.startswith(other, j):
            pieces.append(SLOT)
            i, j = i + len(answer), j + len(other)
        elif first[i : i + 1] == second[j : j + 1]:
            pieces.append(first[i])
            i, j = i + 1, j + 1
        else:
            return None
    snippet = "".join(pieces)
    return snippet if j == len(second) and SLOT in snippet else None
