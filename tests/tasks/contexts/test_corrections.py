from dataclasses import replace

import pytest

from swaymeter.data.records import Question
from swaymeter.data.sources.slots import (
    ANSWER_LEFT_IN_CONTEXT,
    BROKEN_SLOT,
    NO_SLOT,
    OBJECT_NOT_IN_CONTEXT,
    QUESTION_CONTAINS_ANSWER,
    REPLACEMENT_IS_ANSWER,
)
from swaymeter.tasks.contexts.corrections import correct
from tests.data.a_dataset import changed as other
from tests.tasks.contexts.judged import a_question

PLAIN = a_question()
LIVES = a_question(snippet="He lives in [ENTITY].", object="New York City", replacement="Boston")
HONORARY = a_question(snippet="He had honorary [ENTITY].", object="certificates", replacement="doctorates")
DISPUTED = a_question(
    partition="disputable",
    snippet="The king was [ENTITY], and his horse was old.",
    object="old",
    answers=("old",),
    replacement="young",
)
MENDED = "The King was {}, and his horse was old."


def change(
    question: Question, text: str | None, answer: str | None, replacement: str | None, context: str | None
) -> Question:
    new = {"question": text, "answer": answer, "replacement": replacement, "text": context}
    return correct(question, {name: value for name, value in new.items() if value is not None})


def with_contexts(question: Question, original: str, counter_memory: str) -> Question:
    return other(question, original_context=original, counter_memory_context=counter_memory)


def test_a_new_question_changes_nothing_else() -> None:
    assert change(PLAIN, "Where?", None, None, None) == replace(PLAIN, question="Where?")


def test_a_new_replacement_is_put_into_the_context() -> None:
    changed = change(PLAIN, None, None, "Salzburg", None)
    assert changed.original_context == PLAIN.original_context
    assert changed.counter_memory_context == "Ludwig Wittgenstein was born in Salzburg, then a city of Austria-Hungary."
    assert (changed.replacement, changed.replacement_id, changed.replacement_quality) == ("Salzburg", None, None)
    assert changed.replacement_by == "annotators"


@pytest.mark.parametrize(
    ("question", "new", "counter_memory"),
    [
        (with_contexts(PLAIN, "Vienna: New Vienna", "Graz: New Vienna"), "Salzburg", "Salzburg: New Vienna"),
        (DISPUTED, "aged", "The king was aged, and his horse was old."),
        (LIVES, r"{0} \1 {entity}", r"He lives in {0} \1 {entity}."),
    ],
)
def test_a_new_replacement_fills_only_the_slots(question: Question, new: str, counter_memory: str) -> None:
    assert change(question, None, None, new, None).counter_memory_context == counter_memory


def test_an_absent_answer_replaces_the_old_one() -> None:
    changed = change(PLAIN, None, "Neuwaldegg", None, None)
    assert changed.original_context == "Ludwig Wittgenstein was born in Neuwaldegg, then a city of Austria-Hungary."
    assert changed.counter_memory_context == PLAIN.counter_memory_context
    assert (changed.object, changed.object_id, changed.answers) == ("Neuwaldegg", None, ("Neuwaldegg",))


def test_another_form_of_the_answer_keeps_the_item() -> None:
    changed = change(PLAIN, None, "wien", None, None)
    assert changed.object_id == PLAIN.object_id
    assert changed.answers == ("wien", "Vienna", "Wien")


@pytest.mark.parametrize(
    ("question", "answer", "original", "counter_memory"),
    [
        (HONORARY, "honorary certificates", "He had honorary certificates.", "He had doctorates."),
        (replace(LIVES, answers=("New York City",)), "New York", "He lives in New York.", "He lives in Boston."),
        (LIVES, "New York", "He lives in New York.", "He lives in Boston."),
        (
            with_contexts(LIVES, "He lives in New York City, in Queens.", "He lives in Boston, in Queens."),
            "Queens",
            "He lives in New York City, in Queens.",
            "He lives in New York City, in Boston.",
        ),
    ],
    ids=["longer", "shorter", "shorter, a form", "beside the old one"],
)
def test_a_stated_answer_gets_the_slot(question: Question, answer: str, original: str, counter_memory: str) -> None:
    changed = change(question, None, answer, None, None)
    assert (changed.original_context, changed.counter_memory_context) == (original, counter_memory)
    assert changed.flags == ()


