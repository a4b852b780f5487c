"""Accuracy: whether the stored greedy answer is the expected one; no model is needed.

A disputable question without a context has no expected answer, so it has no accuracy [DynamicQA, Table 2]. An empty
answer is not accurate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from data.records import CONDITIONS, Question
from data.records.row import Meaning, table
from tasks.measures.measure import Chunk, Computed, Inputs, Measure, Parameters, Row, Rows
from tasks.measures.provenance import inherited
from tasks.measures.rows import QuestionScore
from tasks.measures.stored import QuestionKey, of_questions, rows_of

ENGINE = "rouge-l"


class AccuracyParameters(Parameters):
    """When an answer counts as the expected one."""

    rouge_threshold: float = Field(default=0.3, ge=0, lt=1)
    """The ROUGE-L (F-measure) above which an answer counts as an expected one."""


@table(
    "accuracy",
    "a question under a condition",
    key=("model", "dtype", "relation", "question_id", "condition"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy(QuestionScore):
    """A row of accuracy."""

    expected: Annotated[str, Meaning("the answer that the condition states")]
    answer: Annotated[str, Meaning("the greedy answer")]
    accurate: Annotated[bool, Meaning("ROUGE-L F-measure over the threshold")]


def compute(inputs: Inputs, model: None, chunks: Sequence[Chunk]) -> Computed:
    """Compares every greedy answer with the answer that its condition states."""
    from tasks.scoring.accuracy import is_accurate

    parameters: AccuracyParameters = inputs.parameters["accuracy"]
    for questions in chunks:
        rows = []
        greedy = greedy_answers(inputs, questions)
        for question in questions:
            for condition in CONDITIONS[question.partition == "disputable" :]:
                answer, origin = greedy[question.question_id, condition]
                expected = question.context_answer(condition)
                rows.append(
                    {
                        "expected": expected,
                        "answer": answer,
                        "accurate": is_accurate(answer, [expected], threshold=parameters.rouge_threshold),
                        **origin,
                    }
                )
        yield Rows({"accuracy": rows})


def greedy_answers(inputs: Inputs, questions: Sequence[Question]) -> dict[QuestionKey, tuple[str, Row]]:
    """The stored greedy answer to each question under each condition, and the first and last columns of its scores."""
    origins = inherited(rows_of(inputs.scores["answers"], questions), "question_id", "condition")
    return {
        key: (row["text"], {"question_id": key[0], "condition": key[1], **origins[key], "engine": ENGINE})
        for key, (row,) in of_questions(inputs, "answers", questions, "text", greedy=True).items()
    }


MEASURE = Measure(
    name="accuracy",
    version=1,
    unit="",
    meaning="whether the greedy answer is the expected one",
    row=Accuracy,
    about="questions",
    compute=compute,
    needs=("answers",),
    parameters=AccuracyParameters,
)
