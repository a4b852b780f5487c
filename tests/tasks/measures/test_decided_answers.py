"""Verdicts of people and of a judge in place of the rule's: derived by hand."""

from dataclasses import replace
from typing import Any

import pytest

from swaymeter.data.records import Passage, QuestionContext
from swaymeter.data.records.judgements import Judgement
from swaymeter.tasks.measures.decided_answers import decided_answers
from tests.tasks.measures.conftest import Study

OF = {"model": "m", "dtype": "float32"}


def changed(
    study: Study,
    texts: dict[str, str],
    rules: dict[str, tuple[str, str | None]],
    *hand: tuple[str, ...],
    judge: Any = (),
) -> Any:
    """The decided answers to the first question, by context; hand: context, answer, verdict, and perhaps a model."""
    question = study.inputs.questions[0]
    of = {**OF, "relation": question.relation, "question_id": question.question_id, "sample": None}
    answers = [{**of, "context_id": name, "text": text} for name, text in texts.items()]
    stated = [
        {
            **of,
            "context_id": name,
            "verdict": verdict,
            "reason": "denied",
            "outcome": outcome,
            "decided_by": None if verdict == "neither" else "rule",
        }
        for name, (verdict, outcome) in rules.items()
    ]
    verdicts = [
        Judgement(
            row, "v.csv", row, question.question_id, context, "verdict", answer, verdict, "Ada", variant="".join(model)
        )
        for row, (context, answer, verdict, *model) in enumerate(hand, 2)
    ]
    names = ("context_id", "verdict", "rule")
    judged = [{**of, "judge": "J", **dict(zip(names, one, strict=True))} for one in judge]
    rows = [*decided_answers(study.inputs.questions, answers, stated, judged, verdicts)]
    return {row["context_id"]: (row["verdict"], row["outcome"], row["decider"]) for row in rows}


TEXTS = {"none": "Ask me later", "original": "Ask me later", "counter_memory": "Well, that one"}
RULES = {"none": ("neither", None), "original": ("neither", "stubborn"), "counter_memory": ("neither", "other")}


def test_a_verdict_counts_and_the_outcome_follows(study: Study) -> None:
    hand = ("counter_memory", " Well,  that one ", "context")
    assert changed(study, TEXTS, RULES, hand) == {"counter_memory": ("context", "persuaded", "Ada")}


def test_original_answer_is_that_of_supporting_context(study: Study) -> None:
    assert changed(study, TEXTS, RULES, ("original", "Ask me later", "original")) == {
        "original": ("context", "persuaded", "Ada")
    }


def test_right_answer_of_an_unknown_passage_is_its_own(study: Study) -> None:
    question = study.inputs.questions[0]
    unknown = QuestionContext("unknown", "unknown", (Passage("It is so."),), question.answers)
    questions = [replace(question, contexts=(*question.contexts, unknown)), *study.inputs.questions[1:]]
    study.inputs = replace(study.inputs, questions=questions)
    rules = {"none": ("original", None), "unknown": ("context", "agreed")}
    hand = ("unknown", "It is so.", "original")
    assert changed(study, {"none": question.object, "unknown": "It is so."}, rules, hand) == {
        "unknown": ("context", "agreed", "Ada")
    }


def test_what_is_said_of_answer_alone_moves_outcomes(study: Study) -> None:
    hands = ("none", "Ask me later", "original"), ("original", "Ask me later", "original")
    assert changed(study, TEXTS, RULES, *hands) == {
        "none": ("original", None, "Ada"),
        "original": ("context", "agreed", "Ada"),
    }
    rules = {**RULES, "counter_memory": ("context", "persuaded")}
    assert changed(study, TEXTS, rules, ("none", "Ask me later", "context")) == {
        "none": ("context", None, "Ada"),
        "counter_memory": ("context", "agreed", None),
    }


@pytest.mark.parametrize(
    "hand",
    [
        ("counter_memory", "other words", "context"),
        ("none", "Well, that one", "context"),
        ("counter_memory", "Well, that one", "context", "another model"),
    ],
)
def test_other_words_contexts_and_models_are_left_alone(study: Study, hand: tuple[str, ...]) -> None:
    assert changed(study, TEXTS, RULES, hand) == {}


def test_a_verdict_on_one_model_comes_first(study: Study) -> None:
    hands = [("none", "Ask me later", "both"), ("none", "Ask me later", "refusal", "m (float32)")]
    assert changed(study, TEXTS, RULES, *hands)["none"] == ("refusal", None, "Ada")


def test_a_person_comes_before_a_judge(study: Study) -> None:
    judge = [("counter_memory", "context", None), ("original", "context", None), ("none", None, None)]
    assert changed(study, TEXTS, RULES, ("counter_memory", "Well, that one", "refusal"), judge=judge) == {
        "original": ("context", "persuaded", "J"),
        "counter_memory": ("refusal", "other", "Ada"),
    }


def test_a_judge_decides_what_the_rule_cannot_alone(study: Study) -> None:
    rules = {**RULES, "counter_memory": ("context", "persuaded")}
    judge = [("none", "original", None), ("original", "context", None), ("counter_memory", "neither", "context")]
    assert changed(study, TEXTS, rules, judge=judge) == {
        "none": ("original", None, "J"),
        "original": ("context", "agreed", "J"),
    }
