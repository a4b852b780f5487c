"""Sheets that people fill in with a spreadsheet program, .xlsx or .csv: texts, never a formula, a number or a date."""

import csv
import io
import os
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import IO, Any

from openpyxl import Workbook, load_workbook
from openpyxl.styles import Alignment, Font, PatternFill, Protection
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation

from swaymeter.data.errors import InputError, UsageError, WorkspaceError, first_line
from swaymeter.data.escaping import coded, looks_like_formula
from swaymeter.data.storage.writing import put, unfinished
from swaymeter.tasks.contexts.annotation import cells
from swaymeter.tasks.contexts.annotation.cells import SheetColumn, fits

TITLE, GUIDE_TITLE = "questions", "what to do"
FORMATS = (".xlsx", ".csv")
LARGEST_FILE = 64 * 2**20
"""Most bytes of a .csv, or of an unpacked workbook; a zip file of a few kilobytes can hold many gigabytes."""
MOST_MARKS = 3_000_000
"""Most separators of a .csv, and most tags or attributes of a workbook's part: each takes up to 300 bytes."""
MOST_ROWS = 2**20
"""As many as spreadsheet programs have; a file can name any number, and what is missing before it is filled in."""
MOST_COLUMNS = 100
"""A sheet of questions has some twenty; programs format thousands without a word in them."""
_NO_TEXT = object()
"""A cell's value that is not a text: a formula, or a formula's error."""
_BOLD, _TOP = Font(bold=True), Alignment(wrap_text=True, vertical="top")
_READ, _WRITTEN = PatternFill("solid", fgColor="DDDDDD"), PatternFill("solid", fgColor="CFE2F3")


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

    UsageError where the file exists or is of neither format, InputError where a text is too long for a cell.
    """
    suffix = _format(path)
    for row in rows:
        if long := too_long(row, columns):
            text = row[long[0]]
            raise InputError(
                f"{path}, column {long[0]}: a text of {len(text)} characters does not fit into a cell: {text[:60]!r}"
            )
    content = _csv(columns, rows) if suffix == ".csv" else _workbook(columns, rows, guide)
    exists = UsageError(f"{path} exists already and may hold somebody's work; name another file, or move it away")
    if os.path.lexists(path):
        raise exists
    try:
        with unfinished(path) as temporary:
            temporary.write_bytes(content)
            try:
                put(temporary, path, new=True)
            except FileExistsError:  # somebody else was faster
                raise exists from None
    except WorkspaceError as error:
        reason = getattr(error.__cause__, "strerror", None) or first_line(error)
        raise WorkspaceError(f"{path} cannot be written: {reason}; name another file") from None


def too_long(row: Mapping[str, str], columns: Sequence[SheetColumn]) -> list[str]:
    """The columns whose text does not fit into a cell of .xlsx or .csv."""
    return [column.name for column in columns if not fits(row[column.name])]


def read_sheet(path: Path, columns: Sequence[SheetColumn]) -> Sheet:
    """The rows with content; columns may have been moved, and missing cells are "".

    InputError names the file, row and column of what is not valid, such as a missing column, a formula, a date.
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
        texts = {
            name: _text(values[place], f"{path}, row {number}, column {name}") if place < len(values) else ""
            for name, place in places.items()
        }
        foreign = {place for place, value in enumerate(values) if value not in (None, "")} - set(places.values())
        others |= {header[place] if place < len(header) and header[place] else f"no. {place + 1}" for place in foreign}
        if any(text.strip() for text in texts.values()):
            rows.append(SheetRow(number, texts))
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
    writer.writerows([[cells.guarded(row[column.name]) for column in columns] for row in rows])
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
    if sum(map(text.count, ",;\t\n")) > MOST_MARKS:
        raise _too_large(path)
    try:
        by_separator = {sign: next(csv.reader([text.partition("\n")[0]], delimiter=sign), []) for sign in ",;\t"}
        separator = max(by_separator, key=lambda sign: len(names.intersection(by_separator[sign])))
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        return [(number, [cells.unguarded(cell) for cell in row]) for number, row in enumerate(rows, start=1)]
    except csv.Error as error:
        raise InputError(f"{path} is not CSV: {error}; save it again as `CSV UTF-8`, or as .xlsx") from None


