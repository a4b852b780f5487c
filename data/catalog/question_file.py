"""questions.csv: the bundled questions with their snippets."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from data.catalog.reading import ENTITY_ID, PROPERTY_ID, cell, count, identifier, listed, number, rows
from data.catalog.relation_file import known_relation
from data.errors import InputError, UnknownName

PARTITIONS = ("static", "temporal", "disputable")
OBJECT_SLOT = "[ENTITY]"
QUESTION_COLUMNS = (
    "partition", "relation", "subject", "subject_id", "property_id", "object", "object_id", "answers", "question",
    "snippet", "replacement", "replacement_source", "edits", "subject_popularity", "object_popularity", "id_source",
    "source",
)  # fmt: skip


@dataclass(frozen=True)
class CatalogQuestion:
    """A question with a snippet whose object is the slot [ENTITY]; edits counts value changes, or reversions."""

    partition: str
    relation: str
    subject: str
    subject_id: str | None
    property_id: str | None
    object: str
    object_id: str | None
    answers: tuple[str, ...]
    question: str
    snippet: str
    replacement: str
    replacement_source: str
    edits: int
    subject_popularity: float | None
    object_popularity: float | None
    id_source: str | None
    source: str


@cache
def questions(partition: str | None = None) -> tuple[CatalogQuestion, ...]:
    """The bundled questions, all or of one partition; raises UnknownName for another partition."""
    if partition is not None:
        if partition not in PARTITIONS:
            raise UnknownName("partition", partition, PARTITIONS)
        return tuple(question for question in questions() if question.partition == partition)
    return tuple(_question(line, row) for line, row in rows("questions.csv", QUESTION_COLUMNS))


def _question(line: int, row: Mapping[str, str]) -> CatalogQuestion:
    where = f"questions.csv: line {line}"
    if row["partition"] not in PARTITIONS:
        raise InputError(f"{where}: partition must be one of {', '.join(PARTITIONS)}")
    disputable = row["partition"] == "disputable"
    if disputable != (row["relation"] == "disputable"):
        raise InputError(f"{where}: the relation 'disputable' belongs to the partition disputable, and only there")
    return CatalogQuestion(
        partition=row["partition"],
        relation=row["relation"] if disputable else known_relation(where, row["relation"]),
        subject=cell(where, row, "subject"),
        subject_id=identifier(where, row, "subject_id", ENTITY_ID),
        property_id=identifier(where, row, "property_id", PROPERTY_ID),
        object=cell(where, row, "object"),
        object_id=identifier(where, row, "object_id", ENTITY_ID),
        answers=listed(where, row, "answers"),
        question=cell(where, row, "question"),
        snippet=cell(where, row, "snippet"),
        replacement=cell(where, row, "replacement"),
        replacement_source=cell(where, row, "replacement_source"),
        edits=count(where, row, "edits"),
        subject_popularity=number(where, row, "subject_popularity"),
        object_popularity=number(where, row, "object_popularity"),
        id_source=row["id_source"] or None,
        source=cell(where, row, "source"),
    )
