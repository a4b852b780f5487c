"""The rows that travel between the rooms: typed, frozen, with identifiers that refuse nonsense."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar

from data.errors import InputError

QueryType = Literal["open", "closed"]
ContextKind = Literal["base", "assertive", "negation"]
Partition = Literal["static", "temporal", "disputable"]
Condition = Literal["none", "original", "counter_memory"]

AnnotationChoice = Literal["accept", "change", "discard", "misinformation", "incomplete"]

CONTEXT_KINDS: tuple[ContextKind, ...] = ("base", "assertive", "negation")
PARTITIONS: tuple[Partition, ...] = ("static", "temporal", "disputable")
CONDITIONS: tuple[Condition, ...] = ("none", "original", "counter_memory")
ANNOTATION_CHOICES: tuple[AnnotationChoice, ...] = ("accept", "change", "discard", "misinformation", "incomplete")
SLOT = "[ENTITY]"


class WikidataId(str):
    """The id of a Wikidata item or property, such as Q20 or P36."""

    __slots__ = ()

    def __new__(cls, value: str) -> "WikidataId":
        if not re.fullmatch(r"[QP][1-9][0-9]*", value):
            raise InputError(f"{value!r} is no Wikidata id: expected Q or P and a number, such as Q20")
        return super().__new__(cls, value)


class RelationName(str):
    """What work is cut into: a YAGO predicate, a Wikidata property, or `disputable`; letters and digits only."""

    __slots__ = ()

    def __new__(cls, value: str) -> "RelationName":
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]{0,63}", value):
            raise InputError(f"{value!r} is no relation name: expected letters and digits, such as officialLanguage")
        return super().__new__(cls, value)


def identity(*parts: object) -> str:
    """A short id made of what a row is about, the same in every order and on every machine."""
    return hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class Fact:
    """A subject and its object under a relation, with where it comes from.

    The subject is who is asked about: of a reversed relation, what the source has as the object. other_objects: what
    else the source holds true of the subject. Degrees count the source's triples that an entity is part of, or those of
    the relation that it stands in as it does in this fact [Du et al. 2024]; None where the source is no graph, or the
    object no entity.
    """

    relation: RelationName
    subject: str
    object: str
    subject_id: WikidataId | None
    object_id: WikidataId | None
    id_source: str | None
    source: str
    licence: str
    subject_uri: str | None = None
    object_uri: str | None = None
    other_objects: tuple[str, ...] = ()
    subject_degree: int | None = None
    subject_relation_degree: int | None = None
    object_degree: int | None = None
    object_relation_degree: int | None = None
    address: str | None = None
    query: str | None = None
    retrieved_at: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A complete query about an entity; `answer` is the entity's object, a drawn one where the entity is invented."""

    query_id: str
    relation: RelationName
    query_type: QueryType
    form: int
    entity: str
    entity_id: WikidataId | None
    invented: bool
    answer: str
    text: str
    degree: int | None = None
    relation_degree: int | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """A sentence about an entity that is put before every query of its relation; it ends with a newline."""

    context_id: str
    relation: RelationName
    kind: ContextKind
    entity: str
    invented: bool
    object: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A DynamicQA question with its two contexts; `flags` names the rules that the row breaks.

    replacement_by: what chose the replacement: wembedder, embeddings, reversion (people put it there), annotators;
    replacement_quality: how similar it is to the object, in its way. edit_revisions: the revisions that `edits` counts,
    of the subject's item or, of a disputable question, of the page; hidden_edits: revisions that nobody may read and
    that are in no count. item_revision, page_revision: the item's newest that was looked at, the page's that the
    snippet stands in. list_id: the question's id in the list that it comes from.
    """

    question_id: str
    relation: RelationName
    partition: Partition
    subject: str
    subject_id: WikidataId | None
    property_id: WikidataId | None
    object: str
    object_id: WikidataId | None
    answers: tuple[str, ...]
    replacement: str
    question: str
    original_context: str
    counter_memory_context: str
    edits: int | None
    subject_popularity: float | None
    object_popularity: float | None
    id_source: str | None
    source: str
    licence: str
    flags: tuple[str, ...]
    property: str | None = None
    replacement_id: WikidataId | None = None
    replacement_by: str | None = None
    replacement_quality: float | None = None
    item_revision: int | None = None
    page: str | None = None
    page_revision: int | None = None
    edit_revisions: tuple[int, ...] = ()
    hidden_edits: int | None = None
    list_id: str | None = None
    address: str | None = None
    retrieved_at: str | None = None

    def context(self, condition: Condition) -> str | None:
        """The context of a condition; None where the question stands alone."""
        return {"none": None, "original": self.original_context, "counter_memory": self.counter_memory_context}[
            condition
        ]

    def context_answer(self, condition: Condition) -> str:
        """The answer that a condition states; the original object where there is no context."""
        return self.replacement if condition == "counter_memory" else self.object


@dataclass(frozen=True, slots=True)
class Triple:
    """A fact of Wikidata that somebody lists, to be made into a question; what the list does not say is looked up."""

    relation: RelationName
    subject_id: WikidataId
    property_id: WikidataId
    object_id: WikidataId
    source: str
    licence: str
    subject: str | None = None
    property: str | None = None
    object: str | None = None
    question: str | None = None
    answers: tuple[str, ...] = ()
    list_id: str | None = None
    retrieved_at: str | None = None


@dataclass(frozen=True, slots=True)
class Dispute:
    """Two spans of text that editors of a page put in each other's place, and the sentence that they dispute.

    object: the span that stood there and was put back, at `place` of the context (in characters); reversions: how often
    one of the two undid the other, in `edit_revisions`, of which each pair is an edit and its reversion.
    """

    page: str
    page_revision: int
    context: str
    place: int
    object: str
    replacement: str
    reversions: int
    edit_revisions: tuple[int, ...]
    similarity: float
    subject_popularity: float | None
    hidden_edits: int
    source: str
    licence: str
    address: str
    retrieved_at: str

    def countered(self) -> str | None:
        """The context with the replacement where the object stands, and nowhere else; None where it does not."""
        if not self.object or not self.context.startswith(self.object, self.place):
            return None
        return self.context[: self.place] + self.replacement + self.context[self.place + len(self.object) :]


@dataclass(frozen=True, slots=True)
class Rejected:
    """What became no question, and the reason; partition: None where that was not known yet."""

    partition: Partition | None
    relation: RelationName
    part: str
    subject: str
    reason: str
    source: str
    licence: str
    detail: str | None = None
    subject_id: WikidataId | None = None
    property_id: WikidataId | None = None
    object: str | None = None
    object_id: WikidataId | None = None
    replacement: str | None = None
    revisions: tuple[int, ...] = ()
    retrieved_at: str | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """What an annotator says of a question; the four texts are those of a change, None where a text is to stay.

    texts: the digest of what the annotator was shown; built anew with other texts, the question is judged anew.
    """

    question_id: str
    texts: str
    annotator: str
    choice: AnnotationChoice
    question: str | None
    object: str | None
    replacement: str | None
    context: str | None
    note: str | None
    file: str
    imported_at: str


Record = Fact | Query | Context | Question | Triple | Dispute | Rejected | Annotation


def is_relevant(context: Context, query: Query) -> bool:
    """Whether the context mentions the query's entity."""
    return query.entity in (context.entity, context.object)


def as_row(record: Record) -> dict[str, Any]:
    """The record as plain values, for a table."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(record).items()}


AnyRecord = TypeVar("AnyRecord", Fact, Query, Context, Question, Triple, Dispute, Rejected, Annotation)


def of_row(kind: type[AnyRecord], row: Mapping[str, Any]) -> AnyRecord:
    """The record of a table's row; InputError where an identifier is none."""
    return kind(**{name: _typed(name, value) for name, value in row.items()})


def _typed(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if name == "relation":
        return RelationName(value)
    if name in ("subject_id", "object_id", "property_id", "entity_id", "replacement_id") and value is not None:
        return WikidataId(value)
    return value
