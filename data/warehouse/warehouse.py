"""Read a database: answer named queries with frames whose columns have units."""

import os
import re
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import gettempdir
from uuid import uuid4

import duckdb
import pandas as pd
import pyarrow as pa

from swaymeter.data.errors import DamagedFile, InputError, WorkspaceBusy, WorkspaceError, first_line
from swaymeter.data.records.table import Table
from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery, needed_tables, with_views
from swaymeter.data.warehouse.schema import SCORED, Schema, is_large, literal, quoted, rows_table, stored_columns

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",  # nothing is fetched, so that queries work offline
    "autoload_known_extensions": "false",  # no file decides which code is loaded
    "memory_limit": "1GB",  # a query that needs more uses temporary files
    "preserve_insertion_order": "false",  # the order would cost memory, and every query states its own order
}
SMALL = 16 << 20
"""Size of a database, in bytes, below which one thread is fastest: DuckDB gives 122,880 rows to a thread."""
_ATTACHED = "stored"
"""The name under which a database file is attached to the database in memory."""
_CONTENT_QUERIES = {
    "view": "SELECT view_name FROM duckdb_views() WHERE NOT internal",
    "macro": "SELECT function_name FROM duckdb_functions() WHERE NOT internal",
    "trigger": "SELECT trigger_name FROM duckdb_triggers() WHERE true",
    "computed column": "SELECT table_name || '.' || column_name FROM duckdb_columns() WHERE column_default IS NOT NULL",
}
"""Queries that list the parts of a database that run SQL, by kind. A caller appends the condition on the database."""


