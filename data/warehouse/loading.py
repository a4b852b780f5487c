"""Making the database: tables from the workspace's Parquet files, then tables that are derived from these tables.

A new database is made in a temporary file beside the old database, and replaces the old database once it is complete.
A killed build leaves only the temporary file, which the next build removes.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from swaymeter.data.errors import InputError, WorkspaceError, first_line
from swaymeter.data.records.table import Table
from swaymeter.data.storage.writing import move_to_target, remove_leftovers, temporary_beside
from swaymeter.data.warehouse.queries import NAMED_QUERIES
from swaymeter.data.warehouse.schema import (
    ABOUT,
    ORIGINS,
    SHARED,
    Schema,
    is_large,
    quoted,
    row_columns,
    rows_table,
)
from swaymeter.data.warehouse.sources import SOURCE_FILE, checked_footer, not_finite_errors, select_sql, shared_values
from swaymeter.data.warehouse.warehouse import COMPUTED, CONFIG, SMALL, Warehouse, create_views

Files = Mapping[Table, Sequence[Path]]
"""Parquet files by table; the caller has verified their bytes."""


def build(
    path: Path,
    key: str,
    tables: Sequence[Table],
    files: Files,
    *,
    computed: Mapping[Table, Sequence[Mapping[str, Any]]] = MappingProxyType({}),
    derive: Callable[["Building"], None] = lambda building: None,
) -> None:
    """Make the database at `path`, in place of an older database; only the run that holds the lock may call this.

    Args:
        path: file of the database, which stores paths relative to this file's folder.
        key: digest of everything the database is computed from.
        tables: tables of the database.
        files: files of each table.
        computed: rows of tables that the caller computed, and that have no files.
        derive: function that inserts the rows of derived tables, such as statistics.

    Raises:
        DamagedFile: a file cannot be read, or has another table.
        InputError: a file has a forbidden NULL, a number that is not finite, or a row twice.
        WorkspaceError: the folder cannot be written.
    """
    refusal = f"the database {path} cannot be written: {{}}; free some space or choose another --workspace"
    schema = Schema(tables)
    try:
        with _replacing(path) as temporary, _empty_database(temporary, schema) as connection:
            if sum(file.stat().st_size for paths in files.values() for file in paths) > SMALL:
                connection.execute("RESET threads")  # large files are read with a thread for each processor
            building = Building(connection, schema, path.parent)
            about = {"schema_version": schema.version, "swaymeter_version": version("swaymeter"), "key": key}
            with _transaction(connection):
                building.load(files)
                for table, rows in {**computed, ABOUT: [about]}.items():
                    building.insert(table, table.of(rows))
            derive(building)
            connection.execute("CHECKPOINT")  # closing the connection would do this too, but hide a full disk
    except OSError as error:
        raise WorkspaceError(refusal.format(error.strerror or error)) from error
    except duckdb.Error as error:
        raise WorkspaceError(refusal.format(first_line(error))) from error


_empty_databases: dict[str, bytes] = {}
"""Bytes of empty databases by version of the schema; a copy takes a tenth of the time of the schema's statements."""


def _empty_database(path: Path, schema: Schema) -> duckdb.DuckDBPyConnection:
    config = {**CONFIG, "threads": 1}
    empty = _empty_databases.get(schema.version)
    if empty:
        path.write_bytes(empty)
        return duckdb.connect(path, config=config)
    connection = duckdb.connect(path, config=config)
    with _transaction(connection):
        connection.execute("; ".join(schema.statements()))
    create_views(connection, schema.views, described=True)
    connection.execute("CHECKPOINT")  # writes everything from DuckDB's log into the file
    _empty_databases[schema.version] = path.read_bytes()
    return connection


