"""Verdicts by hand: what people say of answers, and the answers that a person or a judge decides."""

from dataclasses import dataclass
from typing import Annotated

from swaymeter.data.records.row import Meaning, table


@table("verdicts_by_hand", "a row of the study's file of verdicts by hand", key=("row",))
@dataclass(frozen=True, slots=True)
class VerdictByHand:
    """What a person says of the answers with these words."""

    row: Annotated[int, Meaning("its row in the file; that of the names is 1")]
    question: Annotated[str, Meaning("the question's id, or the question itself")]
    context: Annotated[str, Meaning("the context's id; none: without a context")]
    model: Annotated[str, Meaning("the model that it holds for, as scores call it; empty: every one")]
    sample: Annotated[str, Meaning("the number of the sample that it holds for, or greedy; empty: every answer")]
    answer: Annotated[str, Meaning("the words that were judged")]
    verdict: Annotated[str, Meaning("whose answer they state, as in whose_answer")]
    who: Annotated[str, Meaning("who judged")]
    why: Annotated[str, Meaning("why; may be empty")]


def same_words(text: str) -> str:
    """A text as verdicts compare it: without what spreadsheet programs add, or remove, around and between words."""
    return " ".join(text.split()).lstrip("' ")


@table("decided_answers", "an answer whose verdict or outcome follows from the verdict of a person or a judge")
@dataclass(frozen=True, slots=True)
class DecidedAnswer:
    """The verdict on an answer in place of the rule's."""

    model: Annotated[str, Meaning("the model's name")]
    dtype: Annotated[str, Meaning("the precision that the model computed in")]
    relation: Annotated[str, Meaning("the relation's name")]
    question_id: Annotated[str, Meaning("the question's id")]
    context_id: Annotated[str, Meaning("the context's id; none: without a context")]
    sample: Annotated[int | None, Meaning("number of the sample from 0; NULL for the greedy answer")]
    row: Annotated[int | None, Meaning("the row of verdicts_by_hand; NULL if no person decided")]
    verdict: Annotated[str, Meaning("whose answer it states")]
    decided_by: Annotated[str | None, Meaning(
        "what decided the verdict: person, judge, or rule if the outcome alone follows; NULL if it is undecided"
    )]
    decider: Annotated[str | None, Meaning("the name of the person or of the judge; NULL for the rule")]
    reason: Annotated[str | None, Meaning("why it states neither, by the rule; NULL if a person or a judge decided")]
    outcome: Annotated[str | None, Meaning("what the context did to it, as in whose_answer")]
