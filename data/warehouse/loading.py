"""Making the database: every table in full from the workspace's Parquet files, then tables derived from them.

The database grows in a temporary file beside the old one and takes its name once it is complete. A kill costs only a
leftover, which the next build removes, and readers see the old database or the new one.
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
from swaymeter.data.storage.writing import beside, put, remove_leftovers
from swaymeter.data.warehouse.schema import (
    ABOUT,
    ORIGINS,
    SHARED,
    Schema,
    is_large,
    own_columns,
    quoted,
    rows_table,
)
from swaymeter.data.warehouse.sources import SOURCE_FILE, checked_footer, only_finite, selected, shared_values
from swaymeter.data.warehouse.warehouse import CONFIG, Warehouse, create_views

Files = Mapping[Table, Sequence[Path]]
"""Verified Parquet files by table."""


def build(
    path: Path,
    key: str,
    tables: Sequence[Table],
    files: Files,
    *,
    computed: Mapping[Table, Sequence[Mapping[str, Any]]] = MappingProxyType({}),
    derive: Callable[["Building"], None] = lambda building: None,
) -> None:
    """Make the database at `path`, replacing an older one; only the run that holds the lock calls it.

    Args:
        path: file of the database. Paths of files are stored relative to its folder.
        key: digest of everything the database is computed from.
        tables: tables of the database.
        files: files of each table.
        computed: rows of tables without files.
        derive: function that adds derived tables, such as statistics.

    Raises:
        DamagedFile: a file cannot be read, or has another table.
        InputError: a file has a forbidden NULL, a number that is not finite, or a row twice.
        WorkspaceError: the folder cannot be written.
    """
    refusal = f"the database {path} cannot be written: {{}}; free some space or choose another --workspace"
    schema = Schema(tables)
    try:
        with _replacing(path) as temporary, duckdb.connect(temporary, config=CONFIG) as connection:
            with _transaction(connection):
                for statement in schema.statements():
                    connection.execute(statement)
            create_views(connection, schema.views, described=True)
            building = Building(connection, schema, path.parent)
            about = {"schema_version": schema.version, "swaymeter_version": version("swaymeter"), "key": key}
            with _transaction(connection):
                building.load(files)
                for table, rows in {**computed, ABOUT: [about]}.items():
                    building.insert(table, table.of(rows))
            derive(building)
            connection.execute("CHECKPOINT")  # closing would do the same but keep quiet about a full disk
    except OSError as error:
        raise WorkspaceError(refusal.format(error.strerror or error)) from error
    except duckdb.Error as error:
        raise WorkspaceError(refusal.format(first_line(error))) from error


@contextmanager
def _transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Run statements in one transaction; after an error the database is discarded."""
    connection.execute("BEGIN")
    yield
    connection.execute("COMMIT")


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` if the block succeeds; otherwise it leaves no trace."""
    remove_leftovers(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside(path) as temporary:
            yield temporary
            # The log of a writer of the old database would be replayed into the new one.
            path.with_name(f"{path.name}.wal").unlink(missing_ok=True)
            put(temporary, path)
    finally:
        remove_leftovers(path)  # DuckDB's files beside its temporary file


class Building:
    """A database while it is made.

    Attributes:
        warehouse: the database for named queries, over the tables loaded so far.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, schema: Schema, folder: Path) -> None:
        """Wrap a connection to a database with empty tables; stored paths are relative to `folder`."""
        self.warehouse = Warehouse(connection, schema)
        self._connection = connection
        self._folder = folder
        self._origins = 0

    def load(self, files: Files) -> None:
        """Load the rows of files, all files of a table at once."""
        for table, paths in files.items():
            if not paths:
                continue
            footers = {path: checked_footer(table, path) for path in paths}
            with _named(table), only_finite():
                if is_large(table):
                    self._load_large(table, footers)
                else:
                    self._insert(table, own_columns(table), selected(table, paths, table.columns))

    def insert(self, table: Table, rows: pa.Table) -> None:
        """Add rows to a table."""
        with _named(table), self._registered("incoming", rows):
            self._insert(table, table.columns, "FROM incoming")

    def _load_large(self, table: Table, footers: Mapping[Path, pq.FileMetaData]) -> None:
        """Load files with a row for each prompt; a number replaces the columns that all rows of an origin share."""
        shared = {path: shared_values(footer) for path, footer in footers.items()}
        columns = own_columns(table)
        single_origins = {
            path: [(*values.values(), footers[path].num_rows)] for path, values in shared.items() if values
        }
        with self._origins_of(table, single_origins):
            source = selected(table, [*single_origins], columns, with_file=True)
            self._insert(table, columns, f"FROM ({source}) JOIN of_file USING ({SOURCE_FILE})", "origin_id")
        several_origins = {path: self._counted(table, path) for path, values in shared.items() if values is None}
        with self._origins_of(table, several_origins):
            source = selected(table, [*several_origins], table.columns, with_file=True)
            same = " AND ".join(f"rows.{quoted(c.name)} IS NOT DISTINCT FROM of_file.{quoted(c.name)}" for c in SHARED)
            joined = f"FROM ({source}) AS rows JOIN of_file ON rows.{SOURCE_FILE} = of_file.{SOURCE_FILE} AND {same}"
            self._insert(table, columns, f"SELECT rows.*, origin_id {joined}", "origin_id")

    def _counted(self, table: Table, path: Path) -> list[tuple[Any, ...]]:
        """Return the origins of a file of several engines or devices, with their numbers of rows."""
        columns, source = ", ".join(quoted(c.name) for c in SHARED), selected(table, [path], SHARED)
        query = f"SELECT {columns}, count(*) FROM ({source}) GROUP BY ALL ORDER BY ALL"
        return self._connection.execute(query).fetchall()

    @contextmanager
    def _origins_of(self, table: Table, origins: Mapping[Path, Sequence[tuple[Any, ...]]]) -> Iterator[None]:
        """Store the origins of files; inside the block, `of_file` has them by file."""
        names = (*(c.name for c in SHARED), "rows")
        rows = [
            {"file": str(path), "table": table.name, **dict(zip(names, origin, strict=True))}
            for path in sorted(origins)
            for origin in origins[path]
        ]
        numbered = [{"origin_id": number, **row} for number, row in enumerate(rows, self._origins + 1)]
        self._origins += len(rows)
        by_file = ORIGINS.of(numbered)
        with self._registered("of_file", by_file.rename_columns({"file": SOURCE_FILE})):
            yield
        relative_paths = [os.path.relpath(row["file"], self._folder) for row in numbered]
        self.insert(
            ORIGINS,
            ORIGINS.of(
                [{**row, "file": relative_path} for row, relative_path in zip(numbered, relative_paths, strict=True)]
            ),
        )

    def _insert(self, table: Table, columns: Sequence[Any], source: str, *others: str) -> None:
        names = ", ".join([*(quoted(c.name) for c in columns), *others])
        into = quoted(rows_table(table))
        self._connection.execute(f"INSERT INTO {into} BY NAME SELECT {names} FROM ({source})")

    @contextmanager
    def _registered(self, name: str, rows: pa.Table) -> Iterator[None]:
        self._connection.register(name, rows)
        try:
            yield
        finally:
            with suppress(duckdb.Error):  # after an error the transaction is over, and that error is raised
                self._connection.unregister(name)


@contextmanager
def _named(table: Table) -> Iterator[None]:
    """Name the table of a row that breaks a constraint."""
    try:
        yield
    except duckdb.ConstraintException as error:
        reason = "has NULL that it may not have" if "NOT NULL" in str(error) else "is there already"
        raise InputError(f"a row of {table.name} {reason} ({first_line(error)})") from None
