"""Citations of stored replies: cited passages, their correctness, and source passages."""

from dataclasses import replace
from typing import Any

import pytest

from swaymeter.data.records import Passage, Question, QuestionContext
from swaymeter.tasks.measures.cited_passages import citations
from swaymeter.tasks.scoring.followed import Verdict
from tests.tasks.measures.conftest import Study

NINE = Passage("It opens at nine.", "supporting", ("nine",))
TEN = Passage("It opens at ten.", "conflicting", ("ten",))
ELEVEN = Passage("It opens at eleven.", "conflicting", ("eleven",))
DOORS = Passage("It has three doors.", "irrelevant")
NOON = Passage("It opens at noon, says somebody.", "unknown", ("noon",))
NUMBERED: Any = {"form": "[{number}] {text}"}
MIXED = QuestionContext("mixed", "mixed", (TEN, NINE, DOORS, NINE), ("ten",), **NUMBERED)
THREE_ANSWERS = QuestionContext("three answers", "mixed", (NINE, TEN, ELEVEN, NOON), ("ten", "eleven"))
RIGHT = QuestionContext("right", "supporting", (DOORS, NINE), ("nine",))
IRRELEVANT = QuestionContext("irrelevant", "irrelevant", (DOORS, DOORS))
SINGLE = QuestionContext("one", "conflicting", (TEN,), ("ten",))
SINGLE_NUMBERED = QuestionContext("one numbered", "conflicting", (TEN,), ("ten",), **NUMBERED)


@pytest.fixture
def question(study: Study) -> Question:
    texts = {"question": "When does the old library open?", "object": "nine", "answers": ("nine",), "replacement": ""}
    contexts = (MIXED, THREE_ANSWERS, RIGHT, IRRELEVANT, SINGLE, SINGLE_NUMBERED)
    return replace(study.inputs.questions[0], **texts, contexts=contexts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    # `expected` has the columns cited, cited_exist, citation_right, came_from and names_conflict, which is True if the
    # reply says that two passages contradict each other.
    ("case", "text", "stated", "expected"),
    [
        (MIXED, "At nine [2].", "original", ((2,), True, True, (2, 4), False)),
        (MIXED, "At nine [1].", "original", ((1,), True, False, (2, 4), False)),
        (MIXED, "At nine [1, 4].", "original", ((1, 4), True, True, (2, 4), False)),
        (MIXED, "At nine [5].", "original", ((5,), False, False, (2, 4), False)),
        (MIXED, "At nine.", "original", ((), None, None, (2, 4), False)),
        (MIXED, "At ten [1].", "context", ((1,), True, True, (1,), False)),
        # The reply has no passage's answer in words: an entailment model decided the verdict.
        (MIXED, "At five past [1].", "context", ((1,), True, True, (1,), False)),
        (MIXED, "Passage 1 says ten, but passage 2 says nine.", "both", ((1, 2), True, True, (1, 2, 4), True)),
        (MIXED, "At nine and ten.", "both", ((), None, None, (1, 2, 4), False)),
        (MIXED, "It has three doors [3].", "neither", ((3,), True, None, (), False)),
        (MIXED, "Passage 3 does not say.", "refusal", ((3,), True, None, (), False)),
        (THREE_ANSWERS, "At eleven, says passage 3.", "context", ((3,), True, True, (3,), False)),
        (THREE_ANSWERS, "At eleven, says passage 2.", "context", ((2,), True, False, (3,), False)),
        (THREE_ANSWERS, "At noon [4].", "neither", ((4,), True, True, (4,), False)),
        (RIGHT, "At nine [2].", "context", ((2,), True, True, (2,), False)),
        (IRRELEVANT, "At nine [1].", "original", ((1,), True, False, (), False)),
        (SINGLE_NUMBERED, "At ten [1].", "context", ((1,), True, True, (1,), False)),
    ],
)
def test_citations_follow_from_text_and_verdict(
    case: QuestionContext, text: str, stated: Verdict, expected: Any, question: Question
) -> None:
    assert tuple(citations(question, case, text, stated).values()) == expected


def test_replies_to_several_or_numbered_passages_have_rows(study: Study, question: Question) -> None:
    study = replace(study, inputs=replace(study.inputs, questions=[question]))
    cases = [("none", "none"), *((case.context_id, case.condition) for case in question.contexts)]
    study.store(
        "answers",
        [
            {
                "question_id": question.question_id,
                "context_id": context,
                "condition": condition,
                "sample": sample,
                "text": "At nine [2]." if sample is None else "At ten [1].",
            }
            for context, condition in cases
            for sample in (None, 0)
        ],
    )
    rows = study.rows("cited_passages")
    assert {(row["context_id"], row["sample"]) for row in rows} == {
        (context, sample)
        for context in ("mixed", "three answers", "right", "irrelevant", "one numbered")
        for sample in (None, 0)
    }
    greedy, sampled = (
        next(row for row in rows if row["context_id"] == "mixed" and row["sample"] == sample) for sample in (None, 0)
    )
    assert (greedy["cited"], greedy["came_from"], greedy["citation_right"]) == ([2], [2, 4], True)
    assert (sampled["cited"], sampled["came_from"], sampled["engine"]) == ([1], [1], "words")
    assert study.loaded == 0
