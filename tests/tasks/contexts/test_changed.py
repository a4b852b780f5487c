from dataclasses import replace

from data.sources.slots import NO_SLOT, OBJECT_NOT_IN_CONTEXT, QUESTION_CONTAINS_ANSWER, REPLACEMENT_IS_ANSWER
from tasks.contexts.annotation.changed import change
from tests.tasks.contexts.judged import a_question

PLAIN = a_question()


def test_a_new_question_changes_nothing_else() -> None:
    assert change(PLAIN, "Where?", None, None, None) == replace(PLAIN, question="Where?")


def test_a_new_other_answer_takes_the_old_one_s_place_in_the_counter_memory_context() -> None:
    changed = change(PLAIN, None, None, "Salzburg", None)
    assert changed.original_context == PLAIN.original_context
    assert changed.counter_memory_context == "Ludwig Wittgenstein was born in Salzburg, then a city of Austria-Hungary."
    assert (changed.replacement, changed.replacement_id, changed.replacement_quality) == ("Salzburg", None, None)
    assert changed.replacement_by == "annotators"


def test_it_stands_in_the_slots_alone_where_the_text_has_the_answer_besides() -> None:
    question = a_question(snippet="[ENTITY] is his. [ENTITY]", object="Vienna")
    beside = replace(question, original_context="Vienna: New Vienna", counter_memory_context="Graz: New Vienna")
    assert change(beside, None, None, "Salzburg", None).counter_memory_context == "Salzburg: New Vienna"


def test_a_new_answer_that_the_context_has_not_takes_the_old_one_s_place() -> None:
    changed = change(PLAIN, None, "Neuwaldegg", None, None)
    assert changed.original_context == "Ludwig Wittgenstein was born in Neuwaldegg, then a city of Austria-Hungary."
    assert changed.counter_memory_context == PLAIN.counter_memory_context
    assert (changed.object, changed.object_id, changed.answers) == ("Neuwaldegg", None, ("Neuwaldegg",))


def test_another_form_of_the_answer_stays_the_item_that_it_was() -> None:
    changed = change(PLAIN, None, "wien", None, None)
    assert changed.object_id == PLAIN.object_id
    assert changed.answers == ("wien", "Vienna", "Wien")


def test_a_new_answer_that_the_context_states_already_leaves_the_context_as_it_is() -> None:
    question = a_question(snippet="He had honorary [ENTITY].", object="certificates", replacement="doctorates")
    changed = change(question, None, "honorary certificates", None, None)
    assert changed.original_context == "He had honorary certificates."
    assert changed.counter_memory_context == "He had doctorates."


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


def test_flags_are_those_of_the_new_texts_and_what_is_no_matter_of_texts_stays() -> None:
    assert change(PLAIN, "Is it Vienna?", None, None, None).flags == (QUESTION_CONTAINS_ANSWER,)
    assert change(PLAIN, None, None, "Wien", None).flags == (REPLACEMENT_IS_ANSWER,)
    broken = replace(PLAIN, flags=(QUESTION_CONTAINS_ANSWER, "edits_of_another_kind"))
    assert change(broken, "Where?", None, None, None).flags == ("edits_of_another_kind",)


def test_a_slot_that_was_missing_is_there_with_the_right_context_and_not_with_another_question() -> None:
    without = replace(PLAIN, original_context="Born.", counter_memory_context="Born.", flags=(NO_SLOT,))
    assert change(without, "Where?", None, None, None).flags == (NO_SLOT,)
    assert change(without, None, None, None, "Born in Vienna.").flags == ()


def test_signs_of_templates_are_only_signs() -> None:
    changed = change(PLAIN, None, None, r"{0} \1 {entity}", None)
    assert r"born in {0} \1 {entity}, then" in changed.counter_memory_context
