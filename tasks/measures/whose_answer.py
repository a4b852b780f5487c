"""Whose answer a stored answer states, and what a context did to the greedy one; no model is needed.

tasks.scoring.followed has the rules. Without a context, an answer is held against the two that the question's contexts
state. With its original context the original answer is the context's, and there is no other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from data.records import CONDITIONS, Condition, Question
from data.records.row import Meaning, table
from tasks.measures.measure import Inputs, Measure, Row
from tasks.measures.rows import QuestionScore
from tasks.measures.stored import inherited, of_questions
from tasks.scoring.followed import Outcome, Verdict, outcome, whose_answer
from tasks.scoring.normalise import words


@table("whose_answer", "an answer")
@dataclass(frozen=True, slots=True, kw_only=True)
class WhoseAnswer(QuestionScore):
    """A row of whose answer it is."""

    sample: Annotated[int | None, Meaning("number of the sample from 0; NULL for the greedy answer")]
    verdict: Annotated[
        Verdict,
        Meaning(
            "whose answer it states: context (without a context: that of the counter-memory context), original, both, "
            "neither, or refusal"
        ),
    ]
    outcome: Annotated[
        Outcome | None,
        Meaning(
            "of a greedy answer with a context: persuaded (states the context's answer, and did not without it), "
            "agreed (did already), stubborn (does not, and is the answer without it), or other; NULL for all others"
        ),
    ]


def compute(inputs: Inputs, model: None, questions: Sequence[Question]) -> Iterator[Row]:
    """Judges every stored answer."""
    origins = inherited(inputs.scores["answers"], "question_id", "condition")
    samples = of_questions(inputs, "answers", questions, "text")
    greedy = of_questions(inputs, "answers", questions, "text", greedy=True)
    for question in questions:
        alone = greedy[question.question_id, "none"][0]["text"]
        for condition in CONDITIONS:
            key = question.question_id, condition
            for row in (*samples[key], *greedy[key]):
                is_moved = row["sample"] is None and condition != "none"
                yield {
                    **origins[key],
                    "engine": "words",
                    "sample": row["sample"],
                    "verdict": verdict(question, condition, row["text"]),
                    "outcome": what_became(question, condition, alone, row["text"]) if is_moved else None,
                }


def verdict(question: Question, condition: Condition, text: str) -> Verdict:
    """Whose answer a text states under a condition; an answer without words, such as a flag, is stated by no text."""
    original = _with_words(question.object, *question.answers)
    context = original if condition == "original" else _with_words(question.replacement)
    other = () if condition == "original" else original
    if not context:  # then there is one side to look for
        found = whose_answer(text, context=other, original=(), question=question.question) if other else "neither"
        return "original" if found == "context" else found
    return whose_answer(text, context=context, original=other, question=question.question)


def what_became(question: Question, condition: Condition, without: str, with_context: str) -> Outcome:
    """What the context of a condition did to an answer."""
    verdicts = (verdict(question, condition, text) for text in (without, with_context))
    return outcome(without, with_context, *verdicts)


def _with_words(*names: str) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(names) if words(name))


MEASURE = Measure(
    row=WhoseAnswer,
    version=1,
    meaning="whose answer each answer states, and what the context did to the greedy one",
    about="questions",
    compute=compute,
    needs=("answers",),
)
