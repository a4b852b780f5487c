"""The file of verdicts by hand: a sheet with a row for words that a person judged, .csv or .xlsx."""

from collections.abc import Mapping
from pathlib import Path

from swaymeter.data.errors import InputError
from swaymeter.data.records.verdicts import VerdictByHand, same_words
from swaymeter.tasks.contexts.annotation.cells import SheetColumn
from swaymeter.tasks.contexts.annotation.spreadsheet import SheetRow, read_sheet

VERDICTS = ("context", "original", "both", "neither", "refusal")
_COLUMNS = ("question", "context", "model", "sample", "answer", "verdict", "who", "why")
_FILLED = ("question", "context", "answer", "verdict", "who")


def read_verdicts(path: Path) -> tuple[VerdictByHand, ...]:
    """The rows of a file of verdicts by hand.

    Raises:
        InputError: The file cannot be read or lacks a column, or a row is not possible: a cell is empty that may not
            be, a verdict or sample is unknown, or two rows say something else of the same words. It names the row.
    """
    sheet = read_sheet(path, [SheetColumn(name) for name in _COLUMNS])
    verdicts, known = list[VerdictByHand](), dict[tuple[str, ...], VerdictByHand]()
    for row in sheet.rows:
        verdict = _verdict(row, f"{path}, row {row.number}")
        about = (verdict.question, verdict.context, verdict.model, verdict.sample, same_words(verdict.answer))
        before = known.setdefault(about, verdict)
        if before.verdict != verdict.verdict:
            raise InputError(
                f"{path}, row {row.number}: row {before.row} says {before.verdict!r} of the same answer, and this one "
                f"{verdict.verdict!r}; delete one of the two"
            )
        verdicts.append(verdict)
    return tuple(verdicts)


def _verdict(row: SheetRow, where: str) -> VerdictByHand:
    cells: Mapping[str, str] = {name: text if name == "answer" else text.strip() for name, text in row.cells.items()}
    if empty := [name for name in _FILLED if not cells[name].strip()]:
        raise InputError(f"{where}: {empty[0]} is empty; write it, or delete the row")
    if cells["verdict"] not in VERDICTS:
        raise InputError(f"{where}: {cells['verdict']!r} is not a verdict; write one of {', '.join(VERDICTS)}")
    if cells["sample"] not in ("", "greedy") and not cells["sample"].isdecimal():
        raise InputError(
            f"{where}: {cells['sample']!r} is not a sample; write its number from 0, or greedy, or leave it empty for "
            "every answer of these words"
        )
    return VerdictByHand(row=row.number, **cells)
