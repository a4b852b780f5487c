"""The .xlsx form of a sheet, by openpyxl: every cell a text, never a formula."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import IO, Any

from openpyxl import Workbook, load_workbook
from openpyxl.styles import Alignment, Font, PatternFill, Protection
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation

from swaymeter.tasks.contexts.annotation.cells import SheetColumn, coded, decoded, looks_like_formula

GUIDE = "what to do"
MOST_ROWS = 2**20
"""As many as spreadsheet programs have; a file can name any number, and what is missing before it is filled in."""
MOST_COLUMNS = 100
"""A sheet of questions has some twenty; programs format thousands without a word in them."""
_TEXT = "@"
_TOP = Alignment(wrap_text=True, vertical="top")
_BOLD = Font(bold=True)
_LOCKED, _OPEN = Protection(locked=True), Protection(locked=False)
NO_TEXT = object()
"""A cell's value that is not a text: a formula, or a formula's error."""
_READ, _WRITTEN = PatternFill("solid", fgColor="DDDDDD"), PatternFill("solid", fgColor="CFE2F3")


def workbook(
    title: str, columns: Sequence[SheetColumn], rows: Sequence[Mapping[str, str]], guide: Mapping[str, str]
) -> bytes:
    """The file's content: a sheet of the rows, and a sheet of the guide's headings and texts."""
    book = Workbook()
    sheet = book.active
    sheet.title = title
    for place, column in enumerate(columns, start=1):
        letter = get_column_letter(place)
        sheet.column_dimensions[letter].width = column.width or 12
        sheet.column_dimensions[letter].hidden = column.hidden
        _write(sheet.cell(1, place), column.name, _LOCKED)
        sheet.cell(1, place).font = _BOLD
        sheet.cell(1, place).fill = _WRITTEN if column.written else _READ
        for number, row in enumerate(rows, start=2):
            _write(sheet.cell(number, place), row[column.name], _OPEN if column.written else _LOCKED)
        if column.choices and rows:
            _offer(sheet, column, f"{letter}2:{letter}{len(rows) + 1}")
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(columns))}{len(rows) + 1}"
    _protect(sheet)
    _print_across(sheet)
    _add_guide(book.create_sheet(GUIDE), guide)
    written = BytesIO()
    book.save(written)
    return written.getvalue()


def rows_of(file: IO[bytes], title: str, names: set[str]) -> list[tuple[int, list[Any]]]:
    """The rows with content of the sheet of that title, else of the sheet with most of the names, and their numbers.

    NO_TEXT stands for a formula. Columns behind MOST_COLUMNS are not read; ValueError for more than MOST_ROWS.
    """
    book = load_workbook(file, read_only=True, keep_links=False)
    try:
        by_title = {sheet.title: sheet for sheet in book.worksheets}
        sheet = by_title.get(title) or max(book.worksheets, key=lambda candidate: len(names & _names(candidate)))
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


def _write(cell: Any, text: str, protection: Protection) -> None:
    if text:
        cell.value = coded(text)
        cell.data_type = "s"  # openpyxl takes what begins with = for a formula, and #N/A for an error
        cell.quotePrefix = looks_like_formula(text)  # keeps it a text where somebody edits it
    cell.number_format = _TEXT
    cell.alignment = _TOP
    cell.protection = protection


def _offer(sheet: Any, column: SheetColumn, cells: str) -> None:
    offered = DataValidation(
        type="list", formula1=f'"{",".join(column.choices)}"', allow_blank=True, showErrorMessage=True
    )
    offered.errorTitle = column.name
    offered.error = f"One of: {', '.join(column.choices)}"
    offered.add(cells)
    sheet.add_data_validation(offered)


def _protect(sheet: Any) -> None:
    """No password: it keeps hands from slipping, and the rows from being sorted apart from their keys."""
    sheet.protection.sheet = True
    for allowed in ("formatColumns", "formatRows", "formatCells", "autoFilter"):
        setattr(sheet.protection, allowed, False)  # the attribute names what is protected


def _print_across(sheet: Any) -> None:
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.print_title_rows = "1:1"


def _add_guide(sheet: Any, guide: Mapping[str, str]) -> None:
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 20, 100
    for number, (heading, text) in enumerate(guide.items(), start=1):
        _write(sheet.cell(number, 1), heading, _LOCKED)
        _write(sheet.cell(number, 2), text, _LOCKED)
        sheet.cell(number, 1).font = _BOLD


def _names(sheet: Any) -> set[str]:
    sheet.reset_dimensions()
    first = next(sheet.iter_rows(max_row=1, max_col=MOST_COLUMNS, values_only=True), ())
    return {str(value).strip().casefold() for value in first if value is not None}


def _value(cell: Any) -> Any:
    if cell.data_type in ("f", "e"):
        return NO_TEXT
    return decoded(cell.value) if isinstance(cell.value, str) else cell.value
