"""Rows of questions, each with its contexts and their passages."""

import builtins
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from swaymeter.data.errors import InputError
from swaymeter.data.records.passages import PLAIN, SEPARATOR, Passage, text_of
from swaymeter.data.records.row import Meaning, RelationName, WikidataId, table

Partition = Literal["static", "temporal", "disputable", "own"]
"""DynamicQA's three partitions, and `own` for all questions of a user's file.

Only studies and rejected rows name `own`. The column `partition` of a user's question has the group instead."""

Condition = Literal[
    "none", "original", "counter_memory", "supporting", "conflicting", "mixed", "irrelevant", "neutral", "unknown"
]
"""Kind of the context of a question: none, one of DynamicQA's two contexts, or the kind of a user's context.

A mixed context has passages that support the right answer and passages that conflict with it."""

PARTITIONS: tuple[Partition, ...] = ("static", "temporal", "disputable")
OWN_CONDITIONS: tuple[Condition, ...] = ("supporting", "conflicting", "mixed", "irrelevant", "neutral", "unknown")
"""Conditions in a user's file."""

CONDITIONS: tuple[Condition, ...] = ("none", "original", "counter_memory", *OWN_CONDITIONS)
SUPPORTING: frozenset[Condition] = frozenset({"original", "supporting"})
"""The conditions whose context states the original answer."""

CONFLICTING: frozenset[Condition] = frozenset({"counter_memory", "conflicting"})
"""The conditions whose context states only an answer that contradicts the original answer."""

SLOT = "[ENTITY]"
"""The gap of a snippet, which the original or the counter-memory answer fills."""


@dataclass(frozen=True, slots=True)
class QuestionContext:
    """The context of a question: one or several passages, or none."""

    context_id: Annotated[str, Meaning("the context's id, unique in its question")]
    condition: Annotated[
        Condition, Meaning("the context's kind: original, counter_memory, or the kind in a user's file")
    ]
    passages: Annotated[tuple[Passage, ...], Meaning("the context's passages, in order")] = ()
    answers: Annotated[
        tuple[str, ...],
        Meaning(
            "the answers that the context states, in all forms; for a mixed context, only the answers of its "
            "conflicting passages"
        ),
    ] = ()
    evidence_set: Annotated[
        str | None,
        Meaning("the set of passages, such as supporting+conflicting; NULL for a context without a set"),
    ] = None
    passage_order: Annotated[str | None, Meaning("the order of the set, such as right_first; NULL without a set")] = (
        None
    )
    form: Annotated[str, Meaning("the template of each passage, with slots such as {number} and {text}")] = PLAIN
    separator: Annotated[str, Meaning("the text between two passages")] = SEPARATOR
    written: Annotated[
        str | None, Meaning("the context's text in the prompt; NULL: the passages with a blank line between two")
    ] = None

    def __post_init__(self) -> None:
        """Set `written` to the passages' text, or to None in the default form; InputError if a stored text differs."""
        is_plain = (self.form, self.separator) == (PLAIN, SEPARATOR)
        text = None if is_plain else text_of(self.passages, self.form, self.separator)
        if self.written not in (None, text):
            raise InputError(
                f"the stored text of the context {self.context_id}, {self.written[:80]!r}, differs from the text of "
                "the context's passages; build the questions again with --stage build --force"
            )
        object.__setattr__(self, "written", text)

    @builtins.property
    def text(self) -> str | None:
        """The context's text in the prompt; None without a context."""
        if not self.passages:
            return None
        return text_of(self.passages) if self.written is None else self.written

    @builtins.property
    def is_numbered(self) -> bool:
        """True if each passage is written with its number."""
        return "{number}" in self.form

    def without(self, number: int) -> "QuestionContext":
        """Return the context without the passage of this number, from 1."""
        remaining = (*self.passages[: number - 1], *self.passages[number:])
        return replace(self, passages=remaining, written=None)


ALONE = QuestionContext("none", "none")
"""The case of a question without a context."""


