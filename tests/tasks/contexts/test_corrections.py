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
from tests.data.dataset_samples import changed as with_changes
from tests.tasks.contexts.judgement_samples import a_question

PLAIN = a_question()
RESIDENCE = a_question(snippet="He lives in [ENTITY].", object="New York City", replacement="Boston")
HONORARY = a_question(snippet="He had honorary [ENTITY].", object="certificates", replacement="doctorates")
DISPUTED = a_question(
    partition="disputable",
    snippet="The king was [ENTITY], and his horse was old.",
    object="old",
    answers=("old",),
    replacement="young",
)
KING_TEXT = "The King was {}, and his horse was old."


def corrected(original: Question, **corrections: str | None) -> Question:
    return correct(original, {name: text for name, text in corrections.items() if text is not None})


def with_contexts(question: Question, original: str, counter_memory: str) -> Question:
    return with_changes(question, original_context=original, counter_memory_context=counter_memory)


def test_a_new_question_changes_nothing_else() -> None:
    assert corrected(PLAIN, question="Where?") == replace(PLAIN, question="Where?")


def test_a_new_replacement_is_put_into_the_context() -> None:
    changed = corrected(PLAIN, replacement="Salzburg")
    assert changed.original_context == PLAIN.original_context
    assert changed.counter_memory_context == "Ludwig Wittgenstein was born in Salzburg, then a city of Austria-Hungary."
    assert (changed.replacement, changed.replacement_id, changed.replacement_quality) == ("Salzburg", None, None)
    assert changed.replacement_by == "annotators"


@pytest.mark.parametrize(
    ("question", "new", "counter_memory"),
    [
        (with_contexts(PLAIN, "Vienna: New Vienna", "Graz: New Vienna"), "Salzburg", "Salzburg: New Vienna"),
        (DISPUTED, "aged", "The king was aged, and his horse was old."),
        (RESIDENCE, r"{0} \1 {entity}", r"He lives in {0} \1 {entity}."),
    ],
)
def test_a_new_replacement_fills_only_the_slots(question: Question, new: str, counter_memory: str) -> None:
    assert corrected(question, replacement=new).counter_memory_context == counter_memory


def test_answer_absent_from_context_replaces_old_one() -> None:
    changed = corrected(PLAIN, answer="Neuwaldegg")
    assert changed.original_context == "Ludwig Wittgenstein was born in Neuwaldegg, then a city of Austria-Hungary."
    assert changed.counter_memory_context == PLAIN.counter_memory_context
    assert (changed.object, changed.object_id, changed.answers) == ("Neuwaldegg", None, ("Neuwaldegg",))


def test_another_form_of_answer_keeps_its_wikidata_id() -> None:
    changed = corrected(PLAIN, answer="wien")
    assert changed.object_id == PLAIN.object_id
    assert changed.answers == ("wien", "Vienna", "Wien")


@pytest.mark.parametrize(
    ("question", "answer", "original", "counter_memory"),
    [
        (HONORARY, "honorary certificates", "He had honorary certificates.", "He had doctorates."),
        (replace(RESIDENCE, answers=("New York City",)), "New York", "He lives in New York.", "He lives in Boston."),
        (RESIDENCE, "New York", "He lives in New York.", "He lives in Boston."),
        (
            with_contexts(RESIDENCE, "He lives in New York City, in Queens.", "He lives in Boston, in Queens."),
            "Queens",
            "He lives in New York City, in Queens.",
            "He lives in New York City, in Boston.",
        ),
    ],
    ids=["longer", "shorter, only accepted answer", "shorter, another answer also accepted", "beside the old one"],
)
def test_answer_in_context_gets_the_slot(question: Question, answer: str, original: str, counter_memory: str) -> None:
    changed = corrected(question, answer=answer)
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
    changed = corrected(PLAIN, answer=answer, text=context)
    assert (changed.original_context, changed.counter_memory_context) == (original, counter_memory)


@pytest.mark.parametrize(
    ("question", "answer", "context", "flags"),
    [
        (with_contexts(RESIDENCE, "New York City is in New York.", "Boston is in New York."), "New York", None, "left"),
        (RESIDENCE, "New York", "The mayor of New York City rules in New York.", "left"),
        (RESIDENCE, "New York", "In New York City.", "absent"),
        (RESIDENCE, "New York", "The mayor of [ENTITY] City rules in [ENTITY].", None),
        (PLAIN, None, "Born in [ENTITY], that is Wien.", "left"),
        (PLAIN, None, "Born in Vienna (WIEN).", "left"),
        (PLAIN, None, "[ENTITY], Vienna.", "left"),
        (PLAIN, None, "The [ENTITY]ese man.", "slot"),
        (PLAIN, None, "Born somewhere.", "absent"),
        (replace(PLAIN, object="Reading", answers=("Reading",)), None, "Born in [ENTITY], he liked reading.", None),
        (replace(PLAIN, answers=("Vienna", "in")), None, "Born in [ENTITY].", None),
        (DISPUTED, None, KING_TEXT.format("[ENTITY]"), None),
        (DISPUTED, None, KING_TEXT.format("old"), "left"),  # the text has `old` twice
        (DISPUTED, None, "The King was old.", None),
    ],
)
def test_flags_of_a_new_context(question: Question, answer: str | None, context: str | None, flags: str | None) -> None:
    names = {"left": ANSWER_LEFT_IN_CONTEXT, "absent": OBJECT_NOT_IN_CONTEXT, "slot": BROKEN_SLOT}
    assert corrected(question, answer=answer, text=context).flags == ((names[flags],) if flags else ())


def test_answer_in_disputed_text_matches_despite_case() -> None:
    question = a_question(
        partition="disputable",
        object="Certificates",
        replacement="Doctorates",
        original_context="he has certificates.",
        counter_memory_context="he has Doctorates.",
    )
    assert corrected(question, replacement="degrees").counter_memory_context == "he has degrees."
    assert corrected(question, answer="papers").original_context == "he has papers."


def test_flags_disappear_with_corrected_text() -> None:
    flags = (ANSWER_LEFT_IN_CONTEXT, BROKEN_SLOT, "edits_of_another_kind")
    broken = replace(PLAIN, flags=flags)
    assert corrected(broken, text="Born in [ENTITY].").flags == ("edits_of_another_kind",)
    assert set(corrected(broken, replacement="Salzburg").flags) == set(flags)
    broken = replace(PLAIN, flags=(QUESTION_CONTAINS_ANSWER, "edits_of_another_kind"))
    assert corrected(broken, question="Where?").flags == ("edits_of_another_kind",)
    without_slot = replace(with_contexts(PLAIN, "Born.", "Born."), flags=(NO_SLOT,))
    assert corrected(without_slot, question="Where?").flags == (NO_SLOT,)
    assert corrected(without_slot, text="Born in Vienna.").flags == ()


def test_flags_follow_the_new_texts() -> None:
    assert corrected(PLAIN, question="Is it Vienna?").flags == (QUESTION_CONTAINS_ANSWER,)
    assert corrected(PLAIN, replacement="Wien").flags == (REPLACEMENT_IS_ANSWER,)
    question = a_question(snippet="Born in [ENTITY], that is Wien.")
    assert corrected(question, replacement="Salzburg").flags == ()  # the original context is unchanged
