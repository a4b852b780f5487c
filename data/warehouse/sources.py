"""Parquet files as sources of SQL: checks of their footers before DuckDB reads the rows.

Callers have verified the bytes of a file (`swaymeter.data.storage`), because DuckDB's reader would read a flipped bit
as a score.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from swaymeter.data.errors import DamagedFile, InputError, first_line
from swaymeter.data.records.table import Column, Table
from swaymeter.data.warehouse.schema import SHARED, literal, quoted


def checked_footer(table: Table, path: Path) -> pq.FileMetaData:
    """Return the footer of a file; DamagedFile if it has another table, InputError for a forbidden NULL."""
    try:
        footer = pq.read_metadata(path)
        schema = footer.schema.to_arrow_schema()
    except (OSError, pa.ArrowException) as error:
        raise DamagedFile(f"{path} cannot be read ({first_line(error)}); the next run makes the file again") from None
    if {field.name: field.type for field in schema} != {field.name: field.type for field in table.schema}:
        raise DamagedFile(f"{path} does not hold table {table.name}; the next run makes the file again")
    for column in table.columns:
        if column.nullable or column.type.endswith("[]"):  # Parquet counts an empty list as a NULL
            continue
        if nulls := sum(chunk.null_count or 0 for chunk in _statistics(footer, column.name)):
            raise InputError(
                f"{path}: column {column.name} has {nulls} NULL values, but may have none; run the study "
                "again with --force"
            )
    return footer


def shared_values(footer: pq.FileMetaData) -> dict[str, str | None] | None:
    """Return the provenance (columns of `Score`) that all rows of a file share; None if it differs between rows."""
    values: dict[str, str | None] = {}
    for column in SHARED:
        chunks = _statistics(footer, column.name)
        texts = {text for chunk in chunks if chunk.has_min_max for text in (chunk.min, chunk.max)}
        nulls = sum(chunk.null_count for chunk in chunks)
        # All rows have the same value: one text and no NULL, or NULL alone.
        if len(texts) != (0 if nulls else 1) or nulls not in (0, footer.num_rows):
            return None
        values[column.name] = texts.pop() if texts else None
    return values


def select_sql(table: Table, paths: Sequence[Path], columns: Sequence[Column], *, with_file: bool = False) -> str:
    """Return the SQL that reads columns of a table from files, and raises an error for a number that is not finite.

    Args:
        table: table of the files.
        paths: files, at least one.
        columns: columns to read.
        with_file: True adds a column with the path of a row's file.
    """
    files = ", ".join(literal(str(path)) for path in paths)
    names = ", ".join([*map(_finite, columns), *([SOURCE_FILE] if with_file else [])])
    return f"SELECT {names} FROM read_parquet([{files}], filename = '{SOURCE_FILE}')"


SOURCE_FILE = "source_file"
"""The column with the path of a row's file."""
_NOT_FINITE = "NaN or infinite"


@contextmanager
def not_finite_errors() -> Iterator[None]:
    """Raise InputError, with file and column, if the SQL of `select_sql` reads a number that is not finite."""
    try:
        yield
    except duckdb.InvalidInputException as error:
        if _NOT_FINITE not in str(error):
            raise
        raise InputError(first_line(error).removeprefix("Invalid Input Error: ")) from None


def _finite(column: Column) -> str:
    name = quoted(column.name)
    if column.type.removesuffix("[]") != "DOUBLE":
        return name
    condition = f"NOT isfinite({name})"
    if column.type.endswith("[]"):
        condition = f"len(list_filter({name}, lambda number: NOT isfinite(number))) > 0"
    message = literal(f": column {column.name} has numbers that are {_NOT_FINITE}; run the study again with --force")
    return f"CASE WHEN {condition} THEN error({SOURCE_FILE} || {message}) ELSE {name} END AS {name}"


def _statistics(footer: pq.FileMetaData, name: str) -> list[Any]:
    """Return the statistics of a column in each row group; row groups without statistics are left out."""
    paths = [footer.schema.column(index).path for index in range(len(footer.schema.names))]
    index = paths.index(name)  # by path, because columns within a STRUCT may have the same name
    chunks = (footer.row_group(number).column(index).statistics for number in range(footer.num_row_groups))
    return [chunk for chunk in chunks if chunk is not None]