@table("questions", "a question with its contexts", key=("question_id",))
class Question:
    """A question with its contexts: DynamicQA's two contexts, or any number of contexts of a user's file.

    `flags` names the rules that the question breaks. `edit_revisions` are revisions of the subject's Wikidata item or,
    for a disputable question, of the page. `replacement_by` is reversion if editors of the page wrote the replacement.
    """

    question_id: Annotated[str, Meaning("the question's id")]
    relation: Annotated[RelationName, Meaning("the property's name, or disputable")]
    partition: Annotated[
        str, Meaning("static, temporal or disputable; the group of a user's question", in_digest=False)
    ]
    subject: Annotated[str, Meaning("the subject's name; empty if the source names none")]
    subject_id: Annotated[WikidataId | None, Meaning("Wikidata id of the subject")]
    property_id: Annotated[WikidataId | None, Meaning("Wikidata id of the property")]
    object: Annotated[str, Meaning("the original answer")]
    object_id: Annotated[WikidataId | None, Meaning("Wikidata id of the object")]
    answers: Annotated[tuple[str, ...], Meaning("every form of the original answer that counts as right")]
    replacement: Annotated[str, Meaning("the counter-memory answer; empty for a user's questions")]
    question: Annotated[str, Meaning("the question")]
    contexts: Annotated[
        tuple[QuestionContext, ...], Meaning("the contexts: DynamicQA's two, or those of a user's file")
    ]
    edits: Annotated[
        int | None, Meaning("edits of the fact (static 1, temporal more) or reversions (disputable)", in_digest=False)
    ]
    subject_popularity: Annotated[float | None, Meaning("page views of the subject", "views a month", in_digest=False)]
    object_popularity: Annotated[float | None, Meaning("page views of the object", "views a month", in_digest=False)]
    id_source: Annotated[str | None, Meaning("the source of the ids")]
    source: Annotated[str, Meaning("the source of the question", in_digest=False)]
    licence: Annotated[str, Meaning("the source's licence", in_digest=False)]
    flags: Annotated[tuple[str, ...], Meaning("the rules that the row breaks", in_digest=False)]
    property: Annotated[str | None, Meaning("the property's name in the source")] = None
    replacement_id: Annotated[WikidataId | None, Meaning("Wikidata id of the counter-memory answer")] = None
    replacement_by: Annotated[
        str | None,
        Meaning(
            "origin of the counter-memory answer: wembedder, embeddings, reversion (disputable), or annotators",
            in_digest=False,
        ),
    ] = None
    replacement_quality: Annotated[
        float | None, Meaning("cosine similarity of the original and the counter-memory answer", in_digest=False)
    ] = None
    item_revision: Annotated[
        int | None, Meaning("newest revision of the subject's item that was read", in_digest=False)
    ] = None
    page: Annotated[str | None, Meaning("the page of the snippet")] = None
    page_revision: Annotated[int | None, Meaning("the revision of the page of the snippet", in_digest=False)] = None
    edit_revisions: Annotated[tuple[int, ...], Meaning("the revisions that `edits` counts", in_digest=False)] = ()
    hidden_edits: Annotated[int | None, Meaning("hidden revisions, which `edits` does not count", in_digest=False)] = (
        None
    )
    list_id: Annotated[str | None, Meaning("the question's id in the source's list or file")] = None
    address: Annotated[str | None, Meaning("the address of the service", in_digest=False)] = None
    retrieved_at: Annotated[str | None, Meaning("the time of the response (UTC, ISO 8601)", in_digest=False)] = None
    other_columns: Annotated[
        str | None, Meaning("the further columns of a user's file, as a JSON object", in_digest=False)
    ] = None
    published_row: Annotated[
        str | None,
        Meaning("the row of DynamicQA's file as it was read: line, line end and cells, as JSON", in_digest=False),
    ] = None

    @builtins.property  # a column is named property
    def forms(self) -> tuple[str, ...]:
        """The original answer in every form, the displayed form first."""
        return tuple(dict.fromkeys((self.object, *self.answers)))

    @builtins.property
    def is_disputable(self) -> bool:
        """True if editors of the page dispute the answer; False for a user's question in a group named disputable."""
        return self.partition == "disputable" and not self.is_own

    @builtins.property
    def is_own(self) -> bool:
        """True for a question of a user's file, whose contexts have kinds such as supporting."""
        return any(context.condition in OWN_CONDITIONS for context in self.contexts)

    @builtins.property
    def printable_name(self) -> str:
        """The question's id; the beginning of the question if a user's file has no ids, so that the id is a digest."""
        is_digest = self.is_own and not self.list_id
        return repr(textwrap.shorten(self.question, 80)) if is_digest else self.question_id

    @builtins.property
    def cases(self) -> tuple[QuestionContext, ...]:
        """The question without a context, and then the question with each context."""
        return ALONE, *self.contexts

    @builtins.property
    def original_context(self) -> str:
        """The snippet with the original answer; empty for a question of a user's file."""
        return self._text_of("original")

    @builtins.property
    def counter_memory_context(self) -> str:
        """The snippet with the counter-memory answer; empty for a question of a user's file."""
        return self._text_of("counter_memory")

    def _text_of(self, condition: Condition) -> str:
        return next((context.text or "" for context in self.contexts if context.condition == condition), "")


def both_contexts(
    original: str, counter_memory: str, forms: Iterable[str], replacement: str
) -> tuple[QuestionContext, QuestionContext]:
    """Return DynamicQA's two contexts of a question.

    Args:
        original: the snippet with the original answer.
        counter_memory: the snippet with the counter-memory answer.
        forms: the original answer in every form.
        replacement: the counter-memory answer.
    """
    original_answers = tuple(dict.fromkeys(forms))
    return (
        QuestionContext("original", "original", (Passage(original),), original_answers),
        QuestionContext("counter_memory", "counter_memory", (Passage(counter_memory),), (replacement,)),
    )
