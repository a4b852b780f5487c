"""Greedy answers held against what their conditions state; what they say is put into the stored rows."""

from collections.abc import Mapping

from data.records import CONDITIONS
from tasks.measurement.measure import do
from tasks.scoring.accuracy import is_accurate
from tasks.scoring.persuaded import compare_answers
from tests.tasks.measurement.conftest import Prepared, rows


def says(prepared: Prepared, spoken: Mapping[str, str]) -> None:
    """Puts other words into the model's greedy answers, one for each condition, and other ones into its samples."""
    do(prepared.works["answers"], prepared.workspace)
    answers = prepared.works["answers"].wanted["answers"]
    changed = [
        {**row, "text": spoken[row["condition"]] if row["sample"] is None else "a sample"} for row in rows(answers)
    ]
    answers.write(answers.table.of(changed))


def test_the_greedy_answer_is_held_against_what_the_condition_states(prepared: Prepared) -> None:
    work = prepared.works["correctness"]
    questions = {row["question_id"]: row for row in rows(work.inputs["questions"])}
    first = next(iter(questions.values()))
    says(prepared, {"none": "nobody knows", "original": first["object"], "counter_memory": first["replacement"]})
    assert do(work, prepared.workspace).forward_passes == 0
    accuracy, persuaded = rows(work.wanted["accuracy"]), rows(work.wanted["persuaded"])
    assert len(accuracy) == 3 * len(questions)
    assert len(persuaded) == 2 * len(questions)
    for row in accuracy:
        question = questions[row["question_id"]]
        stated = question["replacement" if row["condition"] == "counter_memory" else "object"]
        assert row["expected"] == stated
        assert row["accurate"] == is_accurate(row["answer"], [stated])
    for row in persuaded:
        compared = compare_answers(row["answer_without"], row["answer_with"], row["context_answer"])
        assert row["answer_without"] == "nobody knows"
        assert (row["persuaded"], row["stubborn"]) == (compared.persuaded, compared.stubborn)
        assert (row["context_correct"], row["stubborn_released"]) == (
            compared.context_correct, compared.stubborn_released,
        )  # fmt: skip
    of_first = {row["condition"]: row for row in accuracy if row["question_id"] == first["question_id"]}
    assert [of_first[condition]["accurate"] for condition in CONDITIONS] == [False, True, True]
    moved = {row["condition"]: row["persuaded"] for row in persuaded if row["question_id"] == first["question_id"]}
    assert moved["counter_memory"]


def test_an_empty_answer_matches_nothing_not_even_another_one(prepared: Prepared) -> None:
    work = prepared.works["correctness"]
    says(prepared, dict.fromkeys(CONDITIONS, ""))
    do(work, prepared.workspace)
    assert {row["accurate"] for row in rows(work.wanted["accuracy"])} == {False}
    names = ("persuaded", "stubborn", "context_correct", "stubborn_released")
    assert {row[name] for row in rows(work.wanted["persuaded"]) for name in names} == {False}


def test_whoever_had_no_answer_can_be_persuaded(prepared: Prepared) -> None:
    work = prepared.works["correctness"]
    first = rows(work.inputs["questions"])[0]
    says(prepared, {"none": "", "original": "", "counter_memory": first["replacement"]})
    do(work, prepared.workspace)
    of_first = [row for row in rows(work.wanted["persuaded"]) if row["question_id"] == first["question_id"]]
    assert {row["condition"]: row["persuaded"] for row in of_first} == {"original": False, "counter_memory": True}
