"""A judge's verdicts on stored answers: of a model on this machine, and of one at a made-up server."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from swaymeter.data.errors import UsageError
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.judged_answers import JudgedAnswersParameters
from swaymeter.tasks.measures.run import declaration
from swaymeter.tasks.models.backends import identify_language_model
from swaymeter.tasks.models.endpoints.model import load_served
from swaymeter.tasks.scoring.judging import Case, judged
from tests.data.sources.servers.faults import Asked, Say, says
from tests.tasks.measures.conftest import Study
from tests.tasks.measures.test_correctness import CONDITIONS, say
from tests.tasks.models.endpoints.made_up import made_up


@pytest.fixture
def study(study: Study) -> Study:
    """A study of three questions, whose judge is its own model."""
    study.parameters["judged_answers"] = {"judge": study.model}
    say(study, {"none": "somewhere else", "original": "", "counter_memory": study.inputs.questions[0].replacement})
    return study


def test_greedy_answers_have_the_verdict_of_the_judge(study: Study, language_model: Any) -> None:
    rows = study.by_question("judged_answers")
    assert len(rows) == len(study.rows("judged_answers")) == 9
    question = study.inputs.questions[0]
    right, other = tuple(dict.fromkeys(question.forms)), (question.replacement,)
    expected = judged(language_model, [
        Case(question.question, other, right, "somewhere else"), Case(question.question, right, (), ""),
        Case(question.question, other, right, question.replacement),
    ])  # fmt: skip
    for condition, judgement, rule in zip(CONDITIONS, expected, ("neither", "refusal", "context"), strict=True):
        row = rows[question.question_id, condition]
        assert (row["verdict"], row["rule"], row["unjudged"]) == (judgement.verdict, rule, None)
        assert row["log_probability"] == pytest.approx(judgement.log_probability, abs=1e-5)
        assert row["agree"] == (judgement.verdict == rule)
        assert (row["sample"], row["judge"]) == (None, language_model.name)


def test_samples_are_judged_where_asked(study: Study) -> None:
    study.parameters["judged_answers"]["samples"] = True
    rows = study.rows("judged_answers")
    assert [row["sample"] for row in rows] == [None, 0] * 9
    assert all(row["verdict"] and row["rule"] == "neither" for row in rows if row["sample"] == 0)


def test_a_served_judge_says_a_letter_or_has_no_verdict(study: Study, tmp_path: Path) -> None:
    question = study.inputs.questions[0]

    def letter(asked: Asked) -> Say | None:
        if b"Answer with one letter" not in asked.body:
            return None
        said = "A" if question.replacement in asked.body.decode("unicode_escape").partition("Reply:")[2] else "Well, B"
        message = {"role": "assistant", "content": said}
        return says({"model": "made-up", "choices": [{"message": message, "index": 0, "finish_reason": "stop"}]})

    with made_up(dialect="openai", before=letter) as server:
        study.parameters["judged_answers"] = {"judge": f"made-up@{server.address}"}
        study.inputs = replace(study.inputs, load_served=lambda endpoint: load_served(endpoint, tmp_path / "kept"))
        rows = study.by_question("judged_answers")
    found = {condition: rows[question.question_id, condition] for condition in CONDITIONS}
    assert [row["verdict"] for row in found.values()] == [None, None, "context"]
    assert [row["agree"] for row in found.values()] == [None, None, True]
    assert [row["unjudged"] for row in found.values()] == ["no letter alone", "no letter alone", None]
    assert {(row["log_probability"], row["judge"], row["judge_revision"]) for row in rows.values()} == {
        (None, "made-up", "served")
    }


def test_a_served_judge_is_asked_within_a_study_alone(study: Study) -> None:
    study.parameters["judged_answers"] = {"judge": "large@http://127.0.0.1:1/v1"}
    with pytest.raises(UsageError, match="within a study"):
        study.score("judged_answers")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "judge\n  is missing"),
        ({"judge": "large@ftp://x"}, "is no NAME@ADDRESS"),
        ({"judge": "m", "key_from": "KEY"}, "key_from is for a judge at a server"),
        ({"judge": "m@https://x/v1", "dtype": "bfloat16"}, "dtype is for a judge on this machine"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        JudgedAnswersParameters.model_validate(given)


def test_another_judge_makes_other_scores(study: Study) -> None:
    def depends_on(**given: Any) -> Any:
        parameters = {name: MEASURES[name].parameters() for name in ("answers", "whose_answer")}
        parameters["judged_answers"] = JudgedAnswersParameters(**given)
        return declaration("judged_answers", parameters)["depends_on"]

    here, served = depends_on(judge=study.model), depends_on(judge="m@https://x/v1", key_from="KEY")
    assert (here["judge"], served["judge"]) == (identify_language_model(study.model).revision, "served")
    assert here["prompt"] == served["prompt"]
