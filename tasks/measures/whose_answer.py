"""Whose answer a stored answer states, and what a context did to the greedy one; no model is needed.

tasks.scoring.followed has the rules. Without a context, an answer is held against the original one and those that the
question's conflicting contexts state. With a context that supports the original answer, this is the context's, and
there is no other. A context that states no answer has none that could be followed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from data.records import CONFLICTING, SUPPORTING, Case, Question
from data.records.row import Meaning, table
from tasks.measures.measure import Inputs, Measure, Row
from tasks.measures.rows import QuestionScore
from tasks.measures.stored import of_cases, of_questions
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
            "whose answer it states: context (without a context: that of a conflicting one), original, both, neither, "
            "or refusal"
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
    origins = of_cases(inputs.scores["answers"])
    samples = of_questions(inputs, "answers", questions, "text")
    greedy = of_questions(inputs, "answers", questions, "text", greedy=True)
    for question in questions:
        alone = greedy[question.question_id, "none"][0]["text"]
        for case in question.cases:
            key = question.question_id, case.context_id
            for row in (*samples[key], *greedy[key]):
                is_moved = row["sample"] is None and case.text is not None
                yield {
                    **origins[key],
                    "engine": "words",
                    "sample": row["sample"],
                    "verdict": verdict(question, case, row["text"]),
                    "outcome": what_became(question, case, alone, row["text"]) if is_moved else None,
                }


def verdict(question: Question, case: Case, text: str) -> Verdict:
    """Whose answer a text states in a case; an answer without words, such as a flag, is stated by no text."""
    original, context = _sides(question, case)
    if not context or not original:  # then there is one side to look for
        side: Verdict = "context" if context else "original"
        if not (context or original):
            return "neither"
        found = whose_answer(text, context=context or original, original=(), question=question.question)
        return side if found == "context" else found
    return whose_answer(text, context=context, original=original, question=question.question)


def _sides(question: Question, case: Case) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The forms of the original answer and of the context's to look for; one answer belongs to one side alone."""
    original = _with_words(question.forms)
    if case.text is None:
        others = [answer for other in question.cases if other.condition in CONFLICTING for answer in other.answers]
        return original, _with_words(others)
    stated = _with_words(case.answers)
    if case.condition in SUPPORTING or _is_among(stated, original):
        return (), tuple(dict.fromkeys((*original, *stated)))
    return original, stated


def _is_among(stated: Sequence[str], original: Sequence[str]) -> bool:
    known = {tuple(words(name)) for name in original}
    return any(tuple(words(name)) in known for name in stated)


def what_became(question: Question, case: Case, without: str, with_context: str) -> Outcome:
    """What the context of a case did to an answer."""
    verdicts = (verdict(question, case, text) for text in (without, with_context))
    return outcome(without, with_context, *verdicts)


def _with_words(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(names) if words(name))


MEASURE = Measure(
    row=WhoseAnswer,
    version=1,
    meaning="whose answer each answer states, and what the context did to the greedy one",
    about="questions",
    compute=compute,
    needs=("answers",),
)
