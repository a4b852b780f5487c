"""The source `file`: users' facts, under relations of the catalog or of a user's file; and users' contexts."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from swaymeter.data import catalog
from swaymeter.data.catalog import Relation
from swaymeter.data.digests import digest_of_named_file
from swaymeter.data.errors import InputError, SwaymeterError, UnknownName
from swaymeter.data.options import beside_the_study
from swaymeter.data.records import ContextKind, Fact, RelationName, WikidataId
from swaymeter.data.sources.own.lists import none_where_empty
from swaymeter.data.sources.own.named_file import Origin, OwnFile, own_yaml, usable_rows
from swaymeter.data.sources.own.one_row import Text, Texts, row_of
from swaymeter.data.sources.source import FactsOptions, FactSource, listed_relations

VERSION = 1


def _single_line(text: str) -> str:
    if len(text.splitlines()) > 1:
        raise ValueError("has a line break; remove the line break, or add a missing closing quote")
    return text


def _item(value: str | None) -> WikidataId | None:
    try:
        return WikidataId(value) if value else None
    except InputError as error:
        raise ValueError(f"{error}, or leave the cell empty") from None


def _kind_or_base(value: Any) -> Any:
    """Return a kind in lower case, or base for a blank text; another value unchanged."""
    if not isinstance(value, str):
        return value
    return value.strip().lower() or "base"


Name = Annotated[Text, StringConstraints(max_length=1000), AfterValidator(_single_line)]
"""A text on one line."""
OptionalName = Annotated[Name | None, BeforeValidator(none_where_empty)]
Item = Annotated[str | None, BeforeValidator(none_where_empty), AfterValidator(_item)]
"""An id of Wikidata; None for an empty cell."""


class RelationRow(BaseModel):
    """A row with its relation; columns without a field are ignored."""

    model_config = ConfigDict(frozen=True)

    relation: Name


class FactRow(RelationRow):
    """A fact; `aliases` has other names of the object, and further true objects of the subject."""

    subject: Name
    object: Name
    aliases: Texts = ()
    subject_id: Item = None
    object_id: Item = None


class ContextRow(RelationRow):
    """A context before every query of the relation; its text is about `entity`, and states `object` as the answer."""

    text: Text
    kind: Annotated[ContextKind, BeforeValidator(_kind_or_base)] = "base"
    entity: OptionalName = None
    object: OptionalName = None


Row = TypeVar("Row", bound=RelationRow)


def rows_by_relation(
    file: Path, key: str, model: type[Row], own_relations: Mapping[str, Relation]
) -> Mapping[str, tuple[Row, ...]]:
    """Return the rows of a file by relation, in the file's order; warn of unusable rows, once per process.

    Args:
        file: The file.
        key: The study's key that names the file.
        model: Pydantic model of a row.
        own_relations: The user's relations, besides the catalog's.

    Raises:
        InputError: No row can be used.
        MissingFile: The file cannot be read.
    """
    return _read(file, digest_of_named_file(file, key), model, (*catalog.relations(), *own_relations))


@lru_cache(maxsize=8)
def _read(file: Path, digest: str, model: type[Row], relations: tuple[str, ...]) -> Mapping[str, tuple[Row, ...]]:
    """Return the rows of a file by relation, cached by its digest; `relations` has all valid names."""
    locations: dict[Row, str] = {}  # of usable rows

    def check(location: str, cells: Mapping[str, Any]) -> None:
        row = row_of(model, cells)
        if row.relation not in relations:
            raise InputError(f"relation: {UnknownName('relation', row.relation, relations)}")
        if row in locations:
            raise InputError(f"repeats {locations[row]}; delete the repetition")
        locations[row] = location

    usable_rows(file, "relation", check)
    if not locations:
        raise InputError(f"{file} has no rows; write rows below the header")
    by_relation: dict[str, list[Row]] = {}
    for row in locations:
        by_relation.setdefault(row.relation, []).append(row)
    return MappingProxyType({relation: tuple(rows) for relation, rows in by_relation.items()})


def facts_of(rows: Iterable[FactRow], origin: Origin) -> list[Fact]:
    """Return a fact for each subject: its first row gives the object, its other rows give further true objects."""
    first_rows: dict[str, FactRow] = {}
    true_objects: dict[str, list[str]] = {}
    for row in rows:
        first_rows.setdefault(row.subject, row)
        true_objects.setdefault(row.subject, []).extend((row.object, *row.aliases))
    return [
        Fact(
            RelationName(row.relation),
            subject,
            row.object,
            _item(row.subject_id),
            _item(row.object_id),
            origin.source if row.subject_id or row.object_id else None,
            origin.source,
            origin.licence,
            other_objects=tuple(name for name in dict.fromkeys(true_objects[subject]) if name != row.object),
        )
        for subject, row in first_rows.items()
    ]


def _relations(path: Any, info: ValidationInfo) -> Any:
    def read() -> Mapping[str, Relation]:
        return catalog.own_relations(Path(beside_the_study(path, info)))

    return dict(own_yaml(path, read, "relations", "docs/own-data.md shows the form"))


OwnRelations = Annotated[
    Mapping[str, Relation],
    BeforeValidator(_relations),
    PlainSerializer(lambda relations: {name: relation.entry for name, relation in relations.items()}),
    WithJsonSchema({"type": "string"}),
]
"""The relations of a user's file. A study file has the path of this file; validation reads the relations."""


class _Files(OwnFile):
    """The keys of files, in a base class, so that pydantic validates them before `relations`, which depends on them."""

    relations_file: OwnRelations | None = None
    """A YAML file of your own relations, in the form of the catalog's (docs/own-data.md)."""


class OwnFacts(FactsOptions, _Files):
    """Your own facts in a file, under relations of the catalog or of `relations_file`."""

    display_name: ClassVar[str] = "the facts file"
    names_own_relations: ClassVar[bool] = True

    source: Literal["file"] = "file"
    """Your own facts in a file."""

    @classmethod
    def available_relations(cls) -> tuple[str, ...]:
        """Return every relation with texts in the catalog."""
        return tuple(catalog.relations())

    @field_validator("relations", mode="before")
    @classmethod
    def _check_relations(cls, names: Any, info: ValidationInfo) -> Any:
        if not {"file", "relations_file"} <= info.data.keys():
            return ()  # another error names the problem
        own_relations = info.data["relations_file"] or {}
        if names != "all":
            return listed_relations(names, own_relations)
        try:
            return tuple(rows_by_relation(Path(info.data["file"]), "facts.file", FactRow, own_relations))
        except SwaymeterError as error:
            raise ValueError(str(error)) from None

    @property
    def own_relations(self) -> Mapping[str, Relation]:
        """The relations of `relations_file`."""
        return self.relations_file or {}


def _facts(options: OwnFacts, relation: str, seed: int) -> list[Fact]:
    rows = rows_by_relation(options.path, "facts.file", FactRow, options.own_relations)
    return facts_of(rows.get(relation, ()), options.origin)


OWN_FACTS = FactSource.from_file("file", OwnFacts, VERSION, _facts)
