"""Accuracy: whether the stored greedy answer is the expected one; no model is needed.

A disputable question without a context has no expected answer, so it has no accuracy [DynamicQA, Table 2]. An empty
answer is not accurate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from swaymeter.data.records import Question
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import Inputs, Measure, Parameters, Row
from swaymeter.tasks.measures.rows import QUESTION_KEY, QuestionScore
from swaymeter.tasks.measures.stored import QuestionKey, of_cases, of_questions


class AccuracyParameters(Parameters):
    """When an answer counts as the expected one."""

    rouge_threshold: float = Field(default=0.3, ge=0, lt=1)
    """The ROUGE-L (F-measure) above which an answer counts as an expected one."""
    cleaning: Literal["none", "released"] = "none"
    """What is left out of a model's answer before it is compared: none, nothing; released, as the released code of
    DynamicQA has it, the letters of "answer" wherever they stand, "assistant:" and colons."""

    def compared(self, answer: str) -> str:
        """A model's answer as it is compared."""
        from swaymeter.tasks.scoring.accuracy import cleaned_as_released

        return cleaned_as_released(answer) if self.cleaning == "released" else answer


@table("accuracy", "a question alone, or with a context", key=QUESTION_KEY)
@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy(QuestionScore):
    """A row of accuracy."""

    expected: Annotated[str, Meaning("the answer that the context states; the original one where it states none")]
    answer: Annotated[str, Meaning("the greedy answer")]
    accurate: Annotated[bool, Meaning("ROUGE-L F-measure over the threshold")]


def compute(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    """Compares every greedy answer with the one that its context states; without one, with the original."""
    from swaymeter.tasks.scoring.accuracy import answers_match

    parameters: AccuracyParameters = inputs.parameters["accuracy"]
    greedy = greedy_answers(inputs, questions)
    for question in questions:
        for case in question.cases[question.is_disputable :]:
            if (question.question_id, case.context_id) not in greedy:
                continue
            answer, origin = greedy[question.question_id, case.context_id]
            expected = case.answers[0] if case.answers else question.object
            accurate = answers_match(parameters.compared(answer), expected, threshold=parameters.rouge_threshold)
            yield {**origin, "expected": expected, "answer": answer, "accurate": accurate}


def greedy_answers(inputs: Inputs, questions: Sequence[Question]) -> dict[QuestionKey, tuple[str, Row]]:
    """The stored greedy answer to each question in each of its cases, and the first and last columns of its scores.

    One that did not get past its thoughts is left out.
    """
    origins = of_cases(inputs.scores["answers"])
    return {
        key: (row["text"], {**origins[key], "engine": "rouge-l"})
        for key, rows in of_questions(inputs, "answers", questions, "text", greedy=True).items()
        for row in rows
    }


MEASURE = Measure(
    row=Accuracy,
    version=1,
    meaning="whether the greedy answer is the expected one",
    about="questions",
    compute=compute,
    needs=("answers",),
    parameters=AccuracyParameters,
)
