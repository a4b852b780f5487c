"""Row types: frozen dataclasses, from which the columns, key and documentation of a table are derived.

docs/extending.md has an example, mine/measure.py. The type of a column follows from the annotation of its field: str,
float, int, bool, a Literal, a subclass of str, another row type, or a tuple of any of these types. `| None` makes the
column nullable.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from swaymeter.data.errors import InputError
from swaymeter.data.records.table import Column, Table

RowType = TypeVar("RowType", bound=type)
Record = TypeVar("Record")


class _Identifier(str):
    """A text that matches the regular expression `form`; InputError for another text, with the `expectation`."""

    __slots__ = ()
    form: ClassVar[str]
    expectation: ClassVar[str]

    def __new__(cls, value: str) -> Self:
        if not re.fullmatch(cls.form, value):
            raise InputError(f"{value!r} is not {cls.expectation}")
        return super().__new__(cls, value)


class WikidataId(_Identifier):
    """The id of a Wikidata item or property, such as Q20 or P36."""

    __slots__ = ()
    form = r"[QP][1-9][0-9]*"
    expectation = "a Wikidata id; write Q or P and a number, such as Q20"


class RelationName(_Identifier):
    """The name of a YAGO predicate, a Wikidata property or another relation: a letter, then letters and digits."""

    __slots__ = ()
    form = r"[A-Za-z][A-Za-z0-9]{0,63}"
    expectation = "a relation name; write letters and digits, such as officialLanguage"


CORPUS = "corpus"
"""The word that stands for a relation in tasks that count names in a corpus."""

RESERVED_RELATION_NAMES = frozenset({CORPUS, "own", "static", "study", "temporal", "triples"})
"""Words that stand for a relation in the names of tasks; a relation may not have these names."""

SQL = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}
"""SQL types by Python type; bool is first, because it is a subclass of int."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a column.

    Attributes:
        text: the description of the column.
        unit: the unit of its numbers.
        in_digest: True if the column is part of the table's digest (see `Column`).
    """

    text: str
    unit: str = ""
    in_digest: bool = True


@dataclass_transform(frozen_default=True)
def table(name: str, row: str, *, key: tuple[str, ...] = ()) -> Callable[[RowType], RowType]:
    """Declare a class as the row type of a table in files and in the database.

    The class becomes a frozen dataclass with slots, unless it already is a dataclass.

    Args:
        name: name of the table, in lower case, because SQL ignores case.
        row: a description of a row, such as "a complete query".
        key: the columns of the primary key; empty without a key, such as in tables too large to be indexed.

    Raises:
        TypeError: a field has no meaning, or an unknown type; a column of the key is missing, or nullable; the name of
            the table has capitals.
    """
    if name != name.lower():
        raise TypeError(f"table {name}: write the name of the table in lower case")

    def declare(row_type: RowType) -> RowType:
        is_dataclass_already = "__dataclass_fields__" in vars(row_type)
        declared: Any = row_type if is_dataclass_already else dataclass(frozen=True, slots=True)(row_type)
        columns = columns_of(declared)
        unusable = set(key) - {column.name for column in columns if not column.nullable}
        if unusable:
            raise TypeError(
                f"{row_type.__name__}: {sorted(unusable)} cannot be in the key; name existing columns that cannot "
                "be NULL"
            )
        declared.__table__ = Table(name, row, columns, key)
        return declared  # type: ignore[no-any-return]

    return declare


def table_of(row_type: type) -> Table:
    """Return the table that a row type declares; TypeError for a class without a declaration of its own."""
    declared = vars(row_type).get("__table__")
    if not isinstance(declared, Table):
        raise TypeError(f"{row_type.__name__} declares no table; decorate it with @table")
    return declared


def as_row(record: Any) -> dict[str, Any]:
    """Return the record as plain values by column, for a table: a tuple as a list, a nested record as a dict."""
    names, converters = _plain_fields(type(record))  # type: ignore[arg-type]  # a class can be hashed
    row = {name: getattr(record, name) for name in names}
    for name, convert in converters.items():
        if (value := row[name]) is not None:
            row[name] = convert(value)
    return row


@cache
def _plain_fields(row_type: type) -> tuple[tuple[str, ...], dict[str, Callable[[Any], Any]]]:
    """Return the names of all fields, and the functions that convert the fields whose values are not plain."""
    converters = {name: _plain_converter(kind) for name, kind in _kinds(row_type).items()}
    return tuple(converters), {name: convert for name, convert in converters.items() if convert}


def _plain_converter(kind: Any) -> Callable[[Any], Any] | None:
    """Return the function that converts values of this type to plain values; None if they are plain."""
    if get_origin(kind) is tuple:
        return partial(_as_list, _plain_converter(get_args(kind)[0]))
    return as_row if is_dataclass(kind) else None


def _as_list(convert: Callable[[Any], Any] | None, values: Any) -> Any:
    if not isinstance(values, tuple):  # a value of another type, which `Table.of` refuses
        return values
    return [*map(convert, values)] if convert else [*values]


def from_row(row_type: type[Record], row: Mapping[str, Any]) -> Record:
    """Return a row of a table as a record; InputError for a malformed identifier, such as a Wikidata id without Q."""
    values = dict(row)
    for name, make in _field_makers(row_type).items():  # type: ignore[arg-type]  # a class can be hashed
        if (value := values.get(name)) is not None:
            values[name] = make(value)
    return row_type(**values)


def columns_of(row_type: type) -> tuple[Column, ...]:
    """Return the columns that the fields of a dataclass declare; TypeError for a field without meaning or SQL type."""
    return tuple(_column(row_type, name, hint) for name, hint in _hints(row_type).items())


def _hints(row_type: type) -> dict[str, Any]:
    hints = get_type_hints(row_type, include_extras=True)
    return {field.name: hints[field.name] for field in fields(row_type)}


def _kinds(row_type: type) -> dict[str, Any]:
    """Return the type of each field, without None."""
    return {name: _without_none(get_args(hint)[0])[0] for name, hint in _hints(row_type).items()}


def _column(row_type: type, name: str, hint: Any) -> Column:
    meaning = next((note for note in get_args(hint)[1:] if isinstance(note, Meaning)), None)
    if get_origin(hint) is not Annotated or meaning is None:
        raise TypeError(
            f"{row_type.__name__}.{name} has no `Meaning`; annotate the field as Annotated[..., Meaning(...)]"
        )
    kind, nullable = _without_none(get_args(hint)[0])
    sql = _sql_type(kind)
    if sql is None:
        raise TypeError(
            f"{row_type.__name__}.{name}: a column cannot have type {kind}; use str, float, int, bool or tuple"
        )
    element = _innermost_element(kind)
    parts = columns_of(element) if isinstance(element, type) and is_dataclass(element) else ()
    return Column(name, sql, meaning.text, meaning.unit, nullable, meaning.in_digest, parts)


def _innermost_element(kind: Any) -> Any:
    return _innermost_element(get_args(kind)[0]) if get_origin(kind) is tuple else kind


def _without_none(hint: Any) -> tuple[Any, bool]:
    """Return the type of a hint such as `str | None`, and True if None is possible."""
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return (kinds[0], True) if len(kinds) < len(get_args(hint)) else (hint, False)


def _sql_type(kind: Any) -> str | None:
    if get_origin(kind) is tuple:
        element = _sql_type(get_args(kind)[0])
        return element and f"{element}[]"
    if is_dataclass(kind):
        columns = columns_of(kind)  # type: ignore[arg-type]
        return f"STRUCT({', '.join(f'{column.name} {column.type}' for column in columns)})"
    if get_origin(kind) is Literal:
        kind = type(get_args(kind)[0])
    return next((sql for base, sql in SQL.items() if isinstance(kind, type) and issubclass(kind, base)), None)


@cache
def _field_makers(row_type: type) -> dict[str, Callable[[Any], Any]]:
    makers = {name: _maker(kind) for name, kind in _kinds(row_type).items()}
    return {name: make for name, make in makers.items() if make}


def _maker(kind: Any) -> Callable[[Any], Any] | None:
    """Return the function that makes values of this type from plain values; None if they are plain."""
    if get_origin(kind) is tuple:
        element = _maker(get_args(kind)[0])
        return (lambda values: tuple(map(element, values))) if element else tuple
    if is_dataclass(kind):
        return partial(from_row, kind)  # type: ignore[arg-type]
    if isinstance(kind, type) and issubclass(kind, str) and kind is not str:
        return kind
    return None
