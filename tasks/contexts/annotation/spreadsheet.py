"""Sheets that people fill in with a spreadsheet program: .xlsx, or .csv for any other.

A sheet has a row of names and rows of texts, never a formula, a number or a date. In .xlsx only the columns to fill in
are unlocked, the choices are listed, keys are hidden, and a second sheet has the instructions.
"""

import csv
import io
import os
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from swaymeter.data.errors import InputError, UsageError, WorkspaceError, first_line
from swaymeter.data.storage.files import TEMPORARY
from swaymeter.tasks.contexts.annotation.cells import SheetColumn, fits, guarded, unguarded

TITLE = "questions"
FORMATS = (".xlsx", ".csv")
LARGEST_FILE = 128 * 2**20
"""Most bytes of a .csv, or of an unpacked workbook; a zip file of a few kilobytes can hold many gigabytes."""
MOST_TAGS = 3_000_000
"""Most tags of a workbook's XML, eight for a cell with a text of its own, and most attributes: they take 300 bytes."""
MOST_CELLS = 4_000_000
"""Most cells of a .csv, all separators and ends of lines counted, also those inside of texts."""
_PIECE = 2**20


@dataclass(frozen=True)
class SheetRow:
    """The texts of a row by the names of the columns; number: as programs show it, the row of names is 1."""

    number: int
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Sheet:
    """The content of a sheet; others: unknown columns with content."""

    path: Path
    rows: tuple[SheetRow, ...]
    others: tuple[str, ...] = ()


def write_sheet(
    path: Path, columns: Sequence[SheetColumn], rows: Sequence[Mapping[str, str]], guide: Mapping[str, str]
) -> None:
    """Writes the rows, each with a text or "" for every column, to a new file; guide: headings and their texts.

    UsageError where the file exists, or is neither .xlsx nor .csv; InputError where a text does not fit into a cell;
    WorkspaceError where the file cannot be written.
    """
    suffix = _format(path)
    if os.path.lexists(path):
        raise _there_already(path)
    for row in rows:
        if long := too_long(row, columns):
            text = row[long[0]]
            raise InputError(
                f"{path}, column {long[0]}: a text of {len(text)} characters does not fit into a cell: {text[:60]!r}"
            )
    if suffix == ".csv":
        _write_new(path, _csv(columns, rows))
    else:
        from swaymeter.tasks.contexts.annotation.workbook import workbook  # openpyxl is slow to import, and few need it

        _write_new(path, workbook(TITLE, columns, rows, guide))


def too_long(row: Mapping[str, str], columns: Sequence[SheetColumn]) -> list[str]:
    """The columns whose text does not fit into a cell of .xlsx or .csv."""
    return [column.name for column in columns if not fits(row[column.name])]


def read_sheet(path: Path, columns: Sequence[SheetColumn]) -> Sheet:
    """The rows with content; columns may have been moved, and missing cells are "".

    InputError names the file, row and column of what is not valid: another format or encoding, a column that is missing
    or occurs twice, a formula, a date.
    """
    names = {column.name for column in columns}
    read = _rows_of_csv(path, names) if _format(path) == ".csv" else _rows_of_xlsx(path, names)
    first = read[0][1] if read and read[0][0] == 1 else []
    header = [str(name).strip().casefold() if name is not None else "" for name in first]
    places: dict[str, int] = {}
    for column in columns:
        if header.count(column.name) > 1:
            raise InputError(f"{path}: the column {column.name!r} occurs twice")
        if column.name in header:
            places[column.name] = header.index(column.name)
    missing = [column.name for column in columns if column.name not in places]
    if missing:
        raise InputError(f"{path} has no column {', '.join(map(repr, missing))}; its first row must have the names")
    rows, others = [], set()
    for number, values in read[1:]:
        cells = {
            name: _text(values[place], f"{path}, row {number}, column {name}") if place < len(values) else ""
            for name, place in places.items()
        }
        foreign = {place for place, value in enumerate(values) if value not in (None, "")} - set(places.values())
        others |= {header[place] if place < len(header) and header[place] else f"no. {place + 1}" for place in foreign}
        if any(text.strip() for text in cells.values()):
            rows.append(SheetRow(number, cells))
    return Sheet(path, tuple(rows), tuple(sorted(others)))


