"""Verdicts of judges on stored replies: of a language model, a server, a function and an entailment model."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pydantic import ValidationError

from swaymeter.data.errors import ModelError, ScoreError, UsageError
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.judged_answers import JudgedAnswersParameters
from swaymeter.tasks.models.endpoints.model import load_served
from swaymeter.tasks.models.entailment import EntailmentModel
from swaymeter.tasks.models.loading import identify_language_model
from swaymeter.tasks.scoring.judging import Case, ask_language_model
from tests.data.sources.servers.faults import ServedRequest, ServedResponse, json_response
from tests.tasks.measures.conftest import Study
from tests.tasks.measures.test_correctness import CONDITIONS, store_replies
from tests.tasks.models.endpoints.letter_server import letter_server

WriteJudge = Callable[[str], str]


@pytest.fixture
def study(study: Study, tmp_path: Path) -> Study:
    """Return a study whose judge is its own model. Replies without a context are undecided."""
    study.parameters["judged_answers"] = {"judge": study.model}
    study.inputs = replace(study.inputs, verdicts=tmp_path / "verdicts")
    store_replies(
        study, {"none": "somewhere else", "original": "", "counter_memory": study.inputs.questions[0].replacement}
    )
    return study


@pytest.fixture
def write_judge(tmp_path: Path) -> WriteJudge:
    """Return a function that writes a judge with a body. The judge is a Python function that logs the replies."""

    def write(body: str) -> str:
        file, log = tmp_path / "mine.py", tmp_path / "judged_replies"
        file.write_text(
            f"def judge(*, question, context, original, reply):\n"
            f"    with open({str(log)!r}, 'a') as file: print(reply, file=file)\n    {body}\n"
        )
        return f"{file}:judge"

    return write


def logged_replies(folder: Path) -> list[str]:
    return (folder / "judged_replies").read_text().splitlines()


def test_undecided_and_some_decided_replies_are_judged(study: Study, language_model: Any) -> None:
    rows = study.by_question("judged_answers")
    question = study.inputs.questions[0]
    right, other = tuple(dict.fromkeys(question.forms)), (question.replacement,)
    expected = ask_language_model(
        language_model,
        [
            Case(question.question, other, right, "somewhere else"),
            Case(question.question, right, (), ""),
            Case(question.question, other, right, question.replacement),
        ],
    )
    for condition, judged, rule in zip(CONDITIONS, expected, (None, "refusal", "context"), strict=True):
        row = rows[question.question_id, condition]
        assert (row["verdict"], row["rule"], row["unjudged"]) == (judged.verdict, rule, None)
        assert row["log_probability"] == pytest.approx(judged.log_probability, abs=1e-5)
        assert (row["sample"], row["judge"]) == (None, study.model)


@pytest.mark.parametrize("agreement", [2, 0])
def test_agreement_is_number_of_judged_decided_replies(study: Study, agreement: int) -> None:
    study.parameters["judged_answers"]["agreement"] = agreement
    rows = study.rows("judged_answers")
    assert sum(row["rule"] is not None for row in rows) == agreement
    undecided = [row for row in study.rows("whose_answer") if not row["decided_by"] and row["sample"] is None]
    assert sum(row["rule"] is None for row in rows) == len(undecided) > 0


def test_undecided_sampled_replies_are_judged_on_request(study: Study) -> None:
    study.parameters["judged_answers"]["samples"] = True
    samples = [row for row in study.rows("judged_answers") if row["sample"] is not None]
    assert len(samples) > 0
    assert all(row["verdict"] and row["rule"] is None for row in samples)


def test_judge_may_disagree_with_the_rule(study: Study, write_judge: WriteJudge) -> None:
    store_replies(study, dict.fromkeys(CONDITIONS, study.inputs.questions[0].replacement))
    study.parameters["judged_answers"] = {"judge": write_judge("return 'context'")}
    rows = study.rows("judged_answers")
    decided = [row for row in rows if row["rule"]]
    assert sum(row["verdict"] != row["rule"] for row in decided) == sum(row["rule"] != "context" for row in decided)
    assert {(row["judge"], len(row["judge_revision"])) for row in rows} == {("mine.py:judge", 64)}


def test_stored_verdicts_are_not_requested_again(study: Study, write_judge: WriteJudge, tmp_path: Path) -> None:
    study.parameters["judged_answers"] = {"judge": write_judge("return 'neither'")}
    first = study.rows("judged_answers")
    replies = logged_replies(tmp_path)
    # No question was judged twice with the same reply.
    assert len(replies) == len(set(zip(replies, [row["question_id"] for row in first], strict=False)))
    study.parameters["judged_answers"]["agreement"] = 40  # the artifact has another key, and is computed again
    assert [row["verdict"] for row in study.rows("judged_answers")] == ["neither"] * len(first)
    assert logged_replies(tmp_path) == replies
    (stored,) = (tmp_path / "verdicts").glob("*.jsonl")
    lines = stored.read_text().splitlines()
    changed_line = next(line for line in lines if line)  # its checksum is now wrong
    stored.write_text(
        "\n".join(line.replace('"neither"', '"context"') if line == changed_line else line for line in lines)
    )
    study.parameters["judged_answers"]["agreement"] = 30
    assert [row["verdict"] for row in study.rows("judged_answers")] == ["neither"] * len(first)
    assert len(logged_replies(tmp_path)) == len(replies) + 1


@pytest.mark.parametrize(
    ("body", "message"),
    [("return 'yes'", r"mine.py:judge returned 'yes'"), ("1 / 0", "failed on .*ZeroDivision")],
)
def test_a_function_that_fails_is_named(study: Study, write_judge: WriteJudge, body: str, message: str) -> None:
    study.parameters["judged_answers"] = {"judge": write_judge(body)}
    with pytest.raises(ScoreError, match=message):
        study.rows("judged_answers")


def test_verdicts_before_a_failure_are_stored(study: Study, write_judge: WriteJudge, tmp_path: Path) -> None:
    log = tmp_path / "judged_replies"
    call_number = f"__import__('pathlib').Path({str(log)!r}).read_text().count('\\n')"
    judge = write_judge(f"if {call_number} == 2: raise OSError\n    return 'neither'")
    study.parameters["judged_answers"] = {"judge": judge}
    with pytest.raises(ScoreError, match="OSError"):
        study.rows("judged_answers")
    rows = study.rows("judged_answers")
    assert len(logged_replies(tmp_path)) == len(rows) + 1  # the call that failed is repeated


def test_a_file_without_the_function_is_refused(study: Study, write_judge: WriteJudge) -> None:
    study.parameters["judged_answers"] = {"judge": write_judge("pass").replace(":judge", ":other")}
    with pytest.raises(ModelError, match="has no function other"):
        study.rows("judged_answers")


def test_entailment_judge_chooses_the_entailed_answer(study: Study, models: dict[str, str]) -> None:
    question = study.inputs.questions[0]
    study.parameters["judged_answers"] = {"judge": models["entailment"], "agreement": 0}
    right = (f"{question.question} somewhere else", f"{question.question} {question.object}")
    with (
        patch.object(EntailmentModel, "entailing", lambda self, pairs: {right} & {*pairs}),
        patch.object(EntailmentModel, "fits", lambda self, pair: True),
    ):
        rows = study.by_question("judged_answers")
    assert rows[question.question_id, "none"]["verdict"] == "original"
    assert {row["verdict"] for key, row in rows.items() if key != (question.question_id, "none")} == {"neither"}


def test_server_may_refuse_to_constrain_the_judge(study: Study, tmp_path: Path) -> None:
    has_format = list[bool]()

    def respond(request: ServedRequest) -> ServedResponse | None:
        if b"Answer with one letter" not in request.body:
            return None
        has_format.append(b'"enum"' in request.body)
        if has_format[-1]:
            return json_response(
                {"error": {"message": "no response_format here", "param": "response_format"}}, status=400
            )
        text = "A" if study.inputs.questions[0].question.encode() in request.body else "Well, B"
        message = {"role": "assistant", "content": text}
        return json_response(
            {"model": "made-up", "choices": [{"message": message, "index": 0, "finish_reason": "stop"}]}
        )

    with letter_server(dialect="openai", override=respond) as server:
        study.parameters["judged_answers"] = {"judge": f"made-up@{server.address}", "agreement": 0}
        study.inputs = replace(study.inputs, load_served=lambda endpoint: load_served(endpoint, tmp_path / "responses"))
        rows = study.by_question("judged_answers")
        study.parameters["judged_answers"]["agreement"] = 1
        study.by_question("judged_answers")
    first = rows[study.inputs.questions[0].question_id, "none"]
    assert (first["verdict"], first["judge_revision"], first["log_probability"]) == ("context", "served", None)
    assert {row["unjudged"] for row in rows.values()} == {None, "no offered verdict"}
    assert has_format.count(True) <= 3  # requests that are sent before the first refusal arrives
    assert has_format.count(False) == len(rows) + 1  # stored verdicts are not requested again


def test_served_judge_needs_a_study(study: Study) -> None:
    study.parameters["judged_answers"] = {"judge": "large@http://127.0.0.1:1/v1"}
    with pytest.raises(UsageError, match="within a study"):
        study.score("judged_answers")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "judge\n  is missing"),
        ({"judge": "large@ftp://x"}, "must be NAME@URL"),
        ({"judge": "m", "key_from": "KEY"}, "key_from is for a judge at a server"),
        ({"judge": "m", "timeout_s": "9"}, "timeout_s is for a judge at a server"),
        ({"judge": "m@https://x/v1", "dtype": "bfloat16"}, "dtype is for a judge that is a language model on"),
    ],
)
def test_missing_or_contradictory_parameters_are_refused(parameters: dict[str, str], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        JudgedAnswersParameters.model_validate(parameters)


def test_scores_depend_on_the_judge(study: Study, write_judge: WriteJudge) -> None:
    def depends_on(**changes: Any) -> Any:
        parameters = {name: MEASURES[name].parameters() for name in ("answers", "whose_answer")}
        parameters["judged_answers"] = JudgedAnswersParameters(**changes)
        return MEASURES.declaration("judged_answers", parameters)["depends_on"]

    local, served = depends_on(judge=study.model), depends_on(judge="m@https://x/v1", key_from="KEY")
    assert (local["judge"], served["judge"]) == (identify_language_model(study.model).revision, "served")
    assert local["prompt"] == served["prompt"]
    timed = JudgedAnswersParameters(judge="m@https://x/v1", timeout_s=9)
    assert (timed.endpoint and timed.endpoint.timeout_s, "timeout_s" in timed.key_inputs) == (9, False)
    assert depends_on(judge=write_judge("return None")) != depends_on(judge=write_judge("return 'both'"))
