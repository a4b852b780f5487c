"""The rows of a user's file. The content shows the format: CSV, JSON or Parquet. A broken row has a problem.

The cells of CSV are separated by commas, semicolons, tabs or |; the bytes show the Unicode encoding. JSON may be an
object on each line, one list of objects, a list under a key, or the columns that the libraries pandas and datasets
write. In a column with missing values, pandas writes 1994 as 1994.0; pandas writes days with times. Such numbers and
days are read in their original form.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from swaymeter.data.digests import is_endless
from swaymeter.data.errors import MAX_NAMES, InputError, first_line, printable
from swaymeter.data.sources.own.lists import each_key_once, none_where_empty

LARGEST_FILE = 128 << 20
"""Limit of the bytes of a file, and of the unpacked rows of a Parquet file."""
LARGEST_CELL = 64 << 20
"""Limit of the characters of a CSV cell."""
MAX_ROWS = 500_000
MAX_VALUES = 8_000_000
"""Limit of the cells and values of a file, because an empty cell takes one byte in the file and a hundred in memory."""
MAX_BROKEN = 1000
"""Limit of the lines of a CSV file that are not CSV."""
MAX_REREAD = 1 << 30
"""Limit of the characters that are read again after broken lines; a cell with an unclosed quote is read to the end."""
_BATCH_ROWS = 8
"""Number of rows of a Parquet file that are unpacked together."""
SEPARATORS = ",;\t|"
_SEPARATOR_LINE = re.compile(r'"?sep=([^"\s]|\t)"?\s*', re.IGNORECASE)
"""A first line in which Excel names the separator of cells, such as sep=;"""
_CR_ENDED = re.compile(r'(?:[^"\r\n]++|"[^"]*+")*+\r(?!\n)')  # possessive, so that matching takes linear time
"""A first row that ends with a carriage return, as on old Macs; in such a file, line feeds belong to cells."""
_WHOLE_NUMBER = re.compile(r"(-?\d+)\.0")  # 1994.0
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[T ]00:00:00(?:\.0+)?(?:Z|\+00:00)?")  # 1994-05-01T00:00:00.000Z
_PAGE = "is a web page and not the data; download the file itself, such as by its raw or download link"
_OTHER_FORMATS = {
    b"PK\x03\x04": "is an Excel workbook or another ZIP archive; save its sheet as CSV UTF-8",
    b"\xd0\xcf\x11\xe0": "is an old Excel workbook; save its sheet as CSV UTF-8",
    b"\x1f\x8b": "is packed by gzip; unpack it",
    b"\x28\xb5\x2f\xfd": "is packed by zstd; unpack it",
    b"BZh": "is packed by bzip2; unpack it",
    b"ARROW1": "is an Arrow file; save it as Parquet",
    b"\x80\x04": "is a pickle, which is never read; save it as Parquet, such as by to_parquet of pandas",
    b"\x80\x05": "is a pickle, which is never read; save it as Parquet, such as by to_parquet of pandas",
    b"SQLite format 3": "is an SQLite database; save its table as CSV",
    b"version https://git-lfs": "is a pointer of Git LFS and not the data; run git lfs pull, or download the file",
    b"<!doctype html": _PAGE,
    b"<!DOCTYPE html": _PAGE,
    b"<html": _PAGE,
    b"%PDF": "is a PDF; save its table as CSV",
}
"""Formats that are not read, by the first bytes of a file, with the remedy."""


class FileRow(NamedTuple):
    """A row of a file, with its location, such as "line 4"; `problem` is "" for a usable row."""

    location: str
    cells: Mapping[str, Any]
    problem: str = ""


class FileRows(NamedTuple):
    """The names of a file's columns, and its rows."""

    columns: Sequence[str]
    rows: list[FileRow]


def read_file(file: Path, needed: str) -> list[FileRow]:
    """Return the rows of a file; InputError if the file cannot be read, or lacks the column `needed`."""
    columns, rows = read_rows(file, {needed.lower()})
    if columns and needed.lower() not in (name.strip().lower() for name in columns):
        raise InputError(
            f"{file} has no column {needed}; the file has {names_for_message(columns)}; add or rename a column"
        )
    return rows


