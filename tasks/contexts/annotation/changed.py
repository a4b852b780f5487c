"""A question with an annotator's texts in place of its own: both contexts, other forms of the answer, flags."""

from collections.abc import Iterable
from dataclasses import replace

from swaymeter.data.records import SLOT, Question, both_contexts
from swaymeter.data.sources import slots
from swaymeter.data.sources.slots import ANSWER_LEFT_IN_CONTEXT, OBJECT_NOT_IN_CONTEXT, fill_slot, places_of
from swaymeter.tasks.contexts.wikidata.mentions import SHORT, is_written

_OF_TEXTS = {
    slots.EMPTY_ANSWER, slots.EMPTY_QUESTION, slots.EMPTY_REPLACEMENT, slots.QUESTION_CONTAINS_ANSWER,
    slots.REPLACEMENT_IS_ANSWER,
}  # fmt: skip
_OF_CONTEXTS = {slots.NO_SLOT, OBJECT_NOT_IN_CONTEXT, slots.BROKEN_SLOT, ANSWER_LEFT_IN_CONTEXT}

_Place = tuple[int, int]


def change(
    question: Question, text: str | None, answer: str | None, other_answer: str | None, context: str | None
) -> Question:
    """The question with its new texts; None: no change. It keeps its id, its counts and its sources.

    A new answer that the context does not state yet replaces the old one there; if it is not a form of the old one, it
    has no item of Wikidata. Slots in a new context are filled.
    """
    changed = question if text is None else replace(question, question=text)
    if answer is not None and answer.casefold() in {form.casefold() for form in (question.object, *question.answers)}:
        changed = replace(changed, object=answer, answers=tuple(dict.fromkeys((answer, *question.answers))))
    elif answer is not None:
        changed = replace(changed, object=answer, object_id=None, answers=(answer,), replacement_quality=None)
    if other_answer is not None:
        changed = replace(
            changed, replacement=other_answer, replacement_id=None, replacement_by="annotators",
            replacement_quality=None,
        )  # fmt: skip
    if (answer, other_answer, context) != (None, None, None):
        changed = _with_contexts(changed, question, context)
    other_flags = tuple(flag for flag in changed.flags if flag not in _OF_TEXTS)
    broken = slots.flags_of(changed.question, changed.answers, changed.object, changed.replacement)
    return replace(changed, flags=tuple(dict.fromkeys((*broken, *other_flags))))


def _with_contexts(changed: Question, before: Question, context: str | None) -> Question:
    old = _snippet(before)
    if context is None:
        original, snippet = _texts(changed.object, before, old)
    elif SLOT in context:
        original, snippet = fill_slot(context, changed.object), context
    else:
        longer = before.object if len(before.object) > len(changed.object) else ""
        original, snippet = context, _with_slots(context, changed.object, places_of(context, longer))
    flags: tuple[str, ...] = tuple(flag for flag in changed.flags if flag in _OF_CONTEXTS)
    if snippet is None:
        flags = (OBJECT_NOT_IN_CONTEXT,)
    elif snippet != old or not set(changed.answers) <= {before.object, *before.answers}:
        # The forms of the answer that the text may mean: not "in" for India, nor "reading" for the town.
        forms = (changed.object, *(form for form in changed.answers if len(form) > SHORT))
        meant = [form for form in forms if is_written(snippet.replace(SLOT, " "), form)]
        flags = slots.flags_of_snippet(snippet, meant)
        if changed.partition == "disputable" and context is not None:
            # Editors dispute one place of a sentence: of several mentions in a new one, a slot must mark the place.
            flags = tuple(flag for flag in flags if flag != ANSWER_LEFT_IN_CONTEXT)
            if SLOT not in context and snippet.count(SLOT) > max(1, (old or "").count(SLOT)):
                flags = (*flags, ANSWER_LEFT_IN_CONTEXT)
    return replace(
        changed,
        contexts=both_contexts(
            original, fill_slot(snippet, changed.replacement) if snippet else "", changed.forms, changed.replacement
        ),
        flags=(*(flag for flag in changed.flags if flag not in _OF_CONTEXTS), *flags),
    )


def _texts(answer: str, before: Question, old: str | None) -> tuple[str, str | None]:
    """The context of a question with that answer, unchanged where it states the answer, and its snippet."""
    original = before.original_context
    if answer == before.object:
        return original, old
    stated = _with_slots(original, answer, _slots(old, before.object))
    if stated is not None or old is None:
        return original, stated
    return fill_slot(old, answer), old


def _snippet(question: Question) -> str | None:
    """The context with its slots; where no snippet gives both contexts, the answer's mentions are slots."""
    original, answer = question.original_context, question.object
    snippet = slots.snippet_of(original, question.counter_memory_context, answer, question.replacement)
    return snippet if snippet and SLOT in snippet else _with_slots(original, answer, [])


def _with_slots(context: str, answer: str, others: Iterable[_Place]) -> str | None:
    """The context with a slot for every mention of the answer outside of the other places; None without a mention."""
    others = list(others)
    pieces, end = [], 0
    for first, last in places_of(context, answer):
        if not any(start <= first and last <= stop for start, stop in others):
            pieces += [context[end:first], SLOT]
            end = last
    return "".join((*pieces, context[end:])) if pieces else None


def _slots(snippet: str | None, answer: str) -> list[_Place]:
    """The places of the answer in a filled snippet."""
    places, end = [], 0
    for piece in snippet.split(SLOT)[:-1] if snippet else ():
        start = end + len(piece)
        end = start + len(answer)
        places.append((start, end))
    return places