@contextmanager
def _transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    connection.execute("BEGIN")  # without ROLLBACK, because an error discards the database
    yield
    connection.execute("COMMIT")


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    remove_leftovers(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_beside(path) as temporary:
            yield temporary
            # DuckDB would replay the log of a writer of the old database into the new database.
            path.with_name(f"{path.name}.wal").unlink(missing_ok=True)
            move_to_target(temporary, path)
    finally:
        remove_leftovers(path)  # DuckDB writes further files beside the temporary file


class Building:
    """A database that is being made.

    Attributes:
        warehouse: answers named queries over the tables loaded so far.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, schema: Schema, folder: Path) -> None:
        # The rows of each view are computed at its first query, when `load` has filled the tables of scores.
        self.warehouse = Warehouse(connection, schema, views=[NAMED_QUERIES[name] for name in sorted(COMPUTED)])
        self._connection = connection
        self._folder = folder
        self._origin_count = 0  # number of rows of the table `origins`

    def load(self, files: Files) -> None:
        """Load the rows of all files, table by table."""
        for table, paths in files.items():
            footers = {path: checked_footer(table, path) for path in paths}
            footers = {path: footer for path, footer in footers.items() if footer.num_rows}
            if not footers:
                continue
            with _constraint_errors(table), not_finite_errors():
                if is_large(table):
                    self._load_large(table, footers)
                else:
                    self._insert(table, row_columns(table), select_sql(table, [*footers], table.columns))

    def insert(self, table: Table, rows: pa.Table) -> None:
        """Add rows to a table."""
        if not rows.num_rows:  # a statement takes milliseconds, and most statistics of a small study have no rows
            return
        with _constraint_errors(table), self._registered("incoming", rows):
            self._insert(table, table.columns, "FROM incoming")

    def _load_large(self, table: Table, footers: Mapping[Path, pq.FileMetaData]) -> None:
        """Load files of a large table: in place of the columns SHARED, each row stores the id of its origin."""
        shared = {path: shared_values(footer) for path, footer in footers.items()}
        columns = row_columns(table)
        # Files whose rows have a single origin, that is, the same values in SHARED.
        single_origins = {
            path: [(*values.values(), footers[path].num_rows)] for path, values in shared.items() if values
        }
        if single_origins:
            with self._store_origins(table, single_origins):
                source = select_sql(table, [*single_origins], columns, with_file=True)
                self._insert(table, columns, f"FROM ({source}) JOIN file_origins USING ({SOURCE_FILE})", "origin_id")
        several_origins = {path: self._origins_in(table, path) for path, values in shared.items() if values is None}
        if not several_origins:
            return
        with self._store_origins(table, several_origins):
            source = select_sql(table, [*several_origins], table.columns, with_file=True)
            names = [quoted(column.name) for column in SHARED]
            same_origin = " AND ".join(f"rows.{name} IS NOT DISTINCT FROM file_origins.{name}" for name in names)
            rows_with_origins = (
                f"SELECT rows.*, origin_id FROM ({source}) AS rows "
                f"JOIN file_origins ON rows.{SOURCE_FILE} = file_origins.{SOURCE_FILE} AND {same_origin}"
            )
            self._insert(table, columns, rows_with_origins, "origin_id")

    def _origins_in(self, table: Table, path: Path) -> list[tuple[Any, ...]]:
        columns, source = ", ".join(quoted(c.name) for c in SHARED), select_sql(table, [path], SHARED)
        query = f"SELECT {columns}, count(*) FROM ({source}) GROUP BY ALL ORDER BY ALL"
        return self._connection.execute(query).fetchall()

    @contextmanager
    def _store_origins(self, table: Table, origins: Mapping[Path, Sequence[tuple[Any, ...]]]) -> Iterator[None]:
        """Store the origins of files; inside the block, the table `file_origins` has the origins with their files.

        An origin in `origins` has the values of the columns SHARED, then the number of its rows.
        """
        names = (*(c.name for c in SHARED), "rows")
        rows = [
            {"file": str(path), "table": table.name, **dict(zip(names, origin, strict=True))}
            for path in sorted(origins)
            for origin in origins[path]
        ]
        numbered = [{"origin_id": number, **row} for number, row in enumerate(rows, self._origin_count + 1)]
        self._origin_count += len(rows)
        with self._registered("file_origins", ORIGINS.of(numbered).rename_columns({"file": SOURCE_FILE})):
            yield
        relative_rows = [{**row, "file": os.path.relpath(row["file"], self._folder)} for row in numbered]
        self.insert(ORIGINS, ORIGINS.of(relative_rows))

    def _insert(self, table: Table, columns: Sequence[Any], source: str, *further_columns: str) -> None:
        names = ", ".join([*(quoted(c.name) for c in columns), *further_columns])
        into = quoted(rows_table(table))
        self._connection.execute(f"INSERT INTO {into} BY NAME SELECT {names} FROM ({source})")

    @contextmanager
    def _registered(self, name: str, rows: pa.Table) -> Iterator[None]:
        self._connection.register(name, rows)
        try:
            yield
        finally:
            with suppress(duckdb.Error):  # an error in the block has ended the transaction
                self._connection.unregister(name)


@contextmanager
def _constraint_errors(table: Table) -> Iterator[None]:
    """Turn DuckDB's error about a row of `table` that breaks a constraint into InputError."""
    try:
        yield
    except duckdb.ConstraintException as error:
        reason = "has NULL in a column that may not be NULL" if "NOT NULL" in str(error) else "repeats a key"
        raise InputError(f"a row of {table.name} {reason} ({first_line(error)})") from None