def is_csv(file: Path) -> bool:
    """Return True if a readable file is CSV; in CSV, an empty text and a missing value look the same."""
    with file.open("rb") as opened:
        first_bytes = opened.read(1 << 16)
    text = first_bytes.decode(json.detect_encoding(first_bytes), errors="ignore").lstrip("\ufeff \t\r\n")
    return not first_bytes.startswith(b"PAR1") and text[:1] not in ("[", "{")


def names_for_message(columns: Sequence[str]) -> str:
    """Return the names of columns for a message; only the first of many."""
    more = f" and {len(columns) - MAX_NAMES} more" if len(columns) > MAX_NAMES else ""
    return ", ".join(map(printable, columns[:MAX_NAMES])) + more


def read_rows(file: Path, expected: Collection[str]) -> FileRows:
    """Return the rows and columns of a file; InputError if the file cannot be read.

    Args:
        file: The file.
        expected: Names of columns in lower case, by which the separator and the header are recognised.
    """
    try:
        if is_endless(file):
            raise InputError(f"{file} is a device or a pipe; name a file")
        _refuse_above_limit(file.stat().st_size >> 20, LARGEST_FILE >> 20, "MiB", file)
        content = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}; correct the path") from None
    if content.startswith(b"PAR1"):
        return _parquet_rows(file)
    if problem := next((problem for mark, problem in _OTHER_FORMATS.items() if content.startswith(mark)), ""):
        raise InputError(f"{file} {problem}")
    text = _decoded(content, file)
    if not text.strip():
        raise InputError(f"{file} is empty; write a header and rows, or download it again")
    if "\n" not in text or _CR_ENDED.match(text):
        text = re.sub(r"\r(?!\n)", "\n", text)
    return _restored(_json_rows(text, file, expected) if text.lstrip()[0] in "[{" else _csv_rows(text, file, expected))


def _restored(file_rows: FileRows) -> FileRows:
    """Return the rows without pandas' changes: 1994.0 becomes 1994, and 1994-05-01 00:00:00 becomes 1994-05-01."""
    patterns: dict[str, re.Pattern[str]] = {}
    for name in file_rows.columns:
        cells = [row.cells.get(name) for row in file_rows.rows if not row.problem]
        present = (cell for cell in cells if none_where_empty(cell) is not None)
        first = next(present, None)
        if not isinstance(first, str) or not (pattern := _pandas_form(first.strip())):
            continue
        values = [first, *present]
        # Pandas writes 1994.0 for 1994 only in a column with missing values.
        may_be_by_pandas = pattern is _MIDNIGHT or len(values) < len(cells)
        if may_be_by_pandas and all(isinstance(value, str) and pattern.fullmatch(value.strip()) for value in values):
            patterns[name] = pattern
    if not patterns:
        return file_rows
    rows = []
    for row in file_rows.rows:
        new = {name: pattern.sub(r"\1", row.cells[name]) for name, pattern in patterns.items() if row.cells.get(name)}
        rows.append(row._replace(cells={**row.cells, **new}))
    return file_rows._replace(rows=rows)


def _pandas_form(text: str) -> re.Pattern[str] | None:
    return next((pattern for pattern in (_MIDNIGHT, _WHOLE_NUMBER) if pattern.fullmatch(text)), None)


def _refuse_above_limit(count: int, limit: int, unit: str, file: Path) -> None:
    if count > limit:
        raise InputError(f"{file} has more than {limit:,} {unit}; split the file, and run a study for each part")


def _decoded(content: bytes, file: Path) -> str:
    encoding = json.detect_encoding(content)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding.startswith("utf-8"):
            line = content.count(b"\n", 0, error.start) + 1
            problem = f"{file}, line {line}: is not UTF-8 (byte 0x{content[error.start]:02x})"
        else:
            problem = f"{file} looks like {encoding.upper()}, but byte {error.start + 1:,} is invalid"
        raise InputError(f"{problem}; save the file as UTF-8 (in Excel: CSV UTF-8)") from None


