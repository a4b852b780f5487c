"""Persuasion of the passages of stored questions: the compared prompts, and the rows."""

import math
from dataclasses import replace

import pytest
import torch

from swaymeter.data.records import Passage, Question, QuestionContext
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.stored_chunks import count_prompts
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt
from tests.tasks.measures.conftest import Study
from tests.tasks.models.reference_values import log_probs

RIGHT = Passage("It opens at nine.", "supporting", ("nine",), title="Hours")
WRONG = Passage("It opens at ten.", "conflicting", ("ten",))
OTHER = Passage("It has three doors.", "irrelevant")
CONTEXTS = (
    QuestionContext("mixed", "mixed", (RIGHT, WRONG, OTHER), ("ten",), form="[{number}] {text}", separator="\n"),
    QuestionContext("right", "supporting", (RIGHT,), ("nine",)),
    QuestionContext("both", "supporting", (OTHER, RIGHT), ("nine",)),
)


@pytest.fixture
def study(study: Study) -> Study:
    first, *others = study.inputs.questions
    question = replace(first, question="When does the library open?", contexts=CONTEXTS)
    return replace(study, inputs=replace(study.inputs, questions=[question, *others]))


def divergence(model: LanguageModel, question: Question, whole: str, remainder: str | None) -> float:
    prompts = [answer_prompt(model, question.question, text).tokens for text in (whole, remainder)]
    full, reduced = log_probs(model, prompts).double()
    return math.fsum((full.exp() * (full - reduced)).tolist())


def test_each_passage_is_compared_with_prompt_without_it(study: Study, language_model: LanguageModel) -> None:
    rows = {
        (row["context_id"], row["passage"]): row
        for row in study.rows("passage_persuasion")
        if row["question_id"] == study.inputs.questions[0].question_id
    }
    whole = "[1] It opens at nine.\n[2] It opens at ten.\n[3] It has three doors."
    expected = {
        ("mixed", 1): (whole, "[1] It opens at ten.\n[2] It has three doors."),
        ("mixed", 2): (whole, "[1] It opens at nine.\n[2] It has three doors."),
        ("mixed", 3): (whole, "[1] It opens at nine.\n[2] It opens at ten."),
        ("right", 1): ("It opens at nine.", None),
        ("both", 1): ("It has three doors.\n\nIt opens at nine.", "It opens at nine."),
        ("both", 2): ("It has three doors.\n\nIt opens at nine.", "It has three doors."),
    }
    question = study.inputs.questions[0]
    scores = {key: divergence(language_model, question, *texts) for key, texts in expected.items()}
    assert {key: row["passage_persuasion"] for key, row in rows.items()} == pytest.approx(scores, abs=1e-4)
    kinds = [rows["mixed", number]["kind"] for number in (1, 2, 3)]
    assert kinds == ["supporting", "conflicting", "irrelevant"]
    assert rows["both", 2]["passages"] == 2
    whole_log_probs = log_probs(language_model, [answer_prompt(language_model, question.question, whole).tokens])[0]
    token = language_model.tokenizer.decode([int(torch.argmax(whole_log_probs))])
    assert {rows["mixed", number]["token_with"] for number in (1, 2, 3)} == {token}


def test_prompts_without_each_passage_are_counted(study: Study) -> None:
    questions = study.inputs.questions
    # A context with n passages has n + 1 prompts.
    assert count_prompts(MEASURES["passage_persuasion"], study.inputs, questions[:1]) == 4 + 2 + 3
    # A question has a prompt for each of three contexts, and one closed-book.
    assert count_prompts(MEASURES["context_utilisation"], study.inputs, questions[:1]) == 4


def test_cut_context_is_reported(study: Study) -> None:
    long = QuestionContext("long", "unknown", (Passage("It is open. " * 60), OTHER))
    question = replace(study.inputs.questions[0], contexts=(long,))
    rows = replace(study, inputs=replace(study.inputs, questions=[question])).rows("passage_persuasion")
    assert [(row["context_cut"] > 0, row["context_cut_without"] > 0) for row in rows] == [(True, False), (True, True)]
    assert rows[1]["passage_persuasion"] == 0.0  # a passage that is cut off has no effect
