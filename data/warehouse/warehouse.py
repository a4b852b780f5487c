"""What a database answers: named queries, as frames whose columns have units."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from data.errors import DamagedFile, InputError, WorkspaceBusy, WorkspaceError
from data.records.table import Column, Table
from data.warehouse.queries import NamedQuery
from data.warehouse.schema import Schema, holds_scores, literal, quoted
from data.warehouse.sources import NOT_FINITE, checked_footer, first_line, selected

if TYPE_CHECKING:
    import pandas as pd

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",  # read and made offline: what is not there must not be fetched
    "memory_limit": "1GB",  # more spills to the disk
    "preserve_insertion_order": "false",  # costs memory, and every query says its order
}


class Warehouse:
    """A database that is open for reading."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, schema: Schema, answers: Mapping[str, pa.Table] | None = None
    ) -> None:
        """A database with the tables of a schema, on an open connection; answers: those that are known, by query."""
        self._connection = connection
        self._schema = schema
        self._answers = answers or {}

    def frame(self, name: str) -> "pd.DataFrame":
        """The answer to a named query.

        Column types follow from the table, not from whether a NULL happens to be there: BIGINT is Int64, BOOLEAN is
        boolean, VARCHAR is str, DOUBLE is float64. NULL is pd.NA in the first two and NaN in the others; a NaN is
        never a score, for none can be loaded.

        Args:
            name: of a query of `data.warehouse.QUERIES`.

        Returns:
            A frame whose `attrs["units"]` has the unit of every column that has one.

        Raises:
            UnknownName: no query has that name.
            InputError: a score of a file that is read in place is not finite.
        """
        import pandas as pd  # here, as it takes long to import, and to know the schema needs none of it

        query = self._schema.queries[name]
        rows = self._answers[name] if name in self._answers else self.rows(query)
        types = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
        answer: pd.DataFrame = rows.to_pandas(types_mapper=types.get)
        units = self._units(query)
        answer.attrs["units"] = {column: units[column] for column in answer.columns if column in units}
        return answer

    def rows(self, query: NamedQuery) -> pa.Table:
        """The rows that a query gives; InputError where a score of a file that is read in place is not finite."""
        try:
            return self._connection.sql(query.sql).to_arrow_table()
        except duckdb.InvalidInputException as error:
            if NOT_FINITE in str(error):
                raise InputError(first_line(error).removeprefix("Invalid Input Error: ")) from None
            raise

    def columns(self, query: NamedQuery) -> tuple[Column, ...]:
        """The columns of a query's rows, with their types and units; no row is read."""
        described, units = self._connection.sql(query.sql), self._units(query)
        named = zip(described.columns, described.types, strict=True)
        return tuple(Column(name, str(kind), "", units.get(name, ""), nullable=True) for name, kind in named)

    def _units(self, query: NamedQuery) -> dict[str, str]:
        """The units of the tables' columns that the query reads, by name, and those that it declares.

        A name that has different units in two tables has none here, and no unit at all in one.
        """
        units_of: dict[str, set[str]] = {}
        for name in self._tables_of(query):
            if read := self._schema.by_name.get(name):
                column_units = {column.name: column.unit for column in read.columns}
            else:
                view = self._schema.queries.get(name)
                column_units = self._units(view) if view else {}
            for column, unit in column_units.items():
                units_of.setdefault(column, set()).add(unit)
        passed = {
            column: next(iter(column_units)) for column, column_units in units_of.items() if len(column_units) == 1
        }
        return {column: unit for column, unit in {**passed, **query.units}.items() if unit}

    def _tables_of(self, query: NamedQuery) -> set[str]:
        """The tables and views that a query names, from its syntax tree."""
        ((tree,),) = self._connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [query.sql]).fetchall()
        return set(re.findall(r'"table_name":"(\w+)"', tree))


@contextmanager
def over(
    files: Mapping[Table, Sequence[Path]], tables: Sequence[Table], answers: Mapping[str, pa.Table] | None = None
) -> Iterator[Warehouse]:
    """Verified Parquet files, read in place: named queries can be asked before there is a database.

    Args:
        files: the files of each table; a table without files is empty.
        tables: every table that a query may read.
        answers: rows of queries that are known, by name; nothing is read for them.

    Raises:
        DamagedFile: a file cannot be read, or holds another table.
        InputError: a column has NULL that may have none.
    """
    schema = Schema(tuple(tables))
    with TemporaryDirectory(prefix="swaymeter-") as spilled:
        connection = duckdb.connect(config={**CONFIG, "temp_directory": spilled})
        try:
            for table in tables:
                paths = files.get(table, ())
                for path in paths:
                    checked_footer(table, path)
                connection.execute(f"CREATE VIEW {quoted(table.name)} AS {selected(table, paths, table.columns)}")
            if any(map(holds_scores, tables)):
                connection.execute(schema.scored(tables, origins=False))
            create_views(connection, schema)
            yield Warehouse(connection, schema, answers)
        finally:
            connection.close()


@contextmanager
def opened(path: Path, tables: Sequence[Table]) -> Iterator[Warehouse]:
    """The database at `path`, for reading.

    Raises:
        WorkspaceError: there is none, or one of another schema.
        WorkspaceBusy: a program has it open for writing.
        DamagedFile: it cannot be read.
    """
    if not path.exists():
        raise WorkspaceError(f"there is no database {path}; run `swaymeter aggregate` with the study's file")
    try:
        connection = duckdb.connect(path, read_only=True, config=CONFIG)
    except duckdb.Error as error:
        reason = first_line(error)
        if "Could not set lock" in reason or isinstance(error, duckdb.ConnectionException):
            raise WorkspaceBusy(f"another program has {path} open for writing; close it and try again") from None
        raise DamagedFile(f"{path} cannot be read ({reason}); remove it and run again") from None
    try:
        schema = Schema(tuple(tables))
        if stored_key(connection, schema) is None:
            raise WorkspaceError(f"{path} was made by another version; run `swaymeter aggregate` with the study's file")
        yield Warehouse(connection, schema)
    except (duckdb.ProgrammingError, duckdb.OutOfMemoryException):
        raise
    except duckdb.Error as error:
        raise DamagedFile(f"{path} cannot be read ({first_line(error)}); remove it and run again") from None
    finally:
        connection.close()


def key_of(path: Path, tables: Sequence[Table]) -> str | None:
    """The key that the database at `path` carries; None where it is missing, unreadable or has another schema."""
    if not path.exists():
        return None
    try:
        with duckdb.connect(path, read_only=True, config=CONFIG) as connection:
            return stored_key(connection, Schema(tuple(tables)))
    except duckdb.Error:
        return None


def stored_key(connection: duckdb.DuckDBPyConnection, schema: Schema) -> str | None:
    """The key of an open database; None where it has another schema."""
    try:
        rows = connection.execute("SELECT schema_version, key FROM about").fetchall()
    except duckdb.Error:
        return None
    return str(rows[0][1]) if rows and rows[0][0] == schema.version else None


def create_views(connection: duckdb.DuckDBPyConnection, schema: Schema) -> None:
    """Creates the views whose tables are there, a view that reads another one after it."""
    waiting = schema.views
    while waiting:
        left = []
        for query in waiting:
            try:
                connection.execute(f"CREATE VIEW {quoted(query.name)} AS {query.sql}")
                connection.execute(f"COMMENT ON VIEW {quoted(query.name)} IS {literal(query.sentence)}")
            except duckdb.CatalogException:
                left.append(query)
        if len(left) == len(waiting):
            return
        waiting = left
