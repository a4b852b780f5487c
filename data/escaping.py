r"""Escaping of texts, with functions for each format: terminal, HTML, XML, JSON, Markdown, LaTeX and spreadsheets.

Texts of models, files, servers and people are untrusted: they may have sequences that a terminal obeys, a browser runs,
a spreadsheet computes or LaTeX executes.

Control characters become codes, such as \x1b, because any file may be printed on a terminal. LaTeX has no codes, so its
texts lose these characters.
"""

import json
import re
import unicodedata
from collections.abc import Callable

from markupsafe import Markup, escape

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Invisible characters that control a terminal or the direction of text; line feeds and tabs are allowed."""
_NO_HTML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Characters that HTML may not have."""
_NO_XML = re.compile(r"[^\t\n -~\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML may not have."""


def terminal(text: str) -> str:
    r"""Return the text for a terminal, with its line breaks, and with codes such as \x1b for control characters."""
    return _CONTROL.sub(_code, text)


def visible(text: str) -> str:
    """Return the text on one line, with codes for control characters, line breaks and invisible characters."""
    return "".join(
        char if char == " " or unicodedata.category(char)[0] not in "CZ" else char.encode("unicode_escape").decode()
        for char in text
    )


def html(text: object) -> Markup:
    """Return a text as HTML for an element or for an attribute's value in quotes; Markup is returned unchanged."""
    if isinstance(text, Markup):
        return text
    lines = str(text).replace("\r\n", "\n").replace("\r", "\n")  # browsers read these line breaks as \n
    return escape(_NO_HTML.sub(_code, lines))


def xml(text: str) -> str:
    """Return the text with codes for characters that XML 1.0 forbids; the writer of the file escapes markup."""
    return _NO_XML.sub(_code, text)


def json_text(value: object, indent: int | None = None) -> str:
    """Return the value as JSON; letters such as é stay as they are, and control characters become codes."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False, indent=indent))


def _code(character: re.Match[str]) -> str:
    return character[0].encode("unicode_escape").decode()


_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$&#!])")
_BLOCK = re.compile(r"^(\d{0,9})([-+=:.)])")
"""Beginnings of a text, such as "1." and "-", that Markdown reads as a list, a heading or a rule."""


def markdown(text: object) -> str:
    """Return a text as Markdown that shows it unchanged, on one line."""
    line = _MARKDOWN.sub(r"\\\1", terminal(" ".join(str(text).split())))
    return _BLOCK.sub(r"\1\\\2", line)


# LaTeX.

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "\u2212": r"\ensuremath{-}",
    "\u2013": r"\textendash{}",
    "\u2014": r"\textemdash{}",
    "\u2026": r"\dots{}",
    "\u2018": r"\textquoteleft{}",
    "\u2019": r"\textquoteright{}",
    "\u201c": r"\textquotedblleft{}",
    "\u201d": r"\textquotedblright{}",
    "\u221e": r"\ensuremath{\infty}",
    "\u2265": r"\ensuremath{\geq}",
    "\u2264": r"\ensuremath{\leq}",
    "\u2260": r"\ensuremath{\neq}",
    "\u00d7": r"\ensuremath{\times}",
    "\u00b1": r"\ensuremath{\pm}",
    "\u00b7": r"\textperiodcentered{}",
    "\u00b0": r"\textdegree{}",
    "\u00b5": r"\textmu{}",
    "\u00a7": r"\S{}",
    "\u00df": r"\ss{}",
    "\u00e6": r"\ae{}",
    "\u00c6": r"\AE{}",
    "\u0153": r"\oe{}",
    "\u0152": r"\OE{}",
    "\u00f8": r"\o{}",
    "\u00d8": r"\O{}",
    "\u0142": r"\l{}",
    "\u0141": r"\L{}",
    "\u0131": r"\i{}",
    "\u0111": r"\dj{}",
    "\u0110": r"\DJ{}",
    "\u00f0": r"\dh{}",
    "\u00d0": r"\DH{}",
    "\u00fe": r"\th{}",
    "\u00de": r"\TH{}",
    "\u20ac": r"\texteuro{}",
    "\u00a3": r"\pounds{}",
}
"""LaTeX for special characters. After the end of a table's row, bare brackets and stars would be read as options."""
_LIGATURE = re.compile(r"([-,'])(?=\1)")
"""Characters that LaTeX would join, such as -- to a dash."""
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0323": "d",
    "\u0327": "c",
    "\u0328": "k",
    "\u0326": "textcommabelow",
    "\u0331": "b",
}


def latex(text: object) -> str:
    """Return a text as LaTeX that prints it, on one line."""
    parts: list[str] = []
    for character in unicodedata.normalize("NFC", " ".join(str(text).split())):
        if character in _ACCENTS and parts:
            parts[-1] = rf"\{_ACCENTS[character]}{{{parts[-1]}}}"
        else:
            parts.append(_latex_character(character))
    return _LIGATURE.sub(r"\1{}", "".join(parts))


