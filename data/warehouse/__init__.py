"""The database: every table of a study in one DuckDB file, and the named questions that are put to it.

The database is a view of the workspace, not a place where anything is kept. It is always made anew from the Parquet
files, in a temporary file beside it that takes its name once it is complete: loading twice changes nothing, a kill
costs nothing but a leftover that the next time removes, and whoever reads sees the old database or the new one. The
price, minutes for the largest studies, buys that no update can go half through and no row can outlive its file.

Only this module speaks SQL; the questions lie in data/sql, a file each. Files come in through Arrow, which verifies
their checksums - DuckDB's own reader does not, and reads a flipped bit as a score. NaN and infinities are refused at
the door, so that a missing number is NULL and nothing else. Readers need a file that no other program is writing.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from data.errors import DamagedFile, InputError, WorkspaceBusy, WorkspaceError
from data.measures import MEASURES
from data.records.tables import Table
from data.storage.workspace import TEMPORARY, read_parquet
from data.warehouse.schema import ABOUT, MEASURES_TABLE, describe, question, quoted, schema_version, statements

__all__ = ["Warehouse", "content_of", "describe", "opened", "rebuilt"]

_PANDAS_TYPES = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
# The database is read and made offline: an extension that is not there must not be fetched.
_CONFIG: dict[str, str | bool | int | float | list[str]] = {"autoinstall_known_extensions": "false"}


class Warehouse:
    """A database that is open, for loading (from `rebuilt`) or for reading (from `opened`)."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def load(self, table: Table, files: Sequence[Path]) -> None:
        """Adds the rows of the workspace's Parquet files to a table: those of all the files, or none.

        Raises DamagedFile for a file that is cut short, altered, or holds another table, and InputError for NULL in a
        column that has none, for a number that is not finite, and for a row that is there already; both name the file.
        """
        with self._whole():
            for file in files:
                rows, about = read_parquet(file)
                found = about.get("table", table.name)
                if found != table.name or set(rows.schema.names) != {column.name for column in table.columns}:
                    raise DamagedFile(f"{file} does not hold table {table.name}; remove it and run again")
                self._insert(table, rows, str(file))

    def load_rows(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
        """Adds rows to a table, all or none; raises like `load`, and ValueError for rows of another form."""
        with self._whole():
            self._insert(table, table.of(rows), f"rows of {table.name}")

    def frame(self, name: str) -> pd.DataFrame:
        """The answer to a named question, that is data/sql/<name>.sql; UnknownName where there is none.

        Column types follow from the table, not from whether a NULL happens to be there: BIGINT is Int64, BOOLEAN is
        boolean, VARCHAR is str, DOUBLE is float64. NULL is pd.NA in the first two and NaN in the others; a NaN is
        never a score, for none can be loaded.
        """
        rows: pa.Table = self._connection.sql(question(name)).to_arrow_table()
        answer: pd.DataFrame = rows.to_pandas(types_mapper=_PANDAS_TYPES.get)
        return answer

    @contextmanager
    def _whole(self) -> Iterator[None]:
        self._connection.execute("BEGIN")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            # A commit that failed has ended the transaction itself, and its own error says more than this one.
            with suppress(duckdb.TransactionException):
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._connection.unregister("incoming")

    def _insert(self, table: Table, rows: pa.Table, where: str) -> None:
        for column in table.columns:
            values = rows[column.name]
            if values.null_count and not column.nullable:
                raise InputError(f"{where}: column {column.name} has {values.null_count} NULL and may have none")
            if wrong := _not_finite(values):
                raise InputError(f"{where}: column {column.name} has {wrong} numbers that are NaN or infinite")
        try:
            incoming = rows.select(table.schema.names).cast(table.schema)
        except (pa.ArrowException, ValueError) as error:
            raise DamagedFile(f"{where} does not hold table {table.name} ({error}); remove it and run again") from None
        self._connection.register("incoming", incoming)
        try:
            self._connection.execute(f"INSERT INTO {quoted(table.name)} BY NAME SELECT * FROM incoming")
        except duckdb.ConstraintException as error:
            raise InputError(f"{where}: a row of {table.name} is there already ({_first_line(error)})") from None


@contextmanager
def rebuilt(path: Path, content: str = "") -> Iterator[Warehouse]:
    """An empty database that takes the place of the one at `path` when the block ends well, and else leaves no trace.

    content: what it will be made from, for `content_of`. To be called by the one run that conducts the workspace.
    Raises WorkspaceError where the folder cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    refusal = f"the database {path} cannot be written: {{}}; free some space or choose another --workspace"
    _remove_leftovers(path)
    try:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = duckdb.connect(temporary, config=_CONFIG)
        except OSError as error:
            raise WorkspaceError(refusal.format(error.strerror or error)) from error
        try:
            _make_schema(connection, content)
            yield Warehouse(connection)
            # Closing would do the same but keep quiet about a full disk.
            connection.execute("CHECKPOINT")
        finally:
            connection.close()
        try:
            _take_place(temporary, path)
        except OSError as error:
            raise WorkspaceError(refusal.format(error.strerror or error)) from error
    except duckdb.OperationalError as error:
        raise WorkspaceError(refusal.format(_first_line(error))) from error
    finally:
        _remove_leftovers(path)


@contextmanager
def opened(path: Path) -> Iterator[Warehouse]:
    """The database at `path`, for reading.

    Raises WorkspaceError where there is none or one of another version, WorkspaceBusy where a program holds it for
    writing, and DamagedFile where it cannot be read.
    """
    if not path.exists():
        raise WorkspaceError(f"there is no database {path}; run `swaymeter aggregate` with the study's file")
    try:
        connection = duckdb.connect(path, read_only=True, config=_CONFIG)
    except duckdb.Error as error:
        reason = _first_line(error)
        if "Could not set lock" in reason or isinstance(error, duckdb.ConnectionException):
            raise WorkspaceBusy(f"another program has {path} open for writing; close it and try again") from None
        raise DamagedFile(f"{path} cannot be read ({reason}); remove it and run again") from None
    try:
        if _content(connection) is None:
            raise WorkspaceError(f"{path} was made by another version; run `swaymeter aggregate` with the study's file")
        yield Warehouse(connection)
    except (duckdb.ProgrammingError, duckdb.OutOfMemoryException):
        raise
    except duckdb.Error as error:
        raise DamagedFile(f"{path} cannot be read ({_first_line(error)}); remove it and run again") from None
    finally:
        connection.close()


def content_of(path: Path) -> str | None:
    """What the database at `path` was made from; None where it is missing, unreadable or of another version."""
    if not path.exists():
        return None
    try:
        with duckdb.connect(path, read_only=True, config=_CONFIG) as connection:
            return _content(connection)
    except duckdb.Error:
        return None


def _make_schema(connection: duckdb.DuckDBPyConnection, content: str) -> None:
    for statement in statements():
        connection.execute(statement)
    warehouse = Warehouse(connection)
    try:
        version = metadata.version("swaymeter")
    except metadata.PackageNotFoundError:
        version = "not installed"
    warehouse.load_rows(ABOUT, [{"schema_version": schema_version(), "swaymeter_version": version, "content": content}])
    warehouse.load_rows(
        MEASURES_TABLE, [{c.name: getattr(m, c.name) for c in MEASURES_TABLE.columns} for m in MEASURES.values()]
    )


def _content(connection: duckdb.DuckDBPyConnection) -> str | None:
    try:
        rows = connection.execute("SELECT schema_version, content FROM about").fetchall()
    except duckdb.Error:
        return None
    return str(rows[0][1]) if rows and rows[0][0] == schema_version() else None


def _not_finite(values: pa.ChunkedArray) -> int:
    if pa.types.is_list(values.type):
        values = pc.list_flatten(values)
    if not pa.types.is_floating(values.type):
        return 0
    return int(pc.sum(pc.invert(pc.is_finite(values))).as_py() or 0)


def _take_place(temporary: Path, path: Path) -> None:
    with temporary.open("rb+") as handle:
        os.fsync(handle.fileno())
    # A log left by whoever wrote to the old database would be replayed into the new one.
    path.with_name(f"{path.name}.wal").unlink(missing_ok=True)
    temporary.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _remove_leftovers(path: Path) -> None:
    for leftover in path.parent.glob(f".{path.name}.*{TEMPORARY}*"):
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
