"""Judgements of people on replies, contexts and questions, and the replies that a person or a judge decides."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from swaymeter.data.records.passages import OWN_KINDS
from swaymeter.data.records.row import Meaning, table

Choice = Literal["accept", "change", "discard", "misinformation", "incomplete"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
"""Decisions of a person on a question from Wikidata or Wikipedia; all but accept and change reject the question."""

FIELDS: Mapping[str, tuple[str, ...]] = {
    "verdict": ("context", "original", "both", "neither", "refusal"),
    "kind": OWN_KINDS,
    "choice": CHOICES,
    "question": (),
    "answer": (),
    "replacement": (),
    "text": (),
}
"""Fields of a judgement with their values; a field without values takes any text."""


@table("judgements", "a judgement of a person", key=("number",))
@dataclass(frozen=True, slots=True)
class Judgement:
    """A judgement of a person: a verdict, a kind, a choice or a correction."""

    number: Annotated[int, Meaning("number over all files of the study, from 1")]
    file: Annotated[str, Meaning("name of the file")]
    row: Annotated[int, Meaning("row in the file; the header is row 1")]
    question_id: Annotated[str, Meaning("id of the question, or the question itself")]
    context_id: Annotated[
        str, Meaning("id of the context; the word none: a closed-book reply; empty: a judgement on the question")
    ]
    field: Annotated[str, Meaning("verdict, kind, choice, question, answer, replacement or text")]
    judged: Annotated[str, Meaning("text that was judged; the judgement holds for this text alone")]
    value: Annotated[str, Meaning("the judgement: a value of the field, or the corrected text")]
    annotator: Annotated[str, Meaning("name of the person")]
    note: Annotated[str, Meaning("reason; may be empty")] = ""
    variant: Annotated[str, Meaning("model of the judged reply, as scores name it; empty: every model")] = ""
    sample: Annotated[str, Meaning("number of the sample, or greedy; empty: every reply")] = ""
    problem: Annotated[str | None, Meaning("why the judgement does not count; NULL if it counts")] = None
    is_outvoted: Annotated[bool, Meaning("true if the judgements of other people are the problem")] = False

    @property
    def location(self) -> str:
        """File and row, for messages."""
        return f"{self.file}, row {self.row}"


def comparable_text(text: str) -> str:
    """Return the text with single spaces and without leading apostrophes, which spreadsheet programs change."""
    return " ".join(text.split()).lstrip("' ")


@table("decided_answers", "an answer whose verdict or outcome follows from the verdict of a person or a judge")
@dataclass(frozen=True, slots=True)
class DecidedAnswer:
    """A reply whose verdict or outcome follows from the verdict of a person or a judge."""

    model: Annotated[str, Meaning("the model's name")]
    dtype: Annotated[str, Meaning("the precision that the model computed in")]
    relation: Annotated[str, Meaning("the relation's name")]
    question_id: Annotated[str, Meaning("the question's id")]
    context_id: Annotated[str, Meaning("the context's id; the word none for a closed-book reply")]
    sample: Annotated[int | None, Meaning("number of the sample from 0; NULL for the greedy answer")]
    judgement: Annotated[int | None, Meaning("the number in judgements; NULL if no person decided")]
    verdict: Annotated[str, Meaning("the verdict: context, original, both, neither or refusal")]
    decided_by: Annotated[
        str | None,
        Meaning(
            "who gave the verdict: person or judge; if only the outcome changes, because of a verdict on the "
            "closed-book reply: rule, or NULL if the rule left this reply undecided"
        ),
    ]
    decider: Annotated[str | None, Meaning("the name of the person or of the judge; NULL for the rule")]
    reason: Annotated[
        str | None,
        Meaning("why the rule's verdict is neither; NULL for other verdicts, or if a person or judge decided"),
    ]
    outcome: Annotated[
        str | None,
        Meaning("effect of the context on the greedy answer, as in whose_answer: persuaded, agreed, stubborn or other"),
    ]
