"""Facts from a CSV file that the study names; its columns are relation, subject and object."""

from pathlib import Path
from typing import Any, ClassVar, Literal

from swaymeter.data import catalog
from swaymeter.data.digests import content_key
from swaymeter.data.options import NamedPath
from swaymeter.data.records import Fact, RelationName
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.source import FactsOptions, FactSource, FetchedFacts
from swaymeter.data.sources.triples.listed import rows

COLUMNS = {name: (name,) for name in ("relation", "subject", "object")}


class CsvFacts(FactsOptions):
    """Facts from a CSV file."""

    display_name: ClassVar[str] = "the CSV file"

    source: Literal["csv"] = "csv"
    """Facts from a CSV file."""
    file: NamedPath
    """The file, with the columns relation, subject and object."""
    licence: str = "not stated"
    """The terms under which the facts may be used."""

    @classmethod
    def available_relations(cls) -> tuple[str, ...]:
        """Return every relation that the catalog has texts for."""
        return tuple(catalog.relations())


def facts(options: CsvFacts, relation: str) -> list[Fact]:
    """Return the facts of a relation, in the order of the file.

    Raises:
        InputError: The file cannot be read.
    """
    file, name = Path(options.file), RelationName(relation)
    return [
        Fact(name, row.cells["subject"], row.cells["object"], None, None, None, file.name, options.licence)
        for row in rows(file, COLUMNS, tuple(COLUMNS))
        if row.cells["relation"] == relation
    ]


def key(options: CsvFacts, relation: str, seed: int, access: Access) -> dict[str, Any]:
    """Return the values that the fetched facts depend on."""
    values = [[fact.subject, fact.object, fact.source, fact.licence] for fact in facts(options, relation)]
    return {"source": "csv", "version": 1, "facts": content_key({"facts": values})}


def fetch(options: CsvFacts, relation: str, seed: int, access: Access) -> FetchedFacts:
    """Read the facts of a relation."""
    return FetchedFacts(facts(options, relation), {}, 0)


SOURCE = FactSource("csv", CsvFacts, key, fetch, at_hand=True)