def _format(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise UsageError(f"{path} is neither .xlsx nor .csv; save the sheet as one of them, or name such a file")
    return suffix


def _csv(columns: Sequence[SheetColumn], rows: Sequence[Mapping[str, str]]) -> bytes:
    written = io.StringIO(newline="")
    writer = csv.writer(written, quoting=csv.QUOTE_ALL)
    writer.writerow([column.name for column in columns])
    writer.writerows([[guarded(row[column.name]) for column in columns] for row in rows])
    return written.getvalue().encode("utf-8-sig")  # without the sign of UTF-8, Excel reads another encoding


def _rows_of_csv(path: Path, names: set[str]) -> list[tuple[int, list[str]]]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise _too_large(path)
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not in UTF-8; save it as `CSV UTF-8`, or as .xlsx") from None
    if sum(map(text.count, ",;\t\n")) > MOST_CELLS:
        raise _too_large(path)
    try:
        by_separator = {sign: next(csv.reader([text.partition("\n")[0]], delimiter=sign), []) for sign in ",;\t"}
        separator = max(by_separator, key=lambda sign: len(names.intersection(by_separator[sign])))
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        return [(number, [unguarded(cell) for cell in row]) for number, row in enumerate(rows, start=1)]
    except csv.Error as error:
        raise InputError(f"{path} is not CSV: {error}; save it again as `CSV UTF-8`, or as .xlsx") from None


def _rows_of_xlsx(path: Path, names: set[str]) -> list[tuple[int, list[Any]]]:
    from swaymeter.tasks.contexts.annotation.workbook import rows_of

    try:
        with path.open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what programs add to a workbook and openpyxl does not know
            with zipfile.ZipFile(file) as packed:
                if sum(part.file_size for part in packed.infolist()) > LARGEST_FILE or _tags(packed) > MOST_TAGS:
                    raise _too_large(path)
            return rows_of(file, TITLE, names)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except Exception as error:  # a damaged workbook makes openpyxl raise nearly anything
        problem = f"{type(error).__name__}: {first_line(error)}"
        raise InputError(f"{path} is not a workbook that can be read ({problem}); save it again as .xlsx") from None


def _tags(packed: zipfile.ZipFile) -> int:
    """The tags of all parts, or their attributes where these are more, counted without parsing them."""
    tags = attributes = 0
    for part in packed.infolist():
        with packed.open(part) as unpacked:
            while piece := unpacked.read(_PIECE):
                tags += piece.count(b"<")
                attributes += piece.count(b"=")
    return max(tags, attributes)


def _too_large(path: Path) -> InputError:
    return InputError(f"{path} is too large to be a sheet of questions; save the sheet alone, without empty cells")


def _text(value: Any, where: str) -> str:
    """The text that people typed, also where a program read it as a number; a date or a formula is refused."""
    if value is None:
        return ""
    if isinstance(value, str):
        if any("\ud800" <= sign <= "\udfff" for sign in value):  # of a code such as _xD800_
            raise InputError(f"{where} holds half of a character, which no file can store; type it again")
        return value.replace("\r\n", "\n").replace("\r", "\n")
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, (int, float)):
        return str(int(value)) if float(value).is_integer() else str(value)
    kind = "a date or time" if isinstance(value, (date, datetime, time, timedelta)) else "a formula"
    raise InputError(f"{where} holds {kind}; format the cell as text and type it again")


def _write_new(path: Path, content: bytes) -> None:
    """Writes a new file, whole or not at all; a file that appears meanwhile stays."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _name_new(temporary, path, content)
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be written: {error.strerror or error}; name another file") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _name_new(temporary: Path, path: Path, content: bytes) -> None:
    with suppress(OSError):
        os.link(temporary, path)
        return
    try:
        with path.open("xb") as file:  # some file systems have no hard links
            file.write(content)
    except FileExistsError:
        raise _there_already(path) from None


def _there_already(path: Path) -> UsageError:
    return UsageError(f"{path} exists already and may hold somebody's work; name another file, or move it away")
