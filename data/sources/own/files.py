"""The rows of a CSV, JSONL or Parquet file, each with the place where it stands; a row that is broken is named."""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from data.errors import InputError, first_line

LARGEST_FILE = 512 << 20
LARGEST_CELL = 64 << 20
MOST_BROKEN = 1000
SEPARATORS = ",;\t|"
FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")


class FileRow(NamedTuple):
    """A row of a file, and where it stands, such as "line 4"; or what is wrong with it."""

    place: str
    cells: Mapping[str, Any]
    problem: str = ""


def read_file(file: Path, needed: str) -> list[FileRow]:
    """The rows of a file, by its ending; InputError where it cannot be read, or has no column of the name `needed`."""
    if file.suffix.lower() not in FORMATS:
        raise InputError(f"{file} ends in none of {', '.join(FORMATS)}; save it as one of these")
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise InputError(f"{file} is larger than {LARGEST_FILE >> 20} MiB; cut it into several studies")
        if file.suffix.lower() == ".parquet":
            return list(_of_parquet(file, needed))
        text = _decoded(file.read_bytes(), file)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}; correct the path") from None
    if not text.strip():
        raise InputError(f"{file} is empty; write a header and rows")
    return list(_of_json(text) if file.suffix.lower() in (".jsonl", ".ndjson") else _of_csv(text, file, needed))


def _decoded(content: bytes, file: Path) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{file} is in UTF-16; save it as UTF-8 (in Excel: CSV UTF-8)")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{file}, line {line}: is not UTF-8 (byte 0x{content[error.start]:02x}); save it as UTF-8 (in Excel: CSV "
            "UTF-8)"
        ) from None


def _of_csv(text: str, file: Path, needed: str) -> Iterator[FileRow]:
    separator = _separator(text, file, needed)
    lines = [line for line in re.split(r"(?<=\n)", text) if line]
    header = [name.strip() for name in next(csv.reader(lines[:1], delimiter=separator, strict=True))]
    if doubled := sorted({name for name in header if name and header.count(name) > 1}):
        raise InputError(f"{file}, line 1: has the column {doubled[0]} twice; rename one")
    broken = 0
    for line, cells, problem in _records(lines, separator):
        place = f"line {line}"
        if problem:
            broken += 1
            if broken > MOST_BROKEN:
                raise InputError(f"{file}: over {MOST_BROKEN} lines are not CSV, the last {place}; is it CSV at all?")
            yield FileRow(place, {}, problem)
            continue
        if len(cells) == len(header):
            yield FileRow(place, {name: cell for name, cell in zip(header, cells, strict=True) if name})
        elif cells:
            problem = f"has {len(cells)} cells, and the header {len(header)}; put cells with {separator!r} in quotes"
            yield FileRow(place, {}, problem)


def _records(lines: list[str], separator: str) -> Iterator[tuple[int, list[str], str]]:
    """Every record behind the header: its first line, and its cells or what is wrong with it.

    Behind a line that is not CSV, such as one with a quote that is never closed, reading goes on with the next line.
    """
    begin = 1
    while begin < len(lines):
        reader = csv.reader(islice(lines, begin, None), delimiter=separator, strict=True)
        start = begin
        try:
            with _large_cells():
                for cells in reader:
                    yield start + 1, cells, ""
                    start = begin + reader.line_num
            return
        except csv.Error as error:
            yield start + 1, [], f"is not CSV: {error}; a quote may be missing or never closed"
            begin = start + 1


@contextmanager
def _large_cells() -> Iterator[None]:
    """Lets cells be longer than csv reads by default, for all of the process: it has one limit."""
    before = csv.field_size_limit(LARGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _separator(text: str, file: Path, needed: str) -> str:
    """What stands between the cells: what makes a column of that name of the first line."""
    first = text.split("\n", 1)[0].rstrip("\r")
    for separator in SEPARATORS:
        try:
            names = [name.strip().lower() for name in next(csv.reader([first], delimiter=separator, strict=True))]
        except csv.Error:
            continue
        if needed.lower() in names:
            return separator
    raise InputError(
        f"{file}, line 1: has no column {needed}: {first[:200]!r}; the first line names the columns, separated by a "
        "comma, a semicolon, a tab or |"
    )


def _of_json(text: str) -> Iterator[FileRow]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            cells = json.loads(line, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            yield FileRow(place, {}, f"is not JSON: {first_line(error)}")
            continue
        is_object = isinstance(cells, dict)
        yield FileRow(place, cells if is_object else {}, "" if is_object else "is not a JSON object, such as {...}")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a value of JSON")


def _of_parquet(file: Path, needed: str) -> Iterator[FileRow]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as opened:
            if needed.lower() not in map(str.lower, opened.schema_arrow.names):
                names = ", ".join(opened.schema_arrow.names)
                raise InputError(f"{file} has no column {needed}; it has {names}")
            batches: Iterable[Any] = opened.iter_batches()
            rows = (row for batch in batches for row in batch.to_pylist())
            yield from (FileRow(f"row {number}", row) for number, row in enumerate(rows, 1))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{file} is not a Parquet file that can be read: {first_line(error)}") from None
