"""The published CSV files of DynamicQA: a file is read as rows of texts, and written with the same bytes.

Rows end in CR LF, and lines within a cell in LF. Rows that all end in LF are read, too. A file is refused if a row
would be written with other bytes, because the file may have been misread.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import chain
from pathlib import Path

from swaymeter.data.errors import InputError, printable
from swaymeter.data.records import Partition

FILES: Mapping[Partition, str] = {
    "static": "Static_final.csv",
    "temporal": "Temporal_final.csv",
    "disputable": "Disputable_final.csv",
}
_PROPERTY_COLUMNS = (
    "",
    "id",
    "subj",
    "prop",
    "obj",
    "subj_id",
    "prop_id",
    "obj_id",
    "s_pop",
    "o_pop",
    "question",
    "possible_answers",
    "num_edits",
    "context",
    "replace_quality",
    "replace_name",
    "s_pop_new",
    "o_pop_new",
)
_PAGE_COLUMNS = ("", "id", "subj", "question", "context", "obj", "replace_name", "num_edits", "dir_info", "s_pop")
COLUMNS: Mapping[Partition, tuple[str, ...]] = {
    "static": _PROPERTY_COLUMNS,
    "temporal": _PROPERTY_COLUMNS,
    "disputable": _PAGE_COLUMNS,
}
"""The published columns in order; the column without a name is the row's index."""
OPTIONAL_COLUMNS = frozenset({"", "replace_quality", "s_pop_new", "o_pop_new", "dir_info"})
"""The published columns that a file may lack."""
REMEDY = "correct the file, or remove it and fetch it again"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Row:
    """A row, with the number of its first line in the file, and its cells by column."""

    line: int
    cells: Mapping[str, str]


@dataclass(frozen=True)
class CsvFile:
    """A file; `line_end` ends each row."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    line_end: str = "\r\n"


def read_rows(file: Path, partition: Partition) -> CsvFile:
    """Return a partition's file; InputError if it is unreadable, with the line, the column and a remedy."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InputError(
            f"{file} cannot be read: {error.strerror}; name the folder that has {', '.join(FILES.values())}"
        ) from None
    return rows_of(content, partition, str(file))


def rows_of(content: bytes, partition: Partition, name: str) -> CsvFile:
    """Return a partition's file from its bytes; InputError as in `read_rows`, with the `name` of the file."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = f"0x{content[error.start]:02x}"
        raise InputError(
            f"{name}, line {line}: is not UTF-8 (byte {byte}); save the file as UTF-8, or remove it and fetch it again"
        ) from None
    records = _records([line for line in re.split(r"(?<=\n)", text) if line], name)
    _, header, header_text = next(records, (1, [], ""))
    line_end = "\r\n" if header_text.endswith("\r\n") else "\n"
    expected = [column for column in COLUMNS[partition] if column in header or column not in OPTIONAL_COLUMNS]
    if header != expected:
        missing = [column for column in expected if column not in header]
        problem = f"has no column {', '.join(missing)}" if missing else f"has the columns {', '.join(header)}"
        published = ", ".join(expected).lstrip(", ")  # the first column has no name
        raise InputError(f"{name}, line 1: {printable(problem, 300)}; expected {published}; {REMEDY}")
    rows = []
    for line, cells, record in chain([(1, header, header_text)], records):
        location = f"{name}, line {line}"
        if len(cells) != len(header):
            raise InputError(f"{location}: has {len(cells)} cells, but the header has {len(header)} cells; {REMEDY}")
        if _csv_line(cells, line_end) != record:
            problem = "has other quotes than the published files, or another line end than the first line"
            raise InputError(f"{location}: {problem}: {printable(record, 60)!r}; {REMEDY}")
        for column, cell in zip(header, cells, strict=True):
            if control := _CONTROL.search(cell):
                code = f"U+{ord(control[0]):04X}"
                raise InputError(f"{location}, column {column!r}: has the control character {code}; {REMEDY}")
        rows.append(Row(line, dict(zip(header, cells, strict=True))))
    return CsvFile(tuple(header), tuple(rows[1:]), line_end)


def content_of(file: CsvFile) -> bytes:
    """Return the bytes of a CSV file."""
    cells_of_rows = [file.columns, *([row.cells[column] for column in file.columns] for row in file.rows)]
    return "".join(_csv_line(cells, file.line_end) for cells in cells_of_rows).encode()


def can_be_cell(text: str) -> bool:
    """Return True if the text is short enough for csv, and without control characters and lone surrogates."""
    return not re.search(rf"{_CONTROL.pattern}|[\ud800-\udfff]", text) and len(text) < csv.field_size_limit()


def _records(lines: Sequence[str], name: str) -> Iterator[tuple[int, list[str], str]]:
    """Yield for each record the number of its first line, its cells, and its text in the file."""
    reader = csv.reader(lines, strict=True)
    start = 0
    while start < len(lines):
        try:
            cells = next(reader)
        except csv.Error as error:
            raise InputError(
                f"{name}, line {start + 1}: is not CSV: {error}; a quote may be missing or never closed; {REMEDY}"
            ) from None
        record = "".join(lines[start : reader.line_num])
        if not record.endswith("\n"):
            raise InputError(f"{name}, line {start + 1}: is incomplete, so the file may be cut short; {REMEDY}")
        yield start + 1, cells, record
        start = reader.line_num


def _csv_line(cells: Iterable[str], line_end: str) -> str:
    line = StringIO(newline="")
    csv.writer(line, lineterminator=line_end).writerow(cells)
    return line.getvalue()
