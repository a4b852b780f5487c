"""Persuaded and stubborn: what a context does to the stored greedy answer; no model is needed.

swaymeter.tasks.scoring.accuracy has the rules. An empty answer equals nothing, not even another empty one: it is
neither persuaded nor stubborn.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from swaymeter.data.records import Question
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.accuracy import AccuracyParameters, greedy_answers
from swaymeter.tasks.measures.measure import Inputs, Measure, Row
from swaymeter.tasks.measures.rows import QUESTION_KEY, QuestionScore


@table("persuaded", "a question with a context that states an answer", key=QUESTION_KEY)
@dataclass(frozen=True, slots=True, kw_only=True)
class Persuaded(QuestionScore):
    """A row of persuaded answers."""

    answer_without: Annotated[str, Meaning("greedy answer without the context")]
    answer_with: Annotated[str, Meaning("greedy answer with the context")]
    context_answer: Annotated[str, Meaning("the answer that the context states")]
    persuaded: Annotated[bool, Meaning("without it another answer, with it the context's")]
    stubborn: Annotated[bool, Meaning("with and without it the same answer, not the context's")]
    context_correct: Annotated[bool, Meaning("with it the context's answer, whatever it was without")]
    stubborn_released: Annotated[bool, Meaning("with it not the context's answer, and the one from without")]


def compute(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    """Compares every greedy answer with a context with that without it, and with the context's answer."""
    from swaymeter.tasks.scoring.accuracy import compare_answers

    parameters: AccuracyParameters = inputs.parameters["persuaded"]
    greedy = greedy_answers(inputs, questions)
    for question in questions:
        alone = greedy.get((question.question_id, "none"))
        if alone is None:
            continue
        without, _ = alone
        for case in question.cases:
            if not case.answers or (question.question_id, case.context_id) not in greedy:
                continue
            answer, origin = greedy[question.question_id, case.context_id]
            expected = case.answers[0]
            pair = parameters.compared(without), parameters.compared(answer)
            compared = compare_answers(*pair, expected, threshold=parameters.rouge_threshold)
            texts = {"answer_without": without, "answer_with": answer, "context_answer": expected}
            yield {**origin, **texts, **compared}


MEASURE = Measure(
    row=Persuaded,
    version=1,
    meaning="whether the context changed the greedy answer to its own, or not at all",
    about="questions",
    compute=compute,
    needs=("answers",),
    parameters=AccuracyParameters,
)
