"""What lies in the score files is what the scoring functions say, at the right query, context and condition."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data.errors import DamagedFile, MissingFile, ModelError
from data.keys import content_key
from data.measures import FAMILIES, MEASURES
from data.records import CONDITIONS, Context, Query, is_relevant, of_row
from data.workspace import Stored
from tasks.measurement import chunks, measure
from tasks.measurement.chunks import Spent
from tasks.measurement.measure import do
from tasks.models import load_entailment, load_language_model
from tasks.scoring.accuracy import is_accurate
from tasks.scoring.answer_prompts import answer_prompt
from tasks.scoring.coherent_persuasion import coherent_persuasion
from tasks.scoring.generation import SampledAnswers, sample_answers
from tasks.scoring.persuaded import compare_answers
from tasks.scoring.persuasion import persuasion as score_persuasion
from tasks.scoring.semantic_entropy import group_answers, semantic_entropy
from tests.tasks.measurement.conftest import PARAMETERS, Prepared

Row = dict[str, Any]


def rows(stored: Stored) -> list[Row]:
    return stored.read().to_pylist()


@pytest.fixture
def measured(prepared: Prepared) -> Prepared:
    for work in prepared.works.values():
        do(work, prepared.workspace)
    return prepared


@pytest.fixture
def expected(prepared: Prepared, models: dict[str, str]) -> dict[tuple[str, str], SampledAnswers]:
    """The answers to every question under every condition, asked for one at a time."""
    model = load_language_model(models["language"], dtype="float32", device="cpu")
    options = {name: value for name, value in PARAMETERS.items() if name != "threshold"}
    made = {}
    for question in rows(prepared.works["answers"].inputs["questions"]):
        for condition in CONDITIONS:
            identity = (question["question_id"], condition)
            context = None if condition == "none" else question[f"{condition}_context"]
            prompt = answer_prompt(model, question["question"], context)
            (made[identity],) = sample_answers(model, [prompt], [identity], seed=7, **options)
    return made


def test_persuasion_is_scored_at_its_query_and_its_context(prepared: Prepared, models: dict[str, str]) -> None:
    work = prepared.works["persuasion"]
    spent = do(work, prepared.workspace)
    queries = [of_row(Query, row) for row in rows(work.inputs["queries"])]
    contexts = [of_row(Context, row) for row in rows(work.inputs["contexts"])]
    assert len(queries) > chunks.LEAST_QUERIES
    assert spent.prompts == len(queries) * len(contexts)
    model = load_language_model(models["language"], dtype="float32", device="cpu")
    found = {(row["query_id"], row["context_id"]): row for row in rows(work.wanted["persuasion"])}
    sums = {row["query_id"]: row for row in rows(work.wanted["susceptibility"])}
    assert len(found) == len(queries) * len(contexts)
    for query in queries:
        direct = score_persuasion(model, [context.text for context in contexts], [query.text])
        scores = [found[query.query_id, context.context_id]["persuasion"] for context in contexts]
        np.testing.assert_allclose(scores, direct.scores[0], rtol=1e-4, atol=1e-6)
        assert sums[query.query_id]["susceptibility"] == pytest.approx(np.mean(scores), rel=1e-3)
        assert sums[query.query_id]["contexts"] == len(contexts)
        relevant = [found[query.query_id, context.context_id]["relevant"] for context in contexts]
        assert relevant == [is_relevant(context, query) for context in contexts]
        assert any(relevant)
        assert not all(relevant)
    assert len({round(row["persuasion"], 6) for row in found.values()}) > len(found) / 2


def test_scores_say_where_they_come_from(measured: Prepared, models: dict[str, str]) -> None:
    engines = {"correctness": "rouge-l", "answers": "plain", "fisher": "autograd"}
    for family, work in measured.works.items():
        version = content_key({name: stored.digest() for name, stored in work.inputs.items()})[:12]
        for name, stored in work.wanted.items():
            assert rows(stored), name
            for row in rows(stored):
                assert (row["model"], row["dtype"], row["device"]) == (models["language"], work.dtype, "cpu")
                assert row["engine"] == engines.get(family, "prefix tree")
                assert row["dataset_version"] == version
                assert row["stand_in"] is None
                assert row["relation"] == "capital" or MEASURES[name].inputs == "questions"


def test_answers_are_those_of_the_question_under_its_condition(
    measured: Prepared, expected: dict[tuple[str, str], SampledAnswers]
) -> None:
    found = rows(measured.works["answers"].wanted["answers"])
    assert len(found) == len(expected) * (PARAMETERS["samples"] + 1)
    for row in found:
        of = expected[row["question_id"], row["condition"]]
        answer = of.greedy if row["sample"] is None else of.samples[row["sample"]]
        assert row["text"] == answer.text
        assert row["token_ids"] == list(answer.token_ids)
        assert row["finished"] == answer.finished
        np.testing.assert_allclose(row["token_log_probs"], answer.token_log_probs, atol=1e-3)
        assert (row["answer_group"] is None) == (row["sample"] is None)
    assert len({tuple(row["token_ids"]) for row in found}) > len(expected)


def test_entropy_and_coherent_persuasion_are_those_of_the_answers(
    measured: Prepared, expected: dict[tuple[str, str], SampledAnswers], models: dict[str, str]
) -> None:
    judge = load_entailment(models["entailment"])
    groups = {
        key: group_answers(judge.equivalent([answer.text for answer in one.samples])) for key, one in expected.items()
    }
    wanted = measured.works["answers"].wanted
    entropies = {(row["question_id"], row["condition"]): row for row in rows(wanted["semantic_entropy"])}
    assert entropies.keys() == expected.keys()
    columns = {
        "sum": "semantic_entropy", "length_normalised": "semantic_entropy_length_normalised",
        "rao": "semantic_entropy_rao", "assignment": "cluster_assignment_entropy",
    }  # fmt: skip
    for key, row in entropies.items():
        log_probs = [answer.token_log_probs for answer in expected[key].samples]
        assert row["groups"] == len(groups[key])
        for kind, column in columns.items():
            assert row[column] == pytest.approx(semantic_entropy(log_probs, groups[key], kind=kind), abs=1e-3)
    coherent = {(row["question_id"], row["condition"]): row for row in rows(wanted["coherent_persuasion"])}
    assert coherent.keys() == {key for key in expected if key[1] != "none"}
    for key, row in coherent.items():
        without = (key[0], "none")
        distributions = [
            np.stack([answer.mean_distribution for answer in expected[one].samples]) for one in (without, key)
        ]
        direct = coherent_persuasion(distributions[0], groups[without], distributions[1], groups[key])
        assert row["coherent_persuasion"] == pytest.approx(direct, rel=1e-3, abs=1e-5)
        assert (row["groups_without"], row["groups_with"]) == (len(groups[without]), len(groups[key]))


def test_the_groups_of_the_stored_answers_are_those_that_entropy_counts(measured: Prepared) -> None:
    wanted = measured.works["answers"].wanted
    for row in rows(wanted["semantic_entropy"]):
        where = row["question_id"], row["condition"]
        numbers = {
            one["answer_group"]
            for one in rows(wanted["answers"])
            if (one["question_id"], one["condition"]) == where and one["sample"] is not None
        }
        assert numbers == set(range(row["groups"]))


def _says(prepared: Prepared, spoken: dict[str, str]) -> None:
    """Puts other words into the model's greedy answers, one for each condition."""
    answers = prepared.works["answers"].wanted["answers"]
    changed = [{**row, "text": spoken[row["condition"]]} for row in rows(answers)]
    answers.write(answers.table.of(changed))


