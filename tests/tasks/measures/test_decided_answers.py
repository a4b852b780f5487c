"""Verdicts of people and of a judge that replace verdicts of the rule."""

from dataclasses import replace
from typing import Any

import pytest

from swaymeter.data.records import Passage, QuestionContext
from swaymeter.data.records.judgements import Judgement
from swaymeter.tasks.measures.decided_answers import decided_answers
from tests.tasks.measures.conftest import Study

VARIANT = {"model": "m", "dtype": "float32"}


def decisions(
    study: Study,
    texts: dict[str, str],
    rule_verdicts: dict[str, tuple[str, str | None]],
    *judgements: tuple[str, ...],
    judge: Any = (),
) -> Any:
    """Return the decisions on replies to the first question, by context.

    Args:
        study: the study with the question.
        texts: the reply by context.
        rule_verdicts: the verdict of the rule and the outcome by context.
        judgements: the context, reply and verdict of each judgement, and optionally its model.
        judge: the context, verdict of the judge, and verdict of the rule of each judged reply.
    """
    question = study.inputs.questions[0]
    key = {**VARIANT, "relation": question.relation, "question_id": question.question_id, "sample": None}
    replies = [{**key, "context_id": name, "text": text} for name, text in texts.items()]
    rule_rows = [
        {
            **key,
            "context_id": name,
            "verdict": verdict,
            "reason": "denied",
            "outcome": outcome,
            "decided_by": None if verdict == "neither" else "rule",
        }
        for name, (verdict, outcome) in rule_verdicts.items()
    ]
    stored_judgements = [
        Judgement(
            row, "v.csv", row, question.question_id, context, "verdict", reply, verdict, "Ada", variant="".join(model)
        )
        for row, (context, reply, verdict, *model) in enumerate(judgements, 2)
    ]
    columns = ("context_id", "verdict", "rule")
    judged = [{**key, "judge": "J", **dict(zip(columns, values, strict=True))} for values in judge]
    rows = [*decided_answers(study.inputs.questions, replies, rule_rows, judged, stored_judgements)]
    return {row["context_id"]: (row["verdict"], row["outcome"], row["decider"]) for row in rows}


TEXTS = {"none": "Ask me later", "original": "Ask me later", "counter_memory": "Well, that one"}
RULE_VERDICTS = {"none": ("neither", None), "original": ("neither", "stubborn"), "counter_memory": ("neither", "other")}


def test_outcome_follows_from_a_persons_verdict(study: Study) -> None:
    judgement = ("counter_memory", " Well,  that one ", "context")
    assert decisions(study, TEXTS, RULE_VERDICTS, judgement) == {"counter_memory": ("context", "persuaded", "Ada")}


def test_original_is_the_answer_of_context_original(study: Study) -> None:
    assert decisions(study, TEXTS, RULE_VERDICTS, ("original", "Ask me later", "original")) == {
        "original": ("context", "persuaded", "Ada")
    }


def test_right_answer_agrees_with_an_unknown_passage(study: Study) -> None:
    question = study.inputs.questions[0]
    unknown = QuestionContext("unknown", "unknown", (Passage("It is so."),), question.answers)
    questions = [replace(question, contexts=(*question.contexts, unknown)), *study.inputs.questions[1:]]
    study.inputs = replace(study.inputs, questions=questions)
    rule_verdicts = {"none": ("original", None), "unknown": ("context", "agreed")}
    judgement = ("unknown", "It is so.", "original")
    assert decisions(study, {"none": question.object, "unknown": "It is so."}, rule_verdicts, judgement) == {
        "unknown": ("context", "agreed", "Ada")
    }


def test_verdict_on_closed_book_reply_changes_outcomes(study: Study) -> None:
    judgements = ("none", "Ask me later", "original"), ("original", "Ask me later", "original")
    assert decisions(study, TEXTS, RULE_VERDICTS, *judgements) == {
        "none": ("original", None, "Ada"),
        "original": ("context", "agreed", "Ada"),
    }
    rule_verdicts = {**RULE_VERDICTS, "counter_memory": ("context", "persuaded")}
    assert decisions(study, TEXTS, rule_verdicts, ("none", "Ask me later", "context")) == {
        "none": ("context", None, "Ada"),
        "counter_memory": ("context", "agreed", None),
    }


@pytest.mark.parametrize(
    "judgement",
    [
        ("counter_memory", "other words", "context"),
        ("none", "Well, that one", "context"),
        ("counter_memory", "Well, that one", "context", "another model"),
    ],
)
def test_verdict_on_another_reply_changes_nothing(study: Study, judgement: tuple[str, ...]) -> None:
    assert decisions(study, TEXTS, RULE_VERDICTS, judgement) == {}


def test_verdict_that_names_the_model_comes_first(study: Study) -> None:
    judgements = [("none", "Ask me later", "both"), ("none", "Ask me later", "refusal", "m (float32)")]
    assert decisions(study, TEXTS, RULE_VERDICTS, *judgements)["none"] == ("refusal", None, "Ada")


def test_a_person_comes_before_a_judge(study: Study) -> None:
    judge = [("counter_memory", "context", None), ("original", "context", None), ("none", None, None)]
    assert decisions(study, TEXTS, RULE_VERDICTS, ("counter_memory", "Well, that one", "refusal"), judge=judge) == {
        "original": ("context", "persuaded", "J"),
        "counter_memory": ("refusal", "other", "Ada"),
    }


def test_judge_decides_only_undecided_replies(study: Study) -> None:
    rule_verdicts = {**RULE_VERDICTS, "counter_memory": ("context", "persuaded")}
    judge = [("none", "original", None), ("original", "context", None), ("counter_memory", "neither", "context")]
    assert decisions(study, TEXTS, rule_verdicts, judge=judge) == {
        "none": ("original", None, "J"),
        "original": ("context", "agreed", "J"),
    }
