from dataclasses import replace

import pytest

from data.sources.slots import (
    ANSWER_LEFT_IN_CONTEXT,
    BROKEN_SLOT,
    NO_SLOT,
    OBJECT_NOT_IN_CONTEXT,
    QUESTION_CONTAINS_ANSWER,
    REPLACEMENT_IS_ANSWER,
)
from tasks.contexts.annotation.changed import change
from tests.tasks.contexts.annotation.judged import a_question

PLAIN = a_question()


def test_a_new_question_changes_nothing_else() -> None:
    assert change(PLAIN, "Where?", None, None, None) == replace(PLAIN, question="Where?")


def test_a_new_replacement_is_put_into_the_context() -> None:
    changed = change(PLAIN, None, None, "Salzburg", None)
    assert changed.original_context == PLAIN.original_context
    assert changed.counter_memory_context == "Ludwig Wittgenstein was born in Salzburg, then a city of Austria-Hungary."
    assert (changed.replacement, changed.replacement_id, changed.replacement_quality) == ("Salzburg", None, None)
    assert changed.replacement_by == "annotators"


def test_a_new_replacement_fills_only_the_slots() -> None:
    question = a_question(snippet="[ENTITY] is his. [ENTITY]", object="Vienna")
    beside = replace(question, original_context="Vienna: New Vienna", counter_memory_context="Graz: New Vienna")
    assert change(beside, None, None, "Salzburg", None).counter_memory_context == "Salzburg: New Vienna"


def test_an_absent_answer_replaces_the_old_one() -> None:
    changed = change(PLAIN, None, "Neuwaldegg", None, None)
    assert changed.original_context == "Ludwig Wittgenstein was born in Neuwaldegg, then a city of Austria-Hungary."
    assert changed.counter_memory_context == PLAIN.counter_memory_context
    assert (changed.object, changed.object_id, changed.answers) == ("Neuwaldegg", None, ("Neuwaldegg",))


def test_another_form_of_the_answer_keeps_the_item() -> None:
    changed = change(PLAIN, None, "wien", None, None)
    assert changed.object_id == PLAIN.object_id
    assert changed.answers == ("wien", "Vienna", "Wien")


def test_an_answer_already_stated_leaves_the_context() -> None:
    question = a_question(snippet="He had honorary [ENTITY].", object="certificates", replacement="doctorates")
    changed = change(question, None, "honorary certificates", None, None)
    assert changed.original_context == "He had honorary certificates."
    assert changed.counter_memory_context == "He had doctorates."


LIVES = a_question(snippet="He lives in [ENTITY].", object="New York City", replacement="Boston")


@pytest.mark.parametrize("answers", [("New York City",), ("New York City", "New York")])
def test_a_shorter_form_of_the_answer_takes_its_place(answers: tuple[str, ...]) -> None:
    changed = change(replace(LIVES, answers=answers), None, "New York", None, None)
    assert changed.original_context == "He lives in New York."
    assert changed.counter_memory_context == "He lives in Boston."
    assert changed.flags == ()


def test_an_answer_beside_the_old_one_gets_the_slot() -> None:
    question = replace(LIVES, original_context="He lives in New York City, in Queens.",
                       counter_memory_context="He lives in Boston, in Queens.")  # fmt: skip
    changed = change(question, None, "Queens", None, None)
    assert changed.original_context == "He lives in New York City, in Queens."
    assert changed.counter_memory_context == "He lives in New York City, in Boston."
    assert changed.flags == ()


def test_an_answer_within_the_old_one_is_flagged() -> None:
    question = replace(LIVES, original_context="New York City is in New York.",
                       counter_memory_context="Boston is in New York.")  # fmt: skip
    assert change(question, None, "New York", None, None).flags == (ANSWER_LEFT_IN_CONTEXT,)
    context = "The mayor of New York City rules in New York."
    assert change(LIVES, None, "New York", None, context).flags == (ANSWER_LEFT_IN_CONTEXT,)
    assert change(LIVES, None, "New York", None, "In New York City.").flags == (OBJECT_NOT_IN_CONTEXT,)
    slots = "The mayor of [ENTITY] City rules in [ENTITY]."
    assert change(LIVES, None, "New York", None, slots).flags == ()