def _latex_character(character: str) -> str:
    r"""Return the LaTeX of a character, such as \'{e} for é; [U+4E00] for a character without a command."""
    if character in _LATEX:
        return _LATEX[character]
    if character.isascii():
        return character if character.isprintable() else ""
    if unicodedata.category(character) in ("Cf", "Cc", "Cs"):
        return ""
    decomposed = unicodedata.normalize("NFD", character)
    letter, accents = decomposed[0], decomposed[1:]
    has_commands = bool(accents) and _ACCENTS.keys() >= {*accents} and (letter.isascii() or letter in _LATEX)
    if not has_commands:
        return f"{{[}}U+{ord(character):04X}{{]}}"
    composed = _LATEX.get(letter, letter)
    for accent in accents:
        composed = rf"\{_ACCENTS[accent]}{{{composed}}}"
    return composed


# Cells of spreadsheets.

_FORMULA_SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
_NOT_IN_CELLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]|_(?=x[0-9A-Fa-f]{4}_)")
"""Characters that a cell cannot have, and the underscore before a text that looks like a code, such as x0007_."""
_SKIPPED = "\\s\"'\x00-\x1f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
"""Characters that a program may skip before the sign of a formula."""
_FORMULA = re.compile(rf"[{_SKIPPED}]*[{_FORMULA_SIGNS}]")
# Before the sign: a semicolon, white space and quotes, all optional. A match begins only at the first of them, because
# attempts at every character would take quadratic time.
_SIGN_AFTER_BLANKS = re.compile(rf"((?:;|(?<![\s\"';]))[\s\"']*+)([{_FORMULA_SIGNS}])")
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,20})?(e[+-]?[0-9]{1,3})?")
_CELL_ENDS = frozenset(";\t\n\r")
"""Separators: characters at which a program may begin a new cell."""


def with_cell_codes(text: str) -> str:
    """Return the text with codes, such as _x0007_, for characters that a cell cannot have."""
    return _NOT_IN_CELLS.sub(lambda match: _cell_code(match[0]), text)


def looks_like_formula(text: str) -> bool:
    """Return True if the text begins with a formula's sign, perhaps after blanks, quotes or invisible characters."""
    return _FORMULA.match(text) is not None


def is_computed(text: str) -> bool:
    """Return True if a program might compute the text: a formula, or a text that begins with a tab or line break."""
    return (looks_like_formula(text) and not _NUMBER.fullmatch(text)) or text[:1] in ("\t", "\n")


def csv_cell(text: str, needs_apostrophe: Callable[[str], bool] = is_computed) -> str:
    """Return the text as a cell of a .csv file that no program computes.

    A formula gets an apostrophe before it; a number such as -5 does not. Codes such as _x0007_ (ECMA-376, part 1,
    ST_Xstring) replace characters that a cell cannot have. Codes also replace the sign of a formula after a semicolon,
    tab or line break, because a program with another separator begins a new cell there.

    Args:
        text: The text.
        needs_apostrophe: Returns True for a text that gets an apostrophe.
    """

    def with_coded_sign(match: re.Match[str]) -> str:
        blanks, sign = match.groups()
        return blanks + (sign if _CELL_ENDS.isdisjoint(blanks) else _cell_code(sign))

    cell = _SIGN_AFTER_BLANKS.sub(with_coded_sign, with_cell_codes(text))
    # A formula that has apostrophes before it gets another apostrophe, because `sheet_text` removes one.
    return f"'{cell}" if needs_apostrophe(cell.lstrip("'")) else cell


_CELL_CODE = re.compile("_x([0-9A-Fa-f]{4})_")
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_NUMBER_OR_DATE = re.compile(
    rf"(?:[\W\d_]|(?<![^\W\d_])(?:{_MONTHS}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|a|p|am|pm|e|t|z)(?![^\W\d_]))*",
    re.IGNORECASE,
)
"""Digits, signs, months, and the letters of times and numbers, as in 10 pm, 2024-05-01T10:00Z and 1e5."""


def sheet_cell(text: str) -> str:
    """Return the text as a cell of a sheet that people edit; `sheet_text` turns the cell into the text again.

    A text that a program reads as a formula, number, date, truth value or error (#N/A) gets an apostrophe.
    """
    return csv_cell(text, _is_converted)


def sheet_text(cell: str) -> str:
    """Return the text of a cell that `sheet_cell` or a person wrote."""
    cell = cell[1:] if cell.startswith("'") and _is_converted(cell.lstrip("'")) else cell
    return _CELL_CODE.sub(lambda match: chr(int(match[1], 16)), cell)


def _is_converted(text: str) -> bool:
    if is_computed(text) or text.startswith("#") or text.strip().casefold() in ("true", "false"):
        return True
    return any(char.isdigit() for char in text) and _NUMBER_OR_DATE.fullmatch(text) is not None


def _cell_code(char: str) -> str:
    return f"_x{ord(char):04X}_"
