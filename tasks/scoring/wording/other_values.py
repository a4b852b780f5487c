"""Replies with another number, date or time than the answers.

An answer counts as a number or a date if it begins with a number, a date or a time and contains no name: "12 May 1990"
and "8 kg" do; "Apollo 11", a name with a number, does not.
"""

import re
from collections.abc import Sequence

from swaymeter.data.wording.word import FUNCTION_WORDS, MONTHS, Word, word_set

_NUMERIC_WORDS = {
    *MONTHS,
    *word_set(
        "monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag "
        "sonntag spring summer autumn winter noon midnight bc ad half quarter"
    ),
}
_KINDS = frozenset(("number", "ordinal", "unit", "sign"))
"""Kinds of words that belong to a number, a date or a time."""
_MAX_WORDS = 25
"""Limit of the words of a reply. A number in a longer reply may be about something else."""
_FIGURE = re.compile(r"clock\d+|dial\d+|\d[\d.,:/-]*[ds]?")
"""A number, day or decade in figures, or a time: 1990, 12d, 1990s, clock2100 (9 p.m.), dial0900 (9:00)."""


def _is_value(answer: Sequence[Word]) -> bool:
    content = [word for word in answer if word.text not in FUNCTION_WORDS or word.text in _NUMERIC_WORDS]
    has_name = any(word.capitals and not _is_part_of_value(word) for word in content)
    return bool(content) and _is_part_of_value(content[0]) and not has_name


def _is_part_of_value(word: Word) -> bool:
    return word.kind in _KINDS or word.text in _NUMERIC_WORDS or _FIGURE.fullmatch(word.text) is not None


def is_other_value(reply: Sequence[Word], answers: Sequence[Sequence[Word]]) -> bool:
    """Return True if a short reply has only other numbers, dates or times than the answers.

    Each number of the reply has the shape of a number of the answers, and is in none of the answers.
    """
    if not answers or len(reply) > _MAX_WORDS or not all(_is_value(answer) for answer in answers):
        return False
    shapes = {shape for answer in answers for shape in _shapes(answer)}
    values = {word.text for answer in answers for word in answer if _is_figure(word)}
    figures = [(shape, word) for shape, word in zip(_shapes(reply), filter(_is_figure, reply), strict=True)]
    return bool(figures) and all(shape in shapes and word.text not in values for shape, word in figures)


def _is_figure(word: Word) -> bool:
    return word.kind == "number" or _FIGURE.fullmatch(word.text) is not None


def _shapes(text: Sequence[Word]) -> list[str]:
    """Return the shape of each number of a text: "year", "time", or "number" with the unit, such as "number metre"."""
    shapes = []
    for index, word in enumerate(text):
        if _is_figure(word):
            after = text[index + 1] if index + 1 < len(text) else None
            unit = after.text if after is not None and after.kind == "unit" else ""
            if re.fullmatch(r"[12]\d{3}", word.text) and not unit:
                shapes.append("year")
            else:
                shapes.append("time" if word.text[0].isalpha() else f"number {unit}")
    return shapes
