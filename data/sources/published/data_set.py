"""What a published data set declares: the columns of its files, and which own row a row of them becomes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swaymeter.data.errors import InputError
from swaymeter.data.records import OwnKind
from swaymeter.data.sources.own.lists import listed, none_where_empty

Cells = Mapping[str, Any]
"""A row of a file, by its columns."""

RowOf = Callable[[Cells], dict[str, Any]]
"""The own row of a row (docs/own-data.md); InputError says why there is none."""


@dataclass(frozen=True)
class Form:
    """A form that files of a data set have.

    Attributes:
        part: What errors call it.
        columns: The columns that it needs, and by which it is known.
        rows: (all rows of a file) -> what makes an own row of each.
    """

    part: str
    columns: tuple[str, ...]
    rows: Callable[[Sequence[Cells]], RowOf]


def each(row: RowOf) -> Callable[[Sequence[Cells]], RowOf]:
    """For a form whose rows need no other rows."""
    return lambda rows: row


@dataclass(frozen=True)
class DataSet:
    """A published data set.

    Attributes:
        title: What the page calls it.
        citation: Its paper.
        licence: Under which terms it is, as its repository says.
        address: Where it is published.
        file: Which file of it is read, for the docs and for errors.
        becomes: What becomes of a row, for the docs.
        forms: The forms of its files; a file is of the first whose columns it has.
        version: Is raised when the same file gives other questions.
    """

    title: str
    citation: str
    licence: str
    address: str
    file: str
    becomes: str
    forms: tuple[Form, ...]
    version: int = 1


def text(cells: Cells, column: str) -> str:
    """The text of a column; InputError where it has none."""
    value = none_where_empty(cells.get(column))
    if value is None or not str(value).strip():
        raise InputError(f"{column}: is missing")
    return str(value).strip()


def texts(cells: Cells, column: str) -> list[str]:
    """The texts of a column that has a list, also as CSV writes one; InputError where it has none."""
    try:
        found = [str(item).strip() for item in listed(cells.get(column))]
    except ValueError as error:
        raise InputError(f"{column}: {error}") from None
    if not (found := [item for item in dict.fromkeys(found) if item]):
        raise InputError(f"{column}: is missing")
    return found


def context(passage: str, kind: OwnKind, answers: Sequence[str] = (), **about: Any) -> dict[str, Any]:
    """A context of an own row; answers: those that it states, in all their forms; about: its id, title and the like."""
    stated = {"answer": answers[0], "aliases": [*answers[1:]]} if answers else {}
    return {"text": passage, "kind": kind, **stated, **{name: one for name, one in about.items() if one is not None}}


def others(cells: Cells, *columns: str) -> dict[str, Any]:
    """The further columns that are kept."""
    return {column: cells[column] for column in columns if none_where_empty(cells.get(column)) is not None}
