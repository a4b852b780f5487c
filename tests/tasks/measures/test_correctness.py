"""Accuracy, persuaded replies and verdicts, computed from stored replies without a model."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.tasks.measures.conftest import Study

CONDITIONS = ("none", "original", "counter_memory")


def store_replies(study: Study, texts: Mapping[str, str]) -> None:
    """Store a greedy and a sampled reply for each question and condition. `texts` has the greedy reply by condition."""
    study.store(
        "answers",
        [
            {"question_id": question.question_id, "condition": condition, "sample": sample, "text": text}
            for question in study.inputs.questions
            for condition in CONDITIONS
            for sample, text in ((None, texts[condition]), (0, "a sampled reply"))
        ],
    )


@pytest.fixture
def study(study: Study) -> Study:
    """Return a study of one question."""
    return replace(study, inputs=replace(study.inputs, questions=study.inputs.questions[:1]))


def test_persuaded_compares_replies_without_and_with_context(study: Study) -> None:
    (question,) = study.inputs.questions
    store_replies(
        study, {"none": "somewhere else", "original": "somewhere else", "counter_memory": question.replacement}
    )
    rows = study.by_question("persuaded")
    columns = ("persuaded", "stubborn", "context_correct", "stubborn_released")
    verdicts = {condition: [row[column] for column in columns] for (_, condition), row in rows.items()}
    assert verdicts == {"original": [False, True, False, True], "counter_memory": [True, False, True, False]}
    row = rows[question.question_id, "counter_memory"]
    assert (row["answer_without"], row["answer_with"]) == ("somewhere else", question.replacement)
    assert (row["context_answer"], row["engine"], study.loaded) == (question.replacement, "rouge-l", 0)


def test_reply_is_accurate_if_it_states_expected_answer(study: Study) -> None:
    (question,) = study.inputs.questions
    store_replies(study, {"none": "", "original": question.object, "counter_memory": question.object})
    rows = study.rows("accuracy")
    assert [row["condition"] for row in rows] == list(CONDITIONS)
    assert [row["expected"] for row in rows] == [question.object, question.object, question.replacement]
    assert [row["accurate"] for row in rows] == [False, True, False]
    assert study.loaded == 0


def test_released_cleaning_accepts_a_wordy_reply(study: Study) -> None:
    (question,) = study.inputs.questions
    wordy_reply = f"{'answer: ' * 20}{question.replacement}"
    store_replies(study, {"none": "somewhere else", "original": "somewhere else", "counter_memory": wordy_reply})
    for cleaning, is_accurate in (("none", False), ("released", True)):
        study.parameters |= {name: {"cleaning": cleaning} for name in ("accuracy", "persuaded")}
        key = question.question_id, "counter_memory"
        row = study.by_question("accuracy")[key]
        assert (row["accurate"], row["answer"]) == (is_accurate, wordy_reply)
        assert study.by_question("persuaded")[key]["persuaded"] == is_accurate


def test_disputable_question_has_no_closed_book_accuracy(study: Study) -> None:
    disputable = replace(study.inputs.questions[0], partition="disputable")
    study.inputs = replace(study.inputs, questions=[disputable])
    store_replies(study, dict.fromkeys(CONDITIONS, disputable.object))
    assert [row["condition"] for row in study.rows("accuracy")] == ["original", "counter_memory"]
    assert len(study.rows("persuaded")) == 2


def test_only_greedy_replies_with_context_have_outcomes(study: Study) -> None:
    (question,) = study.inputs.questions
    sentence = f"The answer is {question.replacement}, as the text says."
    store_replies(study, {"none": "somewhere else", "original": "somewhere else", "counter_memory": sentence})
    rows = {(row["condition"], row["sample"]): (row["verdict"], row["outcome"]) for row in study.rows("whose_answer")}
    assert rows == {
        ("none", 0): ("neither", None),
        ("none", None): ("neither", None),
        ("original", 0): ("neither", None),
        ("original", None): ("neither", "stubborn"),
        ("counter_memory", 0): ("neither", None),
        ("counter_memory", None): ("context", "persuaded"),
    }
    assert study.loaded == 0


@pytest.mark.parametrize(
    ("changes", "verdicts"),  # the verdicts are in the order of CONDITIONS
    [
        ({"replacement": "?!", "object": "Oslo", "answers": ("\U0001f1f3",)}, ["original", "context", "original"]),
        ({"replacement": "\u2642", "object": "\u2640", "answers": ("\u2640",)}, ["neither"] * 3),
    ],
)
def test_answers_without_words_are_stated_by_no_text(changes: Any, verdicts: list[str], study: Study) -> None:
    study.inputs = replace(study.inputs, questions=[replace(study.inputs.questions[0], **changes)])
    store_replies(study, dict.fromkeys(CONDITIONS, "It is Oslo."))
    assert [row["verdict"] for row in study.rows("whose_answer") if row["sample"] is None] == verdicts
