"""Answers, semantic entropy and coherent persuasion in the score files, held against the scoring functions."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tasks.contexts.build import build_questions

from data.records import CONDITIONS
from data.sources import sample
from tasks.measurement import answers
from tasks.measurement.measure import do
from tasks.measurement.work import Work
from tasks.models import LanguageModel, load_entailment
from tasks.scoring.answer_prompts import AnswerPrompt, answer_prompt
from tasks.scoring.coherent_persuasion import GroupedAnswers, coherent_persuasions
from tasks.scoring.generation import SampledAnswers, sample_answers
from tasks.scoring.half_samples import draw_halves
from tasks.scoring.semantic_entropy import KINDS, group_answers, semantic_entropy, semantic_entropy_error
from tests.tasks.measurement.conftest import PARAMETERS, SAMPLING, Prepared, rows

Key = tuple[str, str]
Row = dict[str, Any]
COLUMNS = {
    "sum": "semantic_entropy",
    "length_normalised": "semantic_entropy_length_normalised",
    "rao": "semantic_entropy_rao",
    "assignment": "cluster_assignment_entropy",
}


@pytest.fixture
def answered(prepared: Prepared) -> Work:
    work = prepared.works["answers"]
    do(work, prepared.workspace)
    return work


@pytest.fixture
def expected(prepared: Prepared, model: LanguageModel) -> dict[Key, SampledAnswers]:
    """The answers to every question under every condition, asked for one at a time."""
    made = {}
    for question in rows(prepared.works["answers"].inputs["questions"]):
        for condition in CONDITIONS:
            identity = (question["question_id"], condition)
            context = None if condition == "none" else question[f"{condition}_context"]
            prompt = answer_prompt(model, question["question"], context)
            (made[identity],) = sample_answers(model, [prompt.tokens], [identity], seed=7, **SAMPLING)
    return made


@pytest.fixture
def equivalent(expected: dict[Key, SampledAnswers], models: dict[str, str]) -> dict[Key, Any]:
    judge = load_entailment(models["entailment"])
    return {key: judge.equivalent([answer.text for answer in one.samples]) for key, one in expected.items()}


def by_key(found: Sequence[Row]) -> dict[Key, Row]:
    keyed = {(row["question_id"], row["condition"]): row for row in found}
    assert len(keyed) == len(found)
    return keyed


def halves_of(key: Key) -> list[list[int]]:
    return draw_halves(SAMPLING["samples"], PARAMETERS["half_samples"], 7, *key)


def with_parameters(work: Work, **changed: Any) -> Work:
    stored = work.wanted["answers"]
    made_from = {**stored.made_from, "parameters": stored.made_from["parameters"] | changed}
    return replace(work, wanted={**work.wanted, "answers": replace(stored, made_from=made_from)})


def test_answers_are_those_of_the_question_under_its_condition(
    answered: Work, expected: dict[Key, SampledAnswers]
) -> None:
    found = rows(answered.wanted["answers"])
    assert len(found) == len(expected) * (SAMPLING["samples"] + 1)
    for row in found:
        of = expected[row["question_id"], row["condition"]]
        answer = of.greedy if row["sample"] is None else of.samples[row["sample"]]
        assert row["text"] == answer.text
        assert row["token_ids"] == list(answer.token_ids)
        assert row["finished"] == answer.finished
        np.testing.assert_allclose(row["token_log_probs"], answer.token_log_probs, atol=1e-3)
        assert (row["answer_group"] is None) == (row["sample"] is None)
        assert row["context_cut"] == 0
    assert len({tuple(row["token_ids"]) for row in found}) > len(expected)


def test_entropies_and_their_errors_are_those_of_the_answers(
    answered: Work, expected: dict[Key, SampledAnswers], equivalent: dict[Key, Any]
) -> None:
    found = by_key(rows(answered.wanted["semantic_entropy"]))
    assert found.keys() == expected.keys()
    for key, row in found.items():
        log_probs = [answer.token_log_probs for answer in expected[key].samples]
        groups = group_answers(equivalent[key])
        halves = [group_answers(equivalent[key], half) for half in halves_of(key)]
        assert (row["groups"], row["group_sizes"]) == (len(groups), [len(group) for group in groups])
        for kind, column in COLUMNS.items():
            error = semantic_entropy_error(log_probs, halves, kind=kind)
            assert row[column] == pytest.approx(semantic_entropy(log_probs, groups, kind=kind), abs=1e-3)
            assert row[f"{column}_standard_error"] == pytest.approx(error, abs=1e-3)
    assert len({row["semantic_entropy_standard_error"] for row in found.values()}) > len(found) / 2


def test_coherent_persuasion_and_its_error_are_those_of_the_answers_without_and_with_the_context(
    answered: Work, expected: dict[Key, SampledAnswers], equivalent: dict[Key, Any]
) -> None:
    def grouped(key: Key) -> GroupedAnswers:
        halves = [group_answers(equivalent[key], half) for half in halves_of(key)]
        distributions = [answer.mean_distribution for answer in expected[key].samples]
        return GroupedAnswers("", distributions, group_answers(equivalent[key]), halves)

    found = by_key(rows(answered.wanted["coherent_persuasion"]))
    assert found.keys() == {key for key in expected if key[1] != "none"}
    for key, row in found.items():
        without, within = grouped((key[0], "none")), grouped(key)
        (made,) = coherent_persuasions(without, [within])
        assert row["coherent_persuasion"] == pytest.approx(made.score, rel=1e-3, abs=1e-5)
        assert row["coherent_persuasion_standard_error"] == pytest.approx(made.standard_error, rel=1e-3, abs=1e-5)
        for side, name in ((without, "without"), (within, "with")):
            assert row[f"groups_{name}"] == len(side.groups)
            assert row[f"group_sizes_{name}"] == [len(group) for group in side.groups]
    assert all(row["coherent_persuasion_standard_error"] > 0 for row in found.values())


def test_every_entropy_can_be_worked_out_again_from_the_stored_answers(answered: Work) -> None:
    samples: dict[Key, list[Row]] = {}
    for row in rows(answered.wanted["answers"]):
        if row["sample"] is not None:
            samples.setdefault((row["question_id"], row["condition"]), []).append(row)
    for key, row in by_key(rows(answered.wanted["semantic_entropy"])).items():
        of_key = sorted(samples[key], key=lambda one: one["sample"])
        log_probs = [one["token_log_probs"] for one in of_key]
        groups = [
            [number for number, one in enumerate(of_key) if one["answer_group"] == group]
            for group in range(row["groups"])
        ]
        assert [len(group) for group in groups] == row["group_sizes"]
        for kind in KINDS:
            assert semantic_entropy(log_probs, groups, kind=kind) == pytest.approx(row[COLUMNS[kind]], abs=1e-6)


def test_half_samples_are_another_ones_in_every_question_and_condition() -> None:
    keys = [(question, condition) for question in ("q1", "q2") for condition in CONDITIONS]
    assert len({str(halves_of(key)) for key in keys}) == len(keys)


def test_without_half_samples_the_scores_are_the_same_and_the_errors_are_null(
    prepared: Prepared, answered: Work
) -> None:
    scores = ("semantic_entropy", "coherent_persuasion")
    before = {name: by_key(rows(answered.wanted[name])) for name in scores}
    do(with_parameters(answered, half_samples=0), prepared.workspace, force=True)
    for name in scores:
        for key, row in by_key(rows(answered.wanted[name])).items():
            errors = {column for column in row if column.endswith("_standard_error")}
            assert errors
            assert all(row[column] is None for column in errors)
            for column in row.keys() - errors:
                assert row[column] == _to_rounding(before[name][key][column], 1e-12)


@pytest.mark.parametrize("with_question", [False, True])
def test_the_judge_is_given_the_questions_when_it_is_asked_to_put_them_first(
    with_question: bool, prepared: Prepared, models: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, given = load_entailment(models["entailment"]), []

    class Noted:
        stand_in = None

        def equivalent_in_bulk(self, texts: Any, questions: Any = None) -> Any:
            given.append((len(texts), questions))
            return judge.equivalent_in_bulk(texts)  # a question of bytes is too long for the tiny judge

    monkeypatch.setattr(answers, "load_entailment", lambda *_, **__: Noted())
    work = with_parameters(prepared.works["answers"], entailment_with_question=with_question)
    do(work, prepared.workspace)
    asked = [row["question"] for row in rows(work.inputs["questions"]) for _ in CONDITIONS]
    assert [count for count, _ in given] == [6, 3]  # a chunk of two questions and one of one, under three conditions
    assert [one for _, some in given for one in some or ()] == (asked if with_question else [])


def test_how_much_of_a_context_was_cut_is_said_of_its_answers(
    prepared: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = set()

    def cut(model: LanguageModel, question: str, context: str | None, *, room: int) -> AnswerPrompt:
        rooms.add(room)
        whole = answer_prompt(model, question, context, room=room)
        return whole if context is None else replace(whole, context_cut=len(context))

    monkeypatch.setattr(answers, "answer_prompt", cut)
    work = prepared.works["answers"]
    do(work, prepared.workspace)
    questions = {row["question_id"]: row for row in rows(work.inputs["questions"])}
    for row in rows(work.wanted["answers"]):
        context = questions[row["question_id"]].get(f"{row['condition']}_context")
        assert row["context_cut"] == len(context or "")
    assert rooms == {SAMPLING["max_new_tokens"]}


def test_scores_of_a_question_do_not_depend_on_what_else_is_in_its_chunk(
    prepared: Prepared, answered: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {name: rows(stored) for name, stored in answered.wanted.items()}
    monkeypatch.setattr(answers, "QUESTIONS_A_CHUNK", {"cpu": 1})
    do(answered, prepared.workspace, force=True)
    for name, stored in answered.wanted.items():
        found = rows(stored)
        assert len(found) == len(before[name])
        for row, other in zip(found, before[name], strict=True):
            assert row == {column: _to_rounding(value, 1e-3) for column, value in other.items()}


def _to_rounding(value: Any, off: float) -> Any:
    is_number = isinstance(value[0] if isinstance(value, list) and value else value, float)
    return pytest.approx(value, abs=off) if is_number else value


def test_a_study_in_other_batches_orders_and_parts_gives_the_same_rows(
    prepare: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "QUESTIONS_A_CHUNK", {"cpu": 32})

    def study(folder: str, batch_size: int, chosen: slice) -> dict[str, list[Row]]:
        prepared = prepare(tmp_path / folder)
        work = replace(prepared.works["answers"], batch_size=batch_size)
        build_questions(sample.questions("static")[:24][chosen], work.inputs["questions"])
        do(work, prepared.workspace)
        return {
            name: sorted(rows(stored), key=lambda row: repr(row["question_id"])) for name, stored in work.wanted.items()
        }

    whole = study("whole", 64, slice(None))
    assert len(whole["answers"]) == 24 * 3 * (PARAMETERS["samples"] + 1)
    for other in (
        study("one by one", 1, slice(None)),
        study("backwards", 7, slice(None, None, -1)),
        study("a part", 64, slice(20, 22)),
    ):
        asked = {row["question_id"] for row in other["answers"]}
        for name, found in other.items():
            expected = [row for row in whole[name] if row["question_id"] in asked]
            assert len(found) == len(expected) > 0
            for one, another in zip(found, expected, strict=True):
                assert_same(one, another)


def assert_same(one: Row, other: Row) -> None:
    """Equal but for rounding, and for the digest of the questions that were asked."""
    assert one.keys() == other.keys()
    for name, value in one.items():
        if name == "dataset_version":
            continue
        if isinstance(value, float) or (isinstance(value, list) and value and isinstance(value[0], float)):
            np.testing.assert_allclose(value, other[name], atol=1e-4)
        else:
            assert value == other[name], name
