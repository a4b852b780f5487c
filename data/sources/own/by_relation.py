"""Rows that each name a relation, of a file of one's own: those that cannot be used are named, the rest goes on."""

import logging
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StringConstraints

from swaymeter.data import catalog
from swaymeter.data.catalog import Relation
from swaymeter.data.errors import InputError, UnknownName
from swaymeter.data.records import ContextKind, Fact, RelationName, WikidataId
from swaymeter.data.sources.own.files import read_file
from swaymeter.data.sources.own.lists import none_where_empty
from swaymeter.data.sources.own.not_usable import rows_not_usable
from swaymeter.data.sources.own.one_row import Text, Texts, row_of
from swaymeter.data.sources.own.rows import Origin
from swaymeter.data.storage.keys import file_digest

log = logging.getLogger(__name__)


def _on_one_line(text: str) -> str:
    if len(text.splitlines()) > 1:
        raise ValueError("is more than one line; a quote may be missing, or remove the line break")
    return text


def _item(value: str | None) -> str | None:
    try:
        return value and WikidataId(value)
    except InputError as error:
        raise ValueError(f"{error}, or leave it empty") from None


Name = Annotated[Text, StringConstraints(max_length=1000), AfterValidator(_on_one_line)]
Optional = Annotated[Name | None, BeforeValidator(none_where_empty)]
Item = Annotated[str | None, BeforeValidator(none_where_empty), AfterValidator(_item)]


class RelationRow(BaseModel):
    """A row of a relation; columns that are not named are ignored."""

    model_config = ConfigDict(frozen=True)

    relation: Name


class FactRow(RelationRow):
    """A fact; aliases: what else is true of the subject under the relation, and other names of the object."""

    subject: Name
    object: Name
    aliases: Texts = ()
    subject_id: Item = None
    object_id: Item = None


class ContextRow(RelationRow):
    """A context that is put before every query of the relation; entity: whom it is about; object: what it states."""

    text: Text
    kind: Annotated[
        ContextKind, BeforeValidator(lambda value: value.strip().lower() or "base" if isinstance(value, str) else value)
    ] = "base"
    entity: Optional = None
    object: Optional = None


Row = TypeVar("Row", bound=RelationRow)


def rows_by_relation(
    file: Path, key: str, model: type[Row], own: Mapping[str, Relation]
) -> Mapping[str, tuple[Row, ...]]:
    """The rows of a file by relation, in its order; a warning names those that cannot be used, once a process.

    Args:
        file: CSV, JSON or Parquet.
        key: under which the study names it.
        model: what a row holds.
        own: the relations beside those of the catalog.

    Raises:
        InputError: no row can be used.
        MissingFile: the file cannot be read.
    """
    return _read(file, file_digest(file, key), model, (*catalog.relations(), *own))


@lru_cache(maxsize=8)
def _read(file: Path, digest: str, model: type[Row], known: tuple[str, ...]) -> Mapping[str, tuple[Row, ...]]:
    """The rows of the file while it has that digest."""
    places: dict[Row, str] = {}
    wrong = []
    rows = read_file(file, "relation")
    if not rows:
        raise InputError(f"{file} has no rows; write some below the header")
    for place, cells, problem in rows:
        try:
            if problem:
                raise InputError(problem)
            row = row_of(model, cells)
            if row.relation not in known:
                raise InputError(f"relation: {UnknownName('relation', row.relation, known)}")
            if row in places:
                raise InputError(f"is the same as {places[row]}; leave one out")
            places[row] = place
        except InputError as error:
            wrong.append((place, str(error)))
    if wrong:
        text = rows_not_usable(file, wrong, len(rows))
        if not places:
            raise InputError(text)
        log.warning(text)
    found: dict[str, list[Row]] = {}
    for row in places:
        found.setdefault(row.relation, []).append(row)
    return MappingProxyType({relation: tuple(of_relation) for relation, of_relation in found.items()})


def facts_of(rows: Iterable[FactRow], origin: Origin) -> list[Fact]:
    """The facts of a relation's rows: the first of a subject; what else the rows hold true of it is kept beside."""
    first: dict[str, FactRow] = {}
    true: dict[str, list[str]] = {}
    for row in rows:
        first.setdefault(row.subject, row)
        true.setdefault(row.subject, []).extend((row.object, *row.aliases))
    return [
        Fact(
            RelationName(row.relation), subject, row.object, _id(row.subject_id), _id(row.object_id),
            origin.source if row.subject_id or row.object_id else None, origin.source, origin.licence,
            other_objects=tuple(name for name in dict.fromkeys(true[subject]) if name != row.object),
        )
        for subject, row in first.items()
    ]  # fmt: skip


def _id(value: str | None) -> WikidataId | None:
    return WikidataId(value) if value else None