def test_a_form_of_the_answer_beside_a_slot_is_flagged() -> None:
    for context in ("Born in [ENTITY], that is Wien.", "Born in Vienna (WIEN).", "[ENTITY], Vienna."):
        assert change(PLAIN, None, None, None, context).flags == (ANSWER_LEFT_IN_CONTEXT,)
    assert change(PLAIN, None, None, None, "The [ENTITY]ese man.").flags == (BROKEN_SLOT,)
    reading = replace(PLAIN, object="Reading", answers=("Reading",), original_context="Born in Reading.")
    assert change(reading, None, None, None, "Born in [ENTITY], he liked reading.").flags == ()
    short = replace(PLAIN, answers=("Vienna", "in"))
    assert change(short, None, None, None, "Born in [ENTITY].").flags == ()


def test_the_slot_says_which_mention_is_disputed() -> None:
    question = a_question(
        partition="disputable", snippet="The king was [ENTITY], and his horse was old.", object="old", answers=("old",),
        replacement="young",
    )  # fmt: skip
    mended = "The King was {}, and his horse was old."
    changed = change(question, None, None, None, mended.format("[ENTITY]"))
    assert (changed.counter_memory_context, changed.flags) == (mended.format("young"), ())
    assert change(question, None, None, None, mended.format("old")).flags == (ANSWER_LEFT_IN_CONTEXT,)
    assert change(question, None, None, None, "The King was old.").flags == ()
    other = change(question, None, None, "aged", None)
    assert other.counter_memory_context == "The king was aged, and his horse was old."


def test_flags_of_a_context_go_when_it_is_mended() -> None:
    flags = (ANSWER_LEFT_IN_CONTEXT, BROKEN_SLOT, "edits_of_another_kind")
    broken = replace(PLAIN, flags=flags)
    assert change(broken, None, None, None, "Born in [ENTITY].").flags == ("edits_of_another_kind",)
    assert set(change(broken, None, None, "Salzburg", None).flags) == set(flags)


def test_a_new_replacement_brings_no_context_flag() -> None:
    question = a_question(snippet="Born in [ENTITY], that is Wien.")
    assert change(question, None, None, "Salzburg", None).flags == ()


def test_a_new_context_is_taken_and_its_answers_replaced() -> None:
    changed = change(PLAIN, None, None, None, "Born in VIENNA, he left Vienna early.")
    assert changed.original_context == "Born in VIENNA, he left Vienna early."
    assert changed.counter_memory_context == "Born in Graz, he left Graz early."


def test_a_new_context_may_have_slots() -> None:
    changed = change(PLAIN, None, "Wien", None, "Born in [ENTITY].")
    assert (changed.original_context, changed.counter_memory_context) == ("Born in Wien.", "Born in Graz.")


def test_a_context_without_the_answer_is_flagged() -> None:
    changed = change(PLAIN, None, None, None, "Born somewhere.")
    assert changed.flags == (OBJECT_NOT_IN_CONTEXT,)
    assert changed.counter_memory_context == ""


def test_a_disputed_text_has_the_answer_replaced_in_any_case() -> None:
    question = a_question(
        partition="disputable", object="Certificates", replacement="Doctorates",
        original_context="he has certificates.", counter_memory_context="he has Doctorates.",
    )  # fmt: skip
    assert change(question, None, None, "degrees", None).counter_memory_context == "he has degrees."
    assert change(question, None, "papers", None, None).original_context == "he has papers."


def test_flags_follow_the_new_texts() -> None:
    assert change(PLAIN, "Is it Vienna?", None, None, None).flags == (QUESTION_CONTAINS_ANSWER,)
    assert change(PLAIN, None, None, "Wien", None).flags == (REPLACEMENT_IS_ANSWER,)
    broken = replace(PLAIN, flags=(QUESTION_CONTAINS_ANSWER, "edits_of_another_kind"))
    assert change(broken, "Where?", None, None, None).flags == ("edits_of_another_kind",)


def test_a_missing_slot_comes_with_the_right_context() -> None:
    without = replace(PLAIN, original_context="Born.", counter_memory_context="Born.", flags=(NO_SLOT,))
    assert change(without, "Where?", None, None, None).flags == (NO_SLOT,)
    assert change(without, None, None, None, "Born in Vienna.").flags == ()


def test_signs_of_templates_are_only_signs() -> None:
    changed = change(PLAIN, None, None, r"{0} \1 {entity}", None)
    assert r"born in {0} \1 {entity}, then" in changed.counter_memory_context