def _csv_rows(text: str, file: Path, expected: Collection[str]) -> FileRows:
    lines = [line for line in re.split(r"(?<=\n)", text) if line]
    begin = next(index for index, line in enumerate(lines) if line.strip())
    if (separator_line := _SEPARATOR_LINE.fullmatch(lines[begin])) and len(lines) > begin + 1:
        begin += 1
    separator = separator_line[1] if separator_line else _separator(lines[begin], expected)
    _refuse_above_limit(text.count(separator), MAX_VALUES, "cells", file)
    _refuse_above_limit(len(lines), MAX_VALUES, "lines", file)
    header = _cells(lines[begin], separator)
    if repeated := _first_repeated(header):
        raise InputError(f"{file}, line {begin + 1}: has the column {repeated} twice; rename one of the two columns")
    rows = list(islice(_csv_lines(lines, begin + 1, header, separator, file), MAX_ROWS + 1))
    _refuse_above_limit(len(rows), MAX_ROWS, "rows", file)
    return FileRows([name for name in header if name], rows)


def _separator(first: str, expected: Collection[str]) -> str:
    """Return the separator with which the first line has an expected column, or else the most cells."""

    def rank(separator: str) -> tuple[bool, int]:
        names = {name.lower() for name in _cells(first, separator)}
        return not names.isdisjoint(expected), len(names)

    return max(SEPARATORS, key=rank)


def _cells(line: str, separator: str) -> list[str]:
    try:
        with _large_cells():
            return [name.strip() for name in next(csv.reader([line], delimiter=separator, strict=True), [])]
    except csv.Error:
        return [line.strip()]


def _csv_lines(lines: list[str], begin: int, header: Sequence[str], separator: str, file: Path) -> Iterator[FileRow]:
    """Yield the rows from `lines[begin]` on, without empty rows; a broken row is read again from its second line."""
    broken = reread = 0
    while begin < len(lines):
        reader = csv.reader(islice(lines, begin, None), delimiter=separator, strict=True)
        start = begin
        try:
            with _large_cells():
                for cells in reader:
                    if any(map(str.strip, cells)):
                        yield _row(f"line {start + 1}", header, cells, separator)
                    start = begin + reader.line_num
            return
        except csv.Error as error:
            broken += 1
            reread += sum(map(len, islice(lines, start, begin + reader.line_num)))
            begin = start + 1
            if broken > MAX_BROKEN or reread > MAX_REREAD:
                raise InputError(
                    f"{file}: {broken:,} of the first {begin:,} lines are not CSV; save the file as CSV"
                ) from None
            yield FileRow(f"line {begin}", {}, f"is not CSV: {error}; a quote may be missing or never closed")


def _row(location: str, header: Sequence[str], cells: list[str], separator: str) -> FileRow:
    if len(cells) < len(header) or any(map(str.strip, cells[len(header) :])):
        problem = f"has {len(cells)} cells, and the header {len(header)}; put cells with {separator!r} in quotes"
        return FileRow(location, {}, problem)
    return FileRow(location, {name: cell for name, cell in zip(header, cells, strict=False) if name})