def _rows_of_xlsx(path: Path, names: set[str]) -> list[tuple[int, list[Any]]]:
    try:
        with path.open("rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what programs add to a workbook and openpyxl does not know
            with zipfile.ZipFile(file) as packed:
                if sum(part.file_size for part in packed.infolist()) > LARGEST_FILE:
                    raise _too_large(path)
                for part in map(packed.read, packed.namelist()):
                    if max(part.count(b"<"), part.count(b"=")) > MOST_MARKS:
                        raise _too_large(path)
            return _rows_of_workbook(file, names)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except Exception as error:  # a damaged workbook makes openpyxl raise nearly anything
        problem = f"{type(error).__name__}: {first_line(error)}"
        raise InputError(f"{path} is not a workbook that can be read ({problem}); save it again as .xlsx") from None


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


def _workbook(columns: Sequence[SheetColumn], rows: Sequence[Mapping[str, str]], guide: Mapping[str, str]) -> bytes:
    """The file's content: a sheet of the rows, and a sheet of the guide's headings and texts."""
    book = Workbook()
    sheet = book.active
    sheet.title = TITLE
    for place, column in enumerate(columns, start=1):
        letter = get_column_letter(place)
        sheet.column_dimensions[letter].width = column.width or 12
        sheet.column_dimensions[letter].hidden = column.hidden
        _write(sheet.cell(1, place), column.name)
        sheet.cell(1, place).font = _BOLD
        sheet.cell(1, place).fill = _WRITTEN if column.written else _READ
        for number, row in enumerate(rows, start=2):
            _write(sheet.cell(number, place), row[column.name], locked=not column.written)
        if column.choices and rows:
            offered = DataValidation("list", f'"{",".join(column.choices)}"', allow_blank=True, showErrorMessage=True)
            offered.errorTitle, offered.error = column.name, f"One of: {', '.join(column.choices)}"
            offered.add(f"{letter}2:{letter}{len(rows) + 1}")
            sheet.add_data_validation(offered)
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(columns))}{len(rows) + 1}"
    # No password: it keeps hands from slipping, and the rows from being sorted apart from their keys.
    sheet.protection.sheet = True
    for allowed in ("formatColumns", "formatRows", "formatCells", "autoFilter"):
        setattr(sheet.protection, allowed, False)  # the attribute names what is protected
    sheet.page_setup.orientation, sheet.page_setup.fitToHeight = "landscape", 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.print_title_rows = "1:1"
    guide_sheet = book.create_sheet(GUIDE_TITLE)
    guide_sheet.column_dimensions["A"].width, guide_sheet.column_dimensions["B"].width = 20, 100
    for number, (heading, text) in enumerate(guide.items(), start=1):
        _write(guide_sheet.cell(number, 1), heading)
        _write(guide_sheet.cell(number, 2), text)
        guide_sheet.cell(number, 1).font = _BOLD
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


def _rows_of_workbook(file: IO[bytes], names: set[str]) -> list[tuple[int, list[Any]]]:
    """The rows with content of the sheet of the title, else of the sheet with most of the names, and their numbers."""
    book = load_workbook(file, read_only=True, keep_links=False)
    try:
        by_title = {sheet.title: sheet for sheet in book.worksheets}
        sheet = by_title.get(TITLE) or max(book.worksheets, key=lambda candidate: len(names & _names(candidate)))
        sheet.reset_dimensions()
        rows: list[tuple[int, list[Any]]] = []
        before: Any = None
        for number, row in enumerate(sheet.iter_rows(max_col=MOST_COLUMNS), start=1):
            if number > MOST_ROWS:
                raise ValueError(f"a row behind the last one of a sheet, number {MOST_ROWS:,}")
            # Rows that the file leaves out come as one and the same.
            if row is not before and any(cell.value is not None for cell in row):
                rows.append((number, [_value(cell) for cell in row]))
            before = row
        return rows
    finally:
        book.close()


def _write(cell: Any, text: str, *, locked: bool = True) -> None:
    if text:
        cell.value = coded(text)
        cell.data_type = "s"  # openpyxl takes what begins with = for a formula, and #N/A for an error
        cell.quotePrefix = looks_like_formula(text)  # keeps it a text where somebody edits it
    cell.number_format = "@"  # a text
    cell.alignment = _TOP
    cell.protection = Protection(locked=locked)


def _names(sheet: Any) -> set[str]:
    sheet.reset_dimensions()
    first = next(sheet.iter_rows(max_row=1, max_col=MOST_COLUMNS, values_only=True), ())
    return {str(value).strip().casefold() for value in first if value is not None}


def _value(cell: Any) -> Any:
    if cell.data_type in ("f", "e"):
        return _NO_TEXT
    return cells.decoded(cell.value) if isinstance(cell.value, str) else cell.value
