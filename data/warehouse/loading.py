"""Making the database from the workspace's files: loaded rows stay, those of new files are added, of gone ones removed.

The new database grows in a temporary file beside the old one and takes its name once it is complete: a kill costs
nothing but a leftover that the next time removes, and whoever reads sees the old database or the new one. It begins as
a copy of the old one where that has the same schema; a file's name has the digest of its content, so that rows of a
file of the same name are the same.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from swaymeter.data.digests import digest_of_large
from swaymeter.data.errors import InputError, WorkspaceError, first_line
from swaymeter.data.records.table import Table
from swaymeter.data.records.tables import RUNS, VARIANTS, VERDICTS_BY_HAND
from swaymeter.data.storage.writing import beside, put, remove_leftovers
from swaymeter.data.warehouse.schema import (
    ABOUT,
    FILES,
    ORIGINS,
    SHARED,
    Schema,
    is_large,
    own_columns,
    quoted,
    rows_table,
)
from swaymeter.data.warehouse.sources import checked_footer, only_finite, selected, shared_values
from swaymeter.data.warehouse.warehouse import CONFIG, create_views, is_of, is_only_ours


def update(
    path: Path,
    key: str,
    tables: Sequence[Table],
    files: Mapping[Table, Sequence[Path]],
    *,
    computed: Mapping[Table, Sequence[Mapping[str, Any]]] = MappingProxyType({}),
    trusted: Callable[[str], bool] | None = lambda digest: True,
) -> None:
    """Makes the database at `path` hold the rows of these files and no others; by the one run that holds the lock.

    Args:
        path: of the database; the files' places are noted relative to its folder.
        key: the digest of everything that it is made from.
        tables: those that it has.
        files: verified files of each table, their names ending in the digest of their content.
        computed: the rows of tables that no file has.
        trusted: whether the old database, whose bytes have this digest, can be reused; None where it cannot.

    Raises:
        DamagedFile: a file cannot be read, or holds another table.
        InputError: a file has NULL where none may be, a number that is not finite, or a row that is there already.
        WorkspaceError: the folder cannot be written.
    """
    refusal = f"the database {path} cannot be written: {{}}; free some space or choose another --workspace"
    schema = Schema(tables)
    for begin in (partial(_copy, trusted), _empty) if trusted and path.exists() else (_empty,):
        try:
            with _replacing(path) as temporary, begin(temporary, path, schema) as connection:
                _Loader(connection, schema, path.parent).bring_up_to(files, computed, key)
                # Closing would do the same but keep quiet about a full disk.
                connection.execute("CHECKPOINT")
            return
        except OSError as error:
            if begin is not _empty:  # the old database cannot be read, or there is no space for its copy
                continue
            raise WorkspaceError(refusal.format(error.strerror or error)) from error
        except duckdb.Error as error:
            if begin is _empty:
                raise WorkspaceError(refusal.format(first_line(error))) from error


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A temporary path that takes the place of `path` where the block ends well, and else leaves no trace."""
    remove_leftovers(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside(path) as temporary:
            yield temporary
            # A log left by whoever wrote to the old database would be replayed into the new one.
            path.with_name(f"{path.name}.wal").unlink(missing_ok=True)
            put(temporary, path)
    finally:
        remove_leftovers(path)  # what DuckDB put beside its temporary file


@contextmanager
def _empty(temporary: Path, path: Path, schema: Schema) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database without rows."""
    with duckdb.connect(temporary, config=CONFIG) as connection:
        connection.execute("BEGIN")
        for statement in schema.statements():
            connection.execute(statement)
        connection.execute("COMMIT")
        create_views(connection, schema.views, described=True)
        yield connection


@contextmanager
def _copy(
    trusted: Callable[[str], bool], temporary: Path, path: Path, schema: Schema
) -> Iterator[duckdb.DuckDBPyConnection]:
    """The old database; duckdb.Error where it cannot be gone on with."""
    if not trusted(digest_of_large(path, temporary)):
        raise duckdb.CatalogException(f"{path} holds other bytes than were written")
    if not is_only_ours(temporary, schema):  # the digest that the bytes have to have may be of others, too
        raise duckdb.CatalogException(f"{path} has another schema")
    with duckdb.connect(temporary, config=CONFIG) as connection:
        if not is_of(schema, connection):
            raise duckdb.CatalogException(f"{path} has another schema")
        yield connection


class _Loader:
    """Loads and removes the rows of files, on an open connection."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, schema: Schema, folder: Path) -> None:
        self._connection = connection
        self._schema = schema
        self._folder = folder
        self._origin = 0  # the number of the last one

    def bring_up_to(
        self, files: Mapping[Table, Sequence[Path]], computed: Mapping[Table, Sequence[Mapping[str, Any]]], key: str
    ) -> None:
        """Removes the rows of files that are not in `files`, loads those that are only there."""
        expected = {os.path.relpath(path, self._folder): (table, path) for table in files for path in files[table]}
        loaded = self._connection.execute('SELECT file, "table", file_id FROM files').fetchall()
        with self._whole():
            for file, name, number in loaded:
                if file not in expected:
                    self._remove(self._schema.by_name[name], number)
            self._connection.execute("DELETE FROM about")
            for table in (VARIANTS, RUNS, VERDICTS_BY_HAND):
                self._connection.execute(f"DELETE FROM {table.name}")
        # After a commit, since an index keeps the keys of removed rows until then.
        new = sorted(expected.keys() - {file for file, *_ in loaded})
        first = 1 + max((number for *_, number in loaded), default=0)
        ((self._origin,),) = self._connection.execute("SELECT coalesce(max(origin_id), 0) FROM origins").fetchall()
        rows_of: dict[Table, list[dict[str, Any]]] = {FILES: [], ORIGINS: []}
        with self._whole():
            for number, file in enumerate(new, first):
                table, path = expected[file]
                rows_of[ORIGINS] += self._load(table, path, number)
                rows_of[FILES].append({"file_id": number, "file": file, "table": table.name})
            for table, rows in {**rows_of, **computed}.items():
                self._insert_rows(table, rows)
            about = {"schema_version": self._schema.version, "swaymeter_version": version("swaymeter"), "key": key}
            self._insert_rows(ABOUT, [about])

    def _remove(self, table: Table, number: int) -> None:
        of_file = f"file_id = {number}"
        rows = f"origin_id IN (SELECT origin_id FROM origins WHERE {of_file})" if is_large(table) else of_file
        self._connection.execute(f"DELETE FROM {quoted(rows_table(table))} WHERE {rows}")
        self._connection.execute(f"DELETE FROM origins WHERE {of_file}")
        self._connection.execute(f"DELETE FROM files WHERE {of_file}")

    def _load(self, table: Table, path: Path, number: int) -> list[dict[str, Any]]:
        """Loads the rows of a file; gives what of them is noted in `origins`."""
        footer = checked_footer(table, path)
        try:
            with only_finite():
                if is_large(table):
                    return self._load_large(table, path, number, footer)
                self._insert(table, f"{number} AS file_id", selected(table, [path], table.columns))
                return []
        except duckdb.ConstraintException as error:
            reason = "has NULL that it may not have" if "NOT NULL" in str(error) else "is there already"
            raise InputError(f"{path}: a row of {table.name} {reason} ({first_line(error)})") from None

    def _load_large(self, table: Table, path: Path, number: int, footer: pq.FileMetaData) -> list[dict[str, Any]]:
        same, names = shared_values(footer), [c.name for c in SHARED]
        if same is not None:
            origins = [{**same, "rows": footer.num_rows}]
        else:
            columns, source = ", ".join(map(quoted, names)), selected(table, [path], SHARED)
            counted = self._connection.execute(f"SELECT {columns}, count(*) FROM ({source}) GROUP BY ALL ORDER BY ALL")
            origins = [dict(zip((*names, "rows"), row, strict=True)) for row in counted.fetchall()]
        first, self._origin = self._origin + 1, self._origin + len(origins)
        entries = [
            {"origin_id": first + place, "file_id": number, "table": table.name, **origin}
            for place, origin in enumerate(origins)
        ]
        if same is not None:
            self._insert(table, f"{first} AS origin_id", selected(table, [path], own_columns(table)))
        elif entries:
            joined = " AND ".join(f"rows.{name} IS NOT DISTINCT FROM o.{name}" for name in map(quoted, names))
            source = selected(table, [path], table.columns)
            with self._registered("of_file", ORIGINS.of(entries)):
                with_origin = f"SELECT rows.*, origin_id FROM ({source}) AS rows JOIN of_file AS o ON {joined}"
                self._insert(table, "origin_id", with_origin)
        return entries

    def _insert(self, table: Table, number: str, source: str) -> None:
        columns, into = ", ".join(quoted(c.name) for c in own_columns(table)), quoted(rows_table(table))
        self._connection.execute(f"INSERT INTO {into} BY NAME SELECT {columns}, {number} FROM ({source})")

    def _insert_rows(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        try:
            with self._registered("incoming", table.of(rows)):
                self._connection.execute(f"INSERT INTO {quoted(table.name)} BY NAME SELECT * FROM incoming")
        except duckdb.ConstraintException as error:
            raise InputError(f"a row of {table.name} is there already ({first_line(error)})") from None

    @contextmanager
    def _registered(self, name: str, rows: pa.Table) -> Iterator[None]:
        self._connection.register(name, rows)
        try:
            yield
        finally:
            with suppress(duckdb.Error):  # after an error the transaction is over, and the error is what counts
                self._connection.unregister(name)

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """One transaction; a database that an error leaves half made is thrown away by the caller."""
        self._connection.execute("BEGIN")
        yield
        self._connection.execute("COMMIT")
