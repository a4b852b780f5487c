"""facts.csv: the bundled real facts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from data.catalog.reading import ENTITY_ID, cell, identifier, rows
from data.catalog.relation_file import known_relation, relation

FACT_COLUMNS = ("relation", "subject", "subject_id", "object", "object_id", "id_source", "source")


@dataclass(frozen=True)
class CatalogFact:
    """A true (subject, relation, object); an id is None where no source at hand gave one."""

    relation: str
    subject: str
    subject_id: str | None
    object: str
    object_id: str | None
    id_source: str | None
    source: str


@cache
def facts(name: str | None = None) -> tuple[CatalogFact, ...]:
    """The bundled real facts, all or of one relation; raises UnknownName for a relation the catalog lacks."""
    if name is not None:
        known = relation(name).name
        return tuple(fact for fact in facts() if fact.relation == known)
    return tuple(_fact(line, row) for line, row in rows("facts.csv", FACT_COLUMNS))


def _fact(line: int, row: Mapping[str, str]) -> CatalogFact:
    where = f"facts.csv: line {line}"
    return CatalogFact(
        relation=known_relation(where, row["relation"]),
        subject=cell(where, row, "subject"),
        subject_id=identifier(where, row, "subject_id", ENTITY_ID),
        object=cell(where, row, "object"),
        object_id=identifier(where, row, "object_id", ENTITY_ID),
        id_source=row["id_source"] or None,
        source=cell(where, row, "source"),
    )
