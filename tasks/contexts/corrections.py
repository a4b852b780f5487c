"""Annotators' corrections of a question: new texts, and the contexts, answer forms and flags that follow from them.

A snippet is a text with slots. The original answer in its slots gives the original context, and the replacement answer
gives the counter-memory context.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from swaymeter.data.records import SLOT, Question, both_contexts
from swaymeter.data.sources import slots
from swaymeter.data.sources.slots import ANSWER_LEFT_IN_CONTEXT, OBJECT_NOT_IN_CONTEXT, fill_slot, spans_of
from swaymeter.tasks.contexts.wikidata.mentions import SHORT, is_written

_TEXT_FLAGS = {
    slots.EMPTY_ANSWER,
    slots.EMPTY_QUESTION,
    slots.EMPTY_REPLACEMENT,
    slots.QUESTION_CONTAINS_ANSWER,
    slots.REPLACEMENT_IS_ANSWER,
}
_CONTEXT_FLAGS = {slots.NO_SLOT, OBJECT_NOT_IN_CONTEXT, slots.BROKEN_SLOT, ANSWER_LEFT_IN_CONTEXT}

_Range = tuple[int, int]


def correct(question: Question, corrections: Mapping[str, str]) -> Question:
    """Return the question with new texts; the id, counts and sources stay.

    A new answer replaces the old answer in the context, unless the context already states the new answer. If the
    new answer is no form of the old answer, the question loses the Wikidata id of the answer. Slots in a new context
    are filled.

    Args:
        question: the question.
        corrections: new texts by field: `question`, `answer`, `replacement` and `text`, the original context.
    """
    answer, context = corrections.get("answer"), corrections.get("text")
    changed = replace(question, question=corrections.get("question", question.question))
    if answer is not None and answer.casefold() in {form.casefold() for form in (question.object, *question.answers)}:
        changed = replace(changed, object=answer, answers=tuple(dict.fromkeys((answer, *question.answers))))
    elif answer is not None:
        changed = replace(changed, object=answer, object_id=None, answers=(answer,), replacement_quality=None)
    if "replacement" in corrections:
        changed = replace(
            changed,
            replacement=corrections["replacement"],
            replacement_id=None,
            replacement_by="annotators",
            replacement_quality=None,
        )
    if corrections.keys() - {"question"}:
        changed = _with_contexts(changed, question, context)
    other_flags = tuple(flag for flag in changed.flags if flag not in _TEXT_FLAGS)
    text_flags = slots.flags_of(changed.question, changed.answers, changed.object, changed.replacement)
    return replace(changed, flags=tuple(dict.fromkeys((*text_flags, *other_flags))))


def _with_contexts(changed: Question, uncorrected: Question, context: str | None) -> Question:
    """Return the changed question with both contexts and the flags of its snippet; a new `context` may have slots."""
    old_snippet = _snippet(uncorrected)
    if context is None:
        original, snippet = _context_for_answer(changed.object, uncorrected, old_snippet)
    elif SLOT in context:
        original, snippet = fill_slot(context, changed.object), context
    else:
        # "York" within the longer old answer "New York" is no mention of the new answer "York".
        longer_answer = uncorrected.object if len(uncorrected.object) > len(changed.object) else ""
        original, snippet = context, _with_slots(context, changed.object, spans_of(context, longer_answer))
    # The context flags stay if the snippet is unchanged and the answer has no new form.
    flags: tuple[str, ...] = tuple(flag for flag in changed.flags if flag in _CONTEXT_FLAGS)
    if snippet is None:
        flags = (OBJECT_NOT_IN_CONTEXT,)
    elif snippet != old_snippet or not set(changed.answers) <= {uncorrected.object, *uncorrected.answers}:
        # A form that may mean something else gives no flag: "in" for India, or "reading" for the town Reading.
        forms = (changed.object, *(form for form in changed.answers if len(form) > SHORT))
        likely_forms = [form for form in forms if is_written(snippet.replace(SLOT, " "), form)]
        flags = slots.flags_of_snippet(snippet, likely_forms)
        if changed.partition == "disputable" and context is not None:
            # Editors dispute one mention of an answer. The other mentions stay outside of slots, which is no fault.
            # A new sentence with several mentions and no slot is faulty: nothing marks the disputed mention.
            flags = tuple(flag for flag in flags if flag != ANSWER_LEFT_IN_CONTEXT)
            if SLOT not in context and snippet.count(SLOT) > max(1, (old_snippet or "").count(SLOT)):
                flags = (*flags, ANSWER_LEFT_IN_CONTEXT)
    counter_memory = fill_slot(snippet, changed.replacement) if snippet else ""
    other_flags = (flag for flag in changed.flags if flag not in _CONTEXT_FLAGS)
    return replace(
        changed,
        contexts=both_contexts(original, counter_memory, changed.forms, changed.replacement),
        flags=(*other_flags, *flags),
    )


def _context_for_answer(answer: str, uncorrected: Question, snippet: str | None) -> tuple[str, str | None]:
    """Return the original context for a new answer, and its snippet; a context that states the answer stays."""
    original = uncorrected.original_context
    if answer == uncorrected.object:
        return original, snippet
    new_snippet = _with_slots(original, answer, _slot_ranges(snippet, uncorrected.object))
    if new_snippet is not None or snippet is None:
        return original, new_snippet
    return fill_slot(snippet, answer), snippet


def _snippet(question: Question) -> str | None:
    """Return the snippet of both contexts, or of the original context alone; None if that context lacks the answer."""
    original, answer = question.original_context, question.object
    snippet = slots.snippet_of(original, question.counter_memory_context, answer, question.replacement)
    return snippet if snippet and SLOT in snippet else _with_slots(original, answer, [])


def _with_slots(context: str, answer: str, excluded: Iterable[_Range]) -> str | None:
    """Return a context with a slot for each mention of the answer outside excluded ranges; None without a mention."""
    excluded = list(excluded)
    pieces, end = [], 0
    for first, last in spans_of(context, answer):
        if not any(start <= first and last <= stop for start, stop in excluded):
            pieces += [context[end:first], SLOT]
            end = last
    return "".join((*pieces, context[end:])) if pieces else None


def _slot_ranges(snippet: str | None, answer: str) -> list[_Range]:
    """Return the ranges of the answer in the text that a snippet becomes when its slots are filled."""
    ranges, end = [], 0
    for piece in snippet.split(SLOT)[:-1] if snippet else ():
        start = end + len(piece)
        end = start + len(answer)
        ranges.append((start, end))
    return ranges
