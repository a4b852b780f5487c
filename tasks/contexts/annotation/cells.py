"""Text in the cells of a spreadsheet: harmless there, and the same when it is read back.

In .csv a text that a program reads as a formula, a number or a date gets an apostrophe before it; control characters,
and a formula's sign behind a semicolon, are written as codes: _x0007_, as in ECMA-376, part 1, ST_Xstring.
"""

import re
from dataclasses import dataclass

from swaymeter.data.escaping import coded, csv_cell, is_computed

LARGEST_CELL = 32_767
"""The characters that a cell of Excel holds, in UTF-16; longer texts are cut without a warning."""

_CODE = re.compile("_x([0-9A-Fa-f]{4})_")
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_WORDS_OF_NUMBERS = re.compile(
    rf"(?:[\W\d_]|(?<![^\W\d_])(?:{_MONTHS}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|a|p|am|pm|e|t|z)(?![^\W\d_]))*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class SheetColumn:
    """A column: its name, its width in characters, whether people write in it, whether it is hidden, its choices."""

    name: str
    width: int = 0
    written: bool = False
    hidden: bool = False
    choices: tuple[str, ...] = ()


def decoded(cell: str) -> str:
    """The text of a cell with codes in it."""
    return _CODE.sub(lambda match: chr(int(match[1], 16)), cell)


def guarded(text: str) -> str:
    """The text as a cell of a .csv file that every program shows as it is; `unguarded` gives the text again."""
    return csv_cell(text, _needs_guard)


def unguarded(cell: str) -> str:
    """The text of a cell of a .csv file, be it written by `guarded` or typed by a person."""
    return decoded(cell[1:] if cell.startswith("'") and _needs_guard(cell.lstrip("'")) else cell)


def plain(text: str) -> str:
    """The text without what programs add or remove: spaces, an apostrophe before it, and codes."""
    while (shorter := decoded(text)) != text:
        text = shorter
    return " ".join(text.split()).lstrip("' ")


def fits(text: str) -> bool:
    """Whether a cell of .xlsx and one of .csv can hold the text."""
    cells = (text, coded(text), guarded(text))
    return max(len(cell.encode("utf-16-le", "surrogatepass")) for cell in cells) <= 2 * LARGEST_CELL


def _needs_guard(text: str) -> bool:
    if is_computed(text):
        return True
    if text.strip().casefold() in ("true", "false"):
        return True
    return any(sign.isdigit() for sign in text) and _WORDS_OF_NUMBERS.fullmatch(text) is not None
