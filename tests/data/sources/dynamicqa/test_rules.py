from collections import Counter

import pytest

from swaymeter.data.records import SLOT, Partition, as_row
from swaymeter.data.records.tables import QUESTIONS
from swaymeter.data.sources import slots
from swaymeter.data.sources.dynamicqa import published as dynamicqa
from tests.data.sources.dynamicqa.small_dynamicqa import PUBLISHED, with_published


def test_every_rule_has_a_sentence() -> None:
    named = {value for name, value in vars(slots).items() if name.isupper() and isinstance(value, str)} - {SLOT}
    assert named == set(slots.RULES)
    assert set(slots.RULES) > slots.UNASKABLE
    assert all(sentence.endswith(".") for sentence in slots.RULES.values())


FLAGS: dict[Partition, dict[str, int]] = {
    "static": {
        slots.BROKEN_SLOT: 73, slots.ANSWER_LEFT_IN_CONTEXT: 67, slots.DUPLICATE_QUESTION: 31,
        slots.REPLACEMENT_IS_ANSWER: 16, slots.QUESTION_CONTAINS_ANSWER: 6,
    },
    "temporal": {
        slots.ANSWER_LEFT_IN_CONTEXT: 205, slots.DUPLICATE_QUESTION: 162, slots.BROKEN_SLOT: 75,
        slots.REPLACEMENT_IS_ANSWER: 60, slots.QUESTION_CONTAINS_ANSWER: 1,
    },
    "disputable": {slots.SUBJECT_IS_NOT_PAGE: 4, slots.DUPLICATE_QUESTION: 4, slots.QUESTION_CONTAINS_ANSWER: 2},
}  # fmt: skip


@with_published
@pytest.mark.parametrize(("partition", "count"), [("static", 1250), ("temporal", 1247), ("disputable", 347)])
def test_published_questions_are_read_and_flagged(partition: Partition, count: int) -> None:
    questions = dynamicqa.questions(PUBLISHED, partition)
    assert len(questions) == count
    assert len({question.question_id for question in questions}) == count
    assert Counter(flag for question in questions for flag in question.flags) == FLAGS[partition]
    for question in questions:
        assert SLOT not in question.original_context + question.counter_memory_context
        assert question.original_context != question.counter_memory_context or slots.REPLACEMENT_IS_ANSWER in (
            question.flags
        )
    assert not any(slots.UNASKABLE & set(question.flags) for question in questions)
    assert QUESTIONS.of([as_row(question) for question in questions]).num_rows == count
