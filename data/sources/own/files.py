"""The rows of a CSV, JSONL or Parquet file, each with the place where it stands; a row that is broken is named."""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from data.errors import InputError, first_line
from data.storage.files import is_endless

LARGEST_FILE = 128 << 20
LARGEST_CELL = 64 << 20
MOST_ROWS = 500_000
MOST_VALUES = 8_000_000
"""Cells and values of a file: an empty one takes a byte there, and a hundred in memory."""
MOST_BROKEN = 1000
MOST_REREAD = 1 << 30
"""Characters that are read again behind lines that are not CSV: each of them may open a quote up to the file's end."""
_TOGETHER = 8
"""Rows of a Parquet file that are unpacked at once."""
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
        if is_endless(file):
            raise InputError(f"{file} is a device or a pipe; name a file")
        _refuse_more(file.stat().st_size >> 20, LARGEST_FILE >> 20, "MiB", file)
        if file.suffix.lower() == ".parquet":
            return list(_of_parquet(file, needed))
        text = _decoded(file.read_bytes(), file)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}; correct the path") from None
    if not text.strip():
        raise InputError(f"{file} is empty; write a header and rows")
    if file.suffix.lower() in (".jsonl", ".ndjson"):
        _refuse_more(text.count("\n"), MOST_ROWS, "lines", file)
        _refuse_more(sum(map(text.count, ",[{")), MOST_VALUES, "values", file)
        return list(_of_json(text))
    separator = _separator(text, file, needed)
    _refuse_more(text.count(separator), MOST_VALUES, "cells", file)
    _refuse_more(text.count("\n"), MOST_VALUES, "lines", file)  # a text may have many
    rows = list(islice(_of_csv(text, file, separator), MOST_ROWS + 1))
    _refuse_more(len(rows), MOST_ROWS, "rows", file)
    return rows


def _refuse_more(count: int, most: int, what: str, file: Path) -> None:
    if count > most:
        raise InputError(f"{file} has more than {most:,} {what}; cut it into several studies")


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


def _of_csv(text: str, file: Path, separator: str) -> Iterator[FileRow]:
    lines = [line for line in re.split(r"(?<=\n)", text) if line]
    header = [name.strip() for name in next(csv.reader(lines[:1], delimiter=separator, strict=True))]
    if doubled := _doubled(header):
        raise InputError(f"{file}, line 1: has the column {doubled} twice; rename one")
    broken = reread = 0
    for line, cells, problem, length in _records(lines, separator):
        place = f"line {line}"
        if problem:
            broken += 1
            reread += length
            if broken > MOST_BROKEN or reread > MOST_REREAD:
                raise InputError(f"{file}: {broken:,} lines are not CSV, the last {place}; is it CSV at all?")
            yield FileRow(place, {}, problem)
            continue
        if len(cells) == len(header):
            yield FileRow(place, {name: cell for name, cell in zip(header, cells, strict=True) if name})
        elif cells:
            problem = f"has {len(cells)} cells, and the header {len(header)}; put cells with {separator!r} in quotes"
            yield FileRow(place, {}, problem)


def _records(lines: list[str], separator: str) -> Iterator[tuple[int, list[str], str, int]]:
    """Every record behind the header: its first line, and its cells, or what is wrong and how many characters it took.

    Behind a line that is not CSV, such as one with a quote that is never closed, reading goes on with the next line.
    """
    begin = 1
    while begin < len(lines):
        reader = csv.reader(islice(lines, begin, None), delimiter=separator, strict=True)
        start = begin
        try:
            with _large_cells():
                for cells in reader:
                    yield start + 1, cells, "", 0
                    start = begin + reader.line_num
            return
        except csv.Error as error:
            length = sum(map(len, islice(lines, start, begin + reader.line_num)))
            yield start + 1, [], f"is not CSV: {error}; a quote may be missing or never closed", length
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
            cells = json.loads(line, parse_constant=_refuse_constant, object_pairs_hook=each_key_once)
        except (ValueError, RecursionError) as error:
            yield FileRow(place, {}, f"is not JSON: {first_line(error)}")
            continue
        is_object = isinstance(cells, dict)
        yield FileRow(place, cells if is_object else {}, "" if is_object else "is not a JSON object, such as {...}")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a value of JSON")


def each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; ValueError where it has a key twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"it has the key {twice!r} twice; leave one out")
    return found


def _doubled(names: Iterable[str]) -> str | None:
    """The first of the names that is there twice."""
    return next((name for name, count in Counter(names).items() if name and count > 1), None)


def _of_parquet(file: Path, needed: str) -> Iterator[FileRow]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as opened:
            names = opened.schema_arrow.names
            if needed.lower() not in map(str.lower, names):
                raise InputError(f"{file} has no column {needed}; it has {', '.join(names)}")
            if doubled := _doubled(names):
                raise InputError(f"{file} has the column {doubled} twice; rename one")
            about = opened.metadata
            _refuse_more(about.num_rows, MOST_ROWS, "rows", file)
            _refuse_more(about.num_rows * about.num_columns, MOST_VALUES, "cells", file)
            rows = _unpacked(opened, file)
            yield from (FileRow(f"row {number}", row) for number, row in enumerate(rows, 1))
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError) as error:
        raise InputError(f"{file} is not a Parquet file that can be read: {first_line(error)}") from None


def _unpacked(opened: Any, file: Path) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file, a few at a time: it packs a text that is in every row once."""
    groups = (opened.metadata.row_group(number) for number in range(opened.num_row_groups))
    _refuse_more(sum(group.total_byte_size for group in groups) >> 20, LARGEST_FILE >> 20, "MiB unpacked", file)
    size = 0
    for batch in opened.iter_batches(batch_size=_TOGETHER):
        for row in batch.to_pylist():
            size += _bytes(row)  # the batch may still have a text of many rows once
            _refuse_more(size >> 20, LARGEST_FILE >> 20, "MiB unpacked", file)
            yield row


def _bytes(value: Any) -> int:
    """The least that a value takes: a character a byte, a number eight."""
    if isinstance(value, dict):
        return sum(map(_bytes, value.values()))
    if isinstance(value, list):
        return 8 + sum(map(_bytes, value))
    return len(value) if isinstance(value, str | bytes) else 8
