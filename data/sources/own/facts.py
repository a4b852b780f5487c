"""The source `file`: facts of one's own, under relations of the catalog or one's own."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, PlainSerializer, ValidationInfo, WithJsonSchema, field_validator

from swaymeter.data import catalog
from swaymeter.data.catalog import Relation
from swaymeter.data.errors import InputError, SwaymeterError
from swaymeter.data.options import beside_the_study
from swaymeter.data.records import Fact
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.own.by_relation import FactRow, facts_of, rows_by_relation
from swaymeter.data.sources.own.named_file import OwnFile
from swaymeter.data.sources.own.rows import RESERVED
from swaymeter.data.sources.source import FactsOptions, FactSource, FetchedFacts, listed_relations
from swaymeter.data.storage.keys import content_key

VERSION = 1


def _relations(path: Any, info: ValidationInfo) -> Any:
    if not isinstance(path, str):
        raise ValueError("expected the path of a YAML file in quotes")
    try:
        own = catalog.own_relations(Path(beside_the_study(path, info)))
    except InputError as error:
        raise ValueError(f"{error}; docs/own-facts.md shows the form") from None
    if reserved := sorted(RESERVED & own.keys()):
        raise ValueError(f"{path}: relations.{reserved[0]}: the name stands for something else; choose another name")
    return dict(own)


OwnRelations = Annotated[
    Mapping[str, Relation],
    BeforeValidator(_relations),
    PlainSerializer(lambda own: {name: relation.entry for name, relation in own.items()}),
    WithJsonSchema({"type": "string"}),
]
"""The path of a file of relations in a study file; the relations of that file once it is read."""


class _Files(OwnFile):
    """The files, which are read before the list of relations is checked."""

    relations_file: OwnRelations | None = None
    """A YAML file of relations of one's own, in the form of the catalog's (docs/own-facts.md)."""


class OwnFacts(FactsOptions, _Files):
    """Facts of one's own in a file, under relations of the catalog or of one's own."""

    called: ClassVar[str] = "the facts file"
    names_own_relations: ClassVar[bool] = True

    source: Literal["file"] = "file"
    """Facts of one's own in a file."""

    @classmethod
    def available_relations(cls) -> tuple[str, ...]:
        """Every relation that the catalog has texts for."""
        return tuple(catalog.relations())

    @field_validator("relations", mode="before")
    @classmethod
    def _known_relations(cls, names: Any, info: ValidationInfo) -> Any:
        if not {"file", "relations_file"} <= info.data.keys():
            return ()  # what is wrong with them is named already
        own = info.data["relations_file"] or {}
        if names != "all":
            return listed_relations(names, own)
        try:
            return tuple(rows_by_relation(Path(info.data["file"]), "facts.file", FactRow, own))
        except SwaymeterError as error:
            raise ValueError(str(error)) from None

    @property
    def own_relations(self) -> Mapping[str, Relation]:
        """The relations of `relations_file`."""
        return self.relations_file or {}


def _facts(options: OwnFacts, relation: str) -> list[Fact]:
    rows = rows_by_relation(options.path, "facts.file", FactRow, options.own_relations)
    return facts_of(rows.get(relation, ()), options.origin)


def _key(options: OwnFacts, relation: str, seed: int, access: Access) -> Mapping[str, Any]:
    facts = [asdict(fact) for fact in _facts(options, relation)]
    return {"source": "file", "version": VERSION, "facts": content_key({"facts": facts})}


OWN_FACTS = FactSource(
    "file",
    OwnFacts,
    key=_key,
    fetch=lambda options, relation, seed, access: FetchedFacts(_facts(options, relation), {}, 0),
    at_hand=True,
)