def test_correctness_holds_the_greedy_answer_against_what_the_condition_states(prepared: Prepared) -> None:
    do(prepared.works["answers"], prepared.workspace)
    work = prepared.works["correctness"]
    questions = {row["question_id"]: row for row in rows(work.inputs["questions"])}
    first = next(iter(questions.values()))
    _says(prepared, {"none": "nobody knows", "original": first["object"], "counter_memory": first["replacement"]})
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


def test_what_is_done_asks_no_model(measured: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "load_language_model", lambda *_, **__: pytest.fail("a model was loaded"))
    for work in measured.works.values():
        assert do(work, measured.workspace) == Spent()


def test_force_computes_all_of_it_again_with_the_same_scores(measured: Prepared) -> None:
    for work in measured.works.values():
        before = {name: rows(stored) for name, stored in work.wanted.items()}
        times = {name: stored.path.stat().st_mtime_ns for name, stored in work.wanted.items()}
        spent = do(work, measured.workspace, force=True)
        assert (spent.prompts > 0) == (not work.needs)
        assert {name: rows(stored) for name, stored in work.wanted.items()} == before
        assert all(stored.path.stat().st_mtime_ns > times[name] for name, stored in work.wanted.items())


def test_force_takes_no_part_of_a_run_that_was_killed(prepared: Prepared) -> None:
    work = prepared.works["persuasion"]

    def kill(done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        do(work, prepared.workspace, progress=kill)
    assert prepared.workspace.part(work.wanted["persuasion"], 0).is_done()
    prompts = len(rows(work.inputs["queries"])) * len(rows(work.inputs["contexts"]))
    assert do(work, prepared.workspace, force=True).prompts == prompts


def test_a_killed_run_gives_the_same_scores_in_the_end(
    prepared: Prepared, prepare: Callable[[Path], Prepared], tmp_path: Path
) -> None:
    def kill(done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    other = prepare(tmp_path / "other")
    for family in ("persuasion", "memorization", "answer_set", "fisher", "answers"):
        with pytest.raises(KeyboardInterrupt):
            do(prepared.works[family], prepared.workspace, progress=kill)
        do(prepared.works[family], prepared.workspace)
        do(other.works[family], other.workspace)
        for name, stored in prepared.works[family].wanted.items():
            assert rows(stored) == rows(other.works[family].wanted[name])


@pytest.mark.parametrize("family", ["entity_independent", "correctness"])
def test_scores_that_are_not_there_are_named_with_what_needs_them(family: str, prepared: Prepared) -> None:
    work = prepared.works[family]
    (need,) = work.needs
    with pytest.raises(MissingFile, match=f"the scores of {need} that {family} needs are not there; score them first"):
        do(work, prepared.workspace)


def test_every_family_is_computed_from_a_model_or_from_scores() -> None:
    needing = {
        one.family for one in MEASURES.values() if any(MEASURES[need].family != one.family for need in one.needs)
    }
    assert measure.FROM_SCORES.keys() == needing
    assert measure.FROM_A_MODEL.keys() == set(FAMILIES) - needing


def test_a_model_that_is_gone_keeps_what_was_computed_with_it(measured: Prepared) -> None:
    work = replace(measured.works["persuasion"], model="/no/such/model")
    before = rows(work.wanted["persuasion"])
    with pytest.raises(ModelError, match="no such folder"):
        do(work, measured.workspace, force=True)
    assert rows(work.wanted["persuasion"]) == before


def test_prompts_that_cannot_be_read_stop_the_work_and_keep_its_scores(measured: Prepared) -> None:
    work = measured.works["persuasion"]
    work.inputs["contexts"].path.write_bytes(b"")
    with pytest.raises(DamagedFile, match="contexts-"):
        do(work, measured.workspace, force=True)
    assert all(stored.is_done() for stored in work.wanted.values())