@contextmanager
def _large_cells() -> Iterator[None]:
    """Raise the csv module's limit of the length of a cell; the limit is global in the process."""
    previous_limit = csv.field_size_limit(LARGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(previous_limit)


def _json_rows(text: str, file: Path, expected: Collection[str]) -> FileRows:
    _refuse_above_limit(text.count("\n"), MAX_VALUES, "lines", file)
    _refuse_above_limit(sum(map(text.count, ",[{")), MAX_VALUES, "values", file)
    try:
        document = _parsed(text)
        values = document if isinstance(document, list) else _rows_in(document, file, expected)
        unit = "line" if values == [document] else "row"  # a single object is one line of JSON Lines
        rows = [_object_row(f"{unit} {number}", value) for number, value in enumerate(values, 1)]
    except (ValueError, RecursionError) as error:
        rows = list(islice(_json_lines(text), MAX_ROWS + 1))
        if all(row.problem for row in rows):
            raise InputError(
                f"{file} is not JSON: {first_line(error)}; write an object on each line, or one list of objects"
            ) from None
    _refuse_above_limit(len(rows), MAX_ROWS, "rows", file)
    return FileRows(list(dict.fromkeys(name for row in rows for name in row.cells)), rows)


def _parsed(text: str) -> Any:
    return json.loads(text, object_pairs_hook=each_key_once)


def _json_lines(text: str) -> Iterator[FileRow]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield _object_row(f"line {number}", _parsed(line))
            except (ValueError, RecursionError) as error:
                problem = first_line(error).replace("line 1 column", "column")  # each line is parsed by itself
                yield FileRow(f"line {number}", {}, f"is not JSON: {problem}")


def _object_row(location: str, value: Any) -> FileRow:
    if isinstance(value, dict):
        return FileRow(location, value)
    return FileRow(location, {}, "is not a JSON object, such as {...}")


def _rows_in(document: dict[str, Any], file: Path, expected: Collection[str]) -> Sequence[Any]:
    """Return the rows of a JSON object that has columns, rows by key, or a list of rows; another object is one row."""

    def has_expected(names: Iterable[str]) -> bool:
        return any(name.strip().lower() in expected for name in names)

    header, data = _list_at(document, "columns"), _list_at(document, "data")
    if header and _all_are(str, header) and _all_are(list, data):  # pandas' orient="split"
        return [dict(zip(header, row, strict=False)) for row in data]
    values: list[Any] = list(document.values())
    if values and all(isinstance(value, dict) and value.keys() == values[0].keys() for value in values):
        # {"question": {"0": ..., "1": ...}} has a cell for each row number; {"q1": {"question": ...}} has rows by key
        is_by_column = has_expected(document) or (not has_expected(values[0]) and all(map(str.isdecimal, values[0])))
        return [{name: document[name][row] for name in document} for row in values[0]] if is_by_column else values
    lists: dict[str, list[Any]] = {name: value for name, value in document.items() if isinstance(value, list) and value}
    object_lists = {name: rows for name, rows in lists.items() if _all_are(dict, rows)}
    has_only_lists, has_only_object_lists = len(lists) == len(document), len(object_lists) == len(document)
    # A list for each column, with a cell for each row.
    if has_only_lists and not has_only_object_lists and len({*map(len, values)}) == 1:
        return [dict(zip(document, row, strict=True)) for row in zip(*values, strict=True)]
    if has_expected(document):
        return [document]
    tables = {name: rows for name, rows in object_lists.items() if has_expected(rows[0])}
    tables = tables or (object_lists if has_only_object_lists else {})
    if len(tables) > 1:
        raise InputError(f"{file} has several lists: {names_for_message([*tables])}; keep only the list with the rows")
    return next(iter(tables.values()), [document])


def _list_at(document: Mapping[str, Any], key: str) -> list[Any]:
    """Return the list at a key; an empty list for any other value."""
    value = document.get(key)
    return value if isinstance(value, list) else []


def _all_are(kind: type, values: Iterable[Any]) -> bool:
    return all(isinstance(value, kind) for value in values)


def _first_repeated(names: Iterable[str]) -> str | None:
    return next((name for name, count in Counter(names).items() if name and count > 1), None)


def _parquet_rows(file: Path) -> FileRows:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as opened:
            names, metadata = opened.schema_arrow.names, opened.metadata
            if repeated := _first_repeated(names):
                raise InputError(f"{file} has the column {repeated} twice; rename one of the two columns")
            _refuse_above_limit(metadata.num_rows, MAX_ROWS, "rows", file)
            _refuse_above_limit(metadata.num_rows * metadata.num_columns, MAX_VALUES, "cells", file)
            size, rows = 0, list[FileRow]()
            for batch in opened.iter_batches(batch_size=_BATCH_ROWS):
                unpacked = batch.to_pylist()  # a repeated text is stored once in the file, but not here
                size += sum(map(_bytes, unpacked))
                _refuse_above_limit(size >> 20, LARGEST_FILE >> 20, "MiB unpacked", file)
                rows += (FileRow(f"row {number}", row) for number, row in enumerate(unpacked, len(rows) + 1))
            return FileRows(names, rows)
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError) as error:
        raise InputError(
            f"{file} is not a Parquet file that can be read: {first_line(error).rstrip('.')}; "
            "write or download the file again"
        ) from None


def _bytes(value: Any) -> int:
    """Return a lower bound of a value's bytes: one for a character, eight for a number."""
    if isinstance(value, dict | list):
        return 8 + sum(map(_bytes, value.values() if isinstance(value, dict) else value))
    return len(value) if isinstance(value, str | bytes) else 8