@pytest.mark.parametrize(
    ("context", "answer", "original", "counter_memory"),
    [
        ("In VIENNA, he left Vienna.", None, "In VIENNA, he left Vienna.", "In Graz, he left Graz."),
        ("Born in [ENTITY].", "Wien", "Born in Wien.", "Born in Graz."),
        ("Born somewhere.", None, "Born somewhere.", ""),
    ],
)
def test_a_new_context_has_its_answers_replaced(
    context: str, answer: str | None, original: str, counter_memory: str
) -> None:
    changed = change(PLAIN, None, answer, None, context)
    assert (changed.original_context, changed.counter_memory_context) == (original, counter_memory)


@pytest.mark.parametrize(
    ("question", "answer", "context", "flags"),
    [
        (with_contexts(LIVES, "New York City is in New York.", "Boston is in New York."), "New York", None, "left"),
        (LIVES, "New York", "The mayor of New York City rules in New York.", "left"),
        (LIVES, "New York", "In New York City.", "absent"),
        (LIVES, "New York", "The mayor of [ENTITY] City rules in [ENTITY].", None),
        (PLAIN, None, "Born in [ENTITY], that is Wien.", "left"),
        (PLAIN, None, "Born in Vienna (WIEN).", "left"),
        (PLAIN, None, "[ENTITY], Vienna.", "left"),
        (PLAIN, None, "The [ENTITY]ese man.", "slot"),
        (PLAIN, None, "Born somewhere.", "absent"),
        (replace(PLAIN, object="Reading", answers=("Reading",)), None, "Born in [ENTITY], he liked reading.", None),
        (replace(PLAIN, answers=("Vienna", "in")), None, "Born in [ENTITY].", None),
        (DISPUTED, None, MENDED.format("[ENTITY]"), None),
        (DISPUTED, None, MENDED.format("old"), "left"),  # of which mention?
        (DISPUTED, None, "The King was old.", None),
    ],
)
def test_flags_of_a_new_context(question: Question, answer: str | None, context: str | None, flags: str | None) -> None:
    names = {"left": ANSWER_LEFT_IN_CONTEXT, "absent": OBJECT_NOT_IN_CONTEXT, "slot": BROKEN_SLOT}
    assert change(question, None, answer, None, context).flags == ((names[flags],) if flags else ())


def test_disputed_text_has_answer_replaced_in_any_case() -> None:
    question = a_question(
        partition="disputable",
        object="Certificates",
        replacement="Doctorates",
        original_context="he has certificates.",
        counter_memory_context="he has Doctorates.",
    )
    assert change(question, None, None, "degrees", None).counter_memory_context == "he has degrees."
    assert change(question, None, "papers", None, None).original_context == "he has papers."


def test_flags_go_when_the_text_is_mended() -> None:
    flags = (ANSWER_LEFT_IN_CONTEXT, BROKEN_SLOT, "edits_of_another_kind")
    broken = replace(PLAIN, flags=flags)
    assert change(broken, None, None, None, "Born in [ENTITY].").flags == ("edits_of_another_kind",)
    assert set(change(broken, None, None, "Salzburg", None).flags) == set(flags)
    broken = replace(PLAIN, flags=(QUESTION_CONTAINS_ANSWER, "edits_of_another_kind"))
    assert change(broken, "Where?", None, None, None).flags == ("edits_of_another_kind",)
    without = replace(with_contexts(PLAIN, "Born.", "Born."), flags=(NO_SLOT,))
    assert change(without, "Where?", None, None, None).flags == (NO_SLOT,)
    assert change(without, None, None, None, "Born in Vienna.").flags == ()


def test_flags_follow_the_new_texts() -> None:
    assert change(PLAIN, "Is it Vienna?", None, None, None).flags == (QUESTION_CONTAINS_ANSWER,)
    assert change(PLAIN, None, None, "Wien", None).flags == (REPLACEMENT_IS_ANSWER,)
    question = a_question(snippet="Born in [ENTITY], that is Wien.")
    assert change(question, None, None, "Salzburg", None).flags == ()  # the context is as it was
