"""A row type is declared once: a frozen dataclass from which its Arrow schema, its database table, its primary key and
its documentation are derived.

    @table("queries", "a complete query", key=("query_id",))
    @dataclass(frozen=True, slots=True)
    class Query:
        query_id: Annotated[str, Meaning("the query's id")]
        degree: Annotated[int | None, Meaning("triples of the graph that hold the entity", counts=False)] = None

The column's type follows from the annotation: str, float, int, bool, a Literal, a subclass of str, or a tuple of one of
these; `| None` makes it nullable.
"""

import types
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from data.records.table import Column, Table

Record = TypeVar("Record", bound=type)

SQL = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a column means, its unit, and whether it distinguishes rows (see `Column.counts`)."""

    text: str
    unit: str = ""
    counts: bool = True


def table(name: str, row: str, *, key: tuple[str, ...] = ()) -> Callable[[Record], Record]:
    """Declares the dataclass below it as the row type of a table.

    Args:
        name: the table's name, in files and in the database.
        row: what one row is, such as "a complete query".
        key: the columns of the primary key; none for tables too large to be indexed.
    """

    def declare(record: Record) -> Record:
        record.__table__ = Table(name, row, _columns(record), key)  # type: ignore[attr-defined]
        return record

    return declare


def table_of(record: type) -> Table:
    """The table that a row type declares; TypeError for a class that declares none itself."""
    declared = vars(record).get("__table__")
    if not isinstance(declared, Table):
        raise TypeError(f"{record.__name__} declares no table; decorate it with @table")
    return declared


def _columns(record: type) -> tuple[Column, ...]:
    hints = get_type_hints(record, include_extras=True)
    return tuple(_column(record, field.name, hints[field.name]) for field in fields(record))


def _column(record: type, name: str, hint: Any) -> Column:
    meaning = next((note for note in get_args(hint)[1:] if isinstance(note, Meaning)), None)
    if get_origin(hint) is not Annotated or meaning is None:
        raise TypeError(f"{record.__name__}.{name} has no meaning; annotate it: Annotated[..., Meaning(...)]")
    kind, nullable = _without_none(get_args(hint)[0])
    return Column(name, _sql_type(record, name, kind), meaning.text, meaning.unit, nullable, meaning.counts)


def _without_none(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) in (Union, types.UnionType) and type(None) in get_args(hint):
        return next(kind for kind in get_args(hint) if kind is not type(None)), True
    return hint, False


def _sql_type(record: type, name: str, kind: Any) -> str:
    if get_origin(kind) is tuple:
        return f"{_sql_type(record, name, get_args(kind)[0])}[]"
    if get_origin(kind) is Literal:
        kind = type(get_args(kind)[0])
    found = next((sql for base, sql in SQL.items() if isinstance(kind, type) and issubclass(kind, base)), None)
    if found is None:
        raise TypeError(f"{record.__name__}.{name}: a column cannot be {kind}; use str, float, int, bool or a tuple")
    return found
