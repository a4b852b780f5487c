"""Answer length: the words of a greedy answer, from stored answers; no model is needed."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from swaymeter.data.records import Question
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import Inputs, Measure, Row
from swaymeter.tasks.measures.rows import QUESTION_KEY, QuestionScore, question_provenance, rows_by_question


@table("answer_length", "a question alone, or with a context", key=QUESTION_KEY)
class AnswerLength(QuestionScore):
    """A row of answer lengths."""

    words: Annotated[int, Meaning("words of the greedy answer")]


def compute(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    """Yield the number of words of the greedy answers to each question, alone and with each of its contexts."""
    origins = question_provenance(inputs.scores["answers"], questions)
    for case, (greedy,) in rows_by_question(inputs, "answers", questions, "text", greedy=True).items():
        yield {**origins[case], "words": len(greedy["text"].split())}


MEASURE = Measure(
    row=AnswerLength, version=1, meaning="how long answers are", about="questions", compute=compute, needs=("answers",)
)
