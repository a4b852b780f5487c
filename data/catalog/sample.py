"""facts.csv and questions.csv: the bundled real facts, and the bundled questions with their snippets."""

from dataclasses import asdict
from functools import cache
from typing import Annotated, Self

from pydantic import AfterValidator, Json, NonNegativeInt, model_validator
from pydantic.dataclasses import dataclass

from swaymeter.data.catalog.reading import ENTRY, EntityId, PropertyId, Text, Texts, digest_of, rows
from swaymeter.data.catalog.relation_file import FILE, relation, relations
from swaymeter.data.errors import UnknownName
from swaymeter.data.records import PARTITIONS, Partition


def _check_relation(name: str) -> str:
    if name not in relations():
        raise ValueError(f"the relation is not in {FILE}")
    return name


@dataclass(frozen=True, kw_only=True, config=ENTRY)
class CatalogFact:
    """A true fact: a subject, a relation and an object. A Wikidata id is None if no source gives it."""

    relation: Annotated[str, AfterValidator(_check_relation)]
    subject: Text
    subject_id: EntityId | None = None
    object: Text
    object_id: EntityId | None = None
    id_source: str | None = None
    source: Text


@dataclass(frozen=True, kw_only=True, config=ENTRY)
class CatalogQuestion:
    """A question with a snippet, in which the slot [ENTITY] stands for the object.

    Attributes:
        edits: number of changes of the object; in the partition disputable, number of reversions of the disputed span.
    """

    partition: Partition
    relation: str
    subject: Text
    subject_id: EntityId | None = None
    property_id: PropertyId | None = None
    object: Text
    object_id: EntityId | None = None
    answers: Json[Texts]
    question: Text
    snippet: Text
    replacement: Text
    replacement_source: Text
    edits: NonNegativeInt
    subject_popularity: float | None = None
    object_popularity: float | None = None
    id_source: str | None = None
    source: Text

    @model_validator(mode="after")
    def _check_partition(self) -> Self:
        if (self.partition == "disputable") != (self.relation == "disputable"):
            raise ValueError(
                f"relation: must be 'disputable' in the partition disputable, and a relation of {FILE} in the other "
                "partitions"
            )
        if self.relation != "disputable":
            _check_relation(self.relation)
        return self


@cache
def facts(name: str | None = None) -> tuple[CatalogFact, ...]:
    """Return the bundled real facts of one relation or of all; UnknownName for an unknown relation."""
    if name is None:
        return rows("facts.csv", CatalogFact)
    relation_name = relation(name).name  # raises UnknownName
    return tuple(fact for fact in facts() if fact.relation == relation_name)


@cache
def questions(partition: str | None = None) -> tuple[CatalogQuestion, ...]:
    """Return the bundled questions of one partition or of all; UnknownName for an unknown partition."""
    if partition is None:
        return rows("questions.csv", CatalogQuestion)
    if partition not in PARTITIONS:
        raise UnknownName("partition", partition, PARTITIONS)
    return tuple(question for question in questions() if question.partition == partition)


def facts_digest(relation_name: str) -> str:
    """Return the digest of a relation's rows of facts.csv, in the file's order; UnknownName for an unknown relation."""
    return digest_of([asdict(fact) for fact in facts(relation_name)])


def questions_digest(partition: str) -> str:
    """Return the digest of a partition's rows of questions.csv, in order; UnknownName for an unknown partition."""
    return digest_of([asdict(question) for question in questions(partition)])