@dataclass(frozen=True)
class Limits:
    """Limits of a query of a foreign database, which somebody else made: a small file may produce endless rows.

    Attributes:
        seconds: limit of the time of a query.
        megabytes: limit of the memory of a query, and of its result.
    """

    seconds: float = 600.0
    megabytes: int = 4_000

    def rows(self, connection: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
        """Return the rows of a query; WorkspaceError if it exceeds the limits."""
        expired = threading.Event()

        def interrupt() -> None:
            expired.set()
            connection.interrupt()

        timer = threading.Timer(self.seconds, interrupt)
        timer.start()
        try:
            reader, batches, size = connection.sql(sql).to_arrow_reader(), list[pa.RecordBatch](), 0
            for batch in reader:
                batches.append(batch)
                size += batch.nbytes
                if size > self.megabytes * 1_000_000:
                    raise WorkspaceError(f"a query gives more than {self.megabytes:,} MB of rows; {_ADVICE}")
            return pa.Table.from_batches(batches, reader.schema)
        except duckdb.OutOfMemoryException:
            raise WorkspaceError(f"a query needs more than {self.megabytes:,} MB of memory; {_ADVICE}") from None
        except (duckdb.Error, pa.ArrowException):
            if not expired.is_set():
                raise
            raise WorkspaceError(f"a query takes more than {self.seconds:g} s; {_ADVICE}") from None
        finally:
            timer.cancel()


COMPUTED = frozenset({"answers_of_questions", "instances", "marked_instances"})
"""Views that many queries read. Their rows are stored at first use, because planning a view each time takes longer."""
_ADVICE = "if the database is from somebody else, it may be malicious: run its study file instead"
_REMEDY = "run the study of the database with --stage aggregate"


class Units(dict[str, str]):
    """Units by column. Frames share them, because nobody changes them; pandas would often make deep copies."""

    def __deepcopy__(self, memo: object) -> "Units":
        return self


class Warehouse:
    """A database that is open for reading."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        schema: Schema,
        limits: Limits | None = None,
        *,
        views: Iterable[NamedQuery] = (),
    ) -> None:
        """Wrap an open connection.

        Args:
            connection: the connection.
            schema: the schema of the database.
            limits: limits of each query of a foreign database; None for your own database.
            views: views, each created when a query first names it, because creating all takes longer than most queries.
        """
        self._connection = connection
        self._schema = schema
        self._limits = limits
        self._views = {view.name: view for view in views}
        self._tables_with_rows = set[str]()

    def frame(self, name: str) -> pd.DataFrame:
        """Return the answer to a named query; `attrs["units"]` has the units of its columns.

        Column types follow from the SQL types, whether or not a NULL occurs: BIGINT is Int64, BOOLEAN is boolean,
        VARCHAR is str, DOUBLE is float64. NULL is pd.NA in columns of Int64 and boolean, and NaN in columns of str and
        float64. A NaN always stands for NULL, because loading refuses scores that are NaN.

        Raises:
            UnknownName: no query has that name.
        """
        return self.answer(NAMED_QUERIES[name])

    def with_rows(self, names: Iterable[str]) -> list[str]:
        """Return the named queries whose needed tables all have rows; the other queries have no rows.

        Raises:
            UnknownName: no query has that name.
        """
        needed = {name: needed_tables(NAMED_QUERIES[name]) for name in names}
        unknown = sorted(set[str]().union(*needed.values()) - self._tables_with_rows)
        if unknown:
            firsts = (f"(SELECT {literal(table)} FROM {quoted(table)} LIMIT 1)" for table in unknown)
            rows = self._connection.execute(" UNION ALL ".join(firsts)).fetchall()
            self._tables_with_rows.update(table for (table,) in rows)
        return [name for name, tables in needed.items() if tables <= self._tables_with_rows]

    def answer(self, query: NamedQuery) -> pd.DataFrame:
        """Return the answer to a query as a frame, with types and units as in `frame`."""
        types = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
        answer: pd.DataFrame = self.rows(query).to_pandas(types_mapper=types.get)
        units = self._units(query)
        answer.attrs["units"] = Units({column: units[column] for column in answer.columns if column in units})
        return answer

    def rows(self, query: NamedQuery) -> pa.Table:
        """Return the rows of a query."""
        if self._views and (missing_views := self._schema.words_of([query]) & self._views.keys()):
            views = [self._views.pop(name) for name in sorted(missing_views)]
            create_views(self._connection, views, computed=frozenset() if self._limits else COMPUTED)
        with _sql_errors(query):
            if self._limits:
                return self._limits.rows(self._connection, query.sql)
            return self._connection.sql(query.sql).to_arrow_table()

    def table(self, table: Table) -> pa.Table:
        """Return the rows of a table."""
        columns = ", ".join(quoted(column.name) for column in table.columns)
        return self.rows(NamedQuery(table.name, f"SELECT {columns} FROM {quoted(table.name)}"))

    def export(self, table: Table, path: Path) -> int:
        """Write a table's rows to a Parquet file and return their number; an empty table writes no file.

        The rows are sorted, except in tables with a row for each prompt, for which sorting takes four times as long.
        """
        name, columns = quoted(table.name), ", ".join(quoted(c.name) for c in table.columns)
        ((count,),) = self._connection.execute(f"SELECT count(*) FROM {name}").fetchall()
        if count:
            order = "" if is_large(table) else f" ORDER BY {', '.join(map(quoted, table.key)) or 'ALL'}"
            rows = f"SELECT {columns} FROM {name}{order}"
            self._connection.execute(f"COPY ({rows}) TO {literal(str(path))} (FORMAT parquet, COMPRESSION zstd)")
        return int(count)

    def _units(self, query: NamedQuery) -> dict[str, str]:
        """Return units by column: a unit that the query declares, or on which all its tables and views agree."""
        units_of: dict[str, set[str]] = {}
        for name in self._tables_of(query):
            if table := self._schema.by_name.get(name):
                column_units = {column.name: column.unit for column in table.columns}
            else:
                view = NAMED_QUERIES.get(name)
                column_units = self._units(view) if view else {}
            for column, unit in column_units.items():
                units_of.setdefault(column, set()).add(unit)
        common = {column: units.pop() for column, units in units_of.items() if len(units) == 1}
        return {column: unit for column, unit in {**common, **query.units}.items() if unit}

    def _tables_of(self, query: NamedQuery) -> set[str]:
        if query.sql not in _tables_by_sql:
            ((tree,),) = self._connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [query.sql]).fetchall()
            _tables_by_sql[query.sql] = {*re.findall(r'"table_name":"(\w+)"', str(tree).lower())}
        return _tables_by_sql[query.sql]


_tables_by_sql: dict[str, set[str]] = {}
"""The tables and views of each query text that this process parsed."""


@contextmanager
def _sql_errors(query: NamedQuery) -> Iterator[None]:
    try:
        yield
    except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as error:
        raise InputError(f"named query {query.name} is not valid SQL: {first_line(error)}") from error


@contextmanager
def opened(
    path: Path, tables: Sequence[Table], *, limits: Limits | None = None, exports: Path | None = None
) -> Iterator[Warehouse]:
    """Open the database at `path` for reading.

    Anybody may have written the file. So it is attached, read-only, to a database in memory, and only columns of
    declared tables are read. No query reads another file, loads an extension or changes a setting.

    Args:
        path: file of the database.
        tables: tables of the database. If this version made the database, a missing table is read as empty.
        limits: limits of each query of a foreign database; None for your own database. Queries with limits write no
            temporary files.
        exports: folder into which tables may be exported; None forbids exports.

    Raises:
        WorkspaceError: the database is missing, is of another version, or has content that Swaymeter did not make; or
            a query exceeds the limits.
        WorkspaceBusy: another program has the file open for writing.
        DamagedFile: the file cannot be read.
    """
    schema = Schema(tables)
    with _in_memory() as connection:
        _attach(connection, path)
        if path.stat().st_size < SMALL:
            connection.execute("SET threads = 1")
        if limits:
            connection.execute(f"SET temp_directory = ''; SET memory_limit = '{limits.megabytes}MB'")
        if exports:
            connection.execute(f"SET allowed_directories = [{literal(str(exports.resolve()))}]")
        connection.execute("SET enable_external_access = false; SET lock_configuration = true")
        try:
            _create_views_over(connection, schema, path, is_foreign=limits is not None)
            yield Warehouse(connection, schema, limits, views=schema.views)
        except (duckdb.ProgrammingError, duckdb.OutOfMemoryException):
            raise
        except duckdb.Error as error:
            raise DamagedFile(
                f"{path} cannot be read ({first_line(error)}); the next run makes the file again"
            ) from None


@contextmanager
def _in_memory() -> Iterator[duckdb.DuckDBPyConnection]:
    # DuckDB creates the folder only for queries that exceed the memory, and removes it.
    temporary_folder = Path(gettempdir(), f"swaymeter-{uuid4().hex}")
    with duckdb.connect(config={**CONFIG, "temp_directory": str(temporary_folder)}) as connection:
        yield connection


def _attach(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    log = path.with_name(f"{path.name}.wal")
    if not os.path.lexists(path):
        raise WorkspaceError(f"there is no database {path}; {_REMEDY}")
    for file in (path, log) if os.path.lexists(log) else (path,):
        if not file.is_file():  # opening a pipe would wait forever
            raise WorkspaceError(f"{file} is not a file; remove it, and {_REMEDY}")
    try:
        connection.execute(f"ATTACH {literal(str(path.absolute()))} AS {_ATTACHED} (TYPE duckdb, READ_ONLY)")
    except duckdb.Error as error:
        reason = first_line(error)
        if "Could not set lock" in reason or isinstance(error, duckdb.ConnectionException):
            raise WorkspaceBusy(
                f"another program has {path} open for writing; close that program and try again"
            ) from None
        raise DamagedFile(f"{path} cannot be read ({reason}); the next run makes the file again") from None
    if log.exists():
        problem = "has changes that another program made to the database"
        raise WorkspaceError(f"{log} {problem}; remove this log, and {_REMEDY}")


def _create_views_over(connection: duckdb.DuckDBPyConnection, schema: Schema, path: Path, *, is_foreign: bool) -> None:
    """Create Swaymeter's views over the attached database. Views in the database file are not read.

    If this version of the package made the database, a missing table is read as empty: the command that made the
    database may have had fewer extensions, and so fewer measures.

    Raises:
        WorkspaceError: the database has another version, macros, triggers, computed columns, or a view instead of a
            table; or a foreign database has a view that Swaymeter does not make.
    """
    for kind, query in _CONTENT_QUERIES.items():
        rows = connection.execute(f"{query} AND database_name = {literal(_ATTACHED)}").fetchall()
        refused = {str(name) for (name,) in rows}
        if kind == "view":  # in a database that is not foreign, only a view in place of a table is refused
            expected = _view_names(schema)
            refused = refused - expected if is_foreign else refused & (schema.by_name.keys() - expected)
        if refused:
            raise WorkspaceError(
                f"{path} is not opened, because it has the {kind} {min(refused)!r}, which Swaymeter did not make; get "
                f"the Parquet files of the database, and {_REMEDY}"
            )
    columns = f"""
        SELECT table_name, column_name, data_type
        FROM duckdb_columns() JOIN duckdb_tables() USING (database_name, schema_name, table_name)
        WHERE database_name = {literal(_ATTACHED)} AND schema_name = 'main'
    """
    stored: dict[str, dict[str, str]] = {}
    for table, column, column_type in connection.execute(columns).fetchall():
        stored.setdefault(table, {})[column] = str(column_type).replace('"', "")  # DuckDB quotes names in a STRUCT
    lacks_tables, statements = False, list[str]()
    for table in schema.by_name.values():
        declared = {column.name: column.type for column in stored_columns(table)}
        columns_in_file = stored.get(rows_table(table))
        if columns_in_file is None:
            lacks_tables = True
            nulls = ", ".join(f"NULL::{column_type} AS {quoted(name)}" for name, column_type in declared.items())
            source = f"SELECT {nulls} WHERE false"
        elif declared.items() <= columns_in_file.items():
            source = f"SELECT {', '.join(map(quoted, declared))} FROM {_ATTACHED}.main.{quoted(rows_table(table))}"
        else:
            raise WorkspaceError(f"{path} was made by an earlier version of Swaymeter; {_REMEDY}")
        statements.append(f"CREATE VIEW {quoted(rows_table(table))} AS {source}")
    statements += schema.view_statements()
    connection.execute("; ".join(statements))  # one call takes half of the time of a call for each statement
    if lacks_tables and not _is_of_this_version(connection):
        raise WorkspaceError(f"{path} was made by an earlier version of Swaymeter; {_REMEDY}")


def _view_names(schema: Schema) -> set[str]:
    """Return the names of the views that Swaymeter makes in a database."""
    large = {table.name for table in schema.tables if is_large(table)}
    return {view.name for view in schema.views} | {SCORED} | large


def _is_of_this_version(connection: duckdb.DuckDBPyConnection) -> bool:
    return connection.execute("SELECT swaymeter_version FROM about").fetchall() == [(version("swaymeter"),)]


def create_views(
    connection: duckdb.DuckDBPyConnection,
    views: Sequence[NamedQuery],
    *,
    described: bool = False,
    computed: Collection[str] = (),
) -> None:
    """Create the views whose tables exist, in an order in which a view follows the views that it reads.

    Args:
        connection: connection to the database.
        views: the views.
        described: True also stores the description of each view as a comment, which doubles the time.
        computed: names of views whose rows are computed now and stored as temporary tables.
    """
    pending = sorted(views, key=lambda view: len(with_views([view])))  # if A reads B, B reads fewer views than A
    while pending:
        remaining = []
        for query in pending:
            try:
                kind = "TEMP TABLE" if query.name in computed else "VIEW"
                connection.execute(f"CREATE {kind} {quoted(query.name)} AS {query.sql}")
                if described:
                    connection.execute(f"COMMENT ON VIEW {quoted(query.name)} IS {literal(query.sentence)}")
            except duckdb.CatalogException:  # the query reads a table that does not exist, or a later view
                remaining.append(query)
            except (duckdb.BinderException, duckdb.ParserException) as error:
                raise InputError(
                    f"the view {query.name} is not valid SQL: {first_line(error)}; correct its text"
                ) from None
        if len(remaining) == len(pending):
            return
        pending = remaining
