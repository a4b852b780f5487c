"""Replies with another number, date or time than the answers.

An answer counts as a number or a date if it begins with a number, a date or a time and contains no name: "12 May 1990"
and "8 kg" do; "Apollo 11", a name with a number, does not.
"""

import re
from collections.abc import Sequence

from swaymeter.data.wording.word import FUNCTION_WORDS, MONTHS, Word, word_set

_COUNTING = {
    *MONTHS,
    *word_set(
        "monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag "
        "sonntag spring summer autumn winter noon midnight bc ad half quarter"
    ),
}
_NUMERALS = frozenset(("number", "ordinal", "unit", "sign"))
_SHORT = 25
_AS_NUMBER = re.compile(r"clock\d+|dial\d+|\d[\d.,:/-]*[ds]?")


def _is_number(name: Sequence[Word]) -> bool:
    content = [word for word in name if word.text not in FUNCTION_WORDS or word.text in _COUNTING]
    return bool(content) and _counts(content[0]) and all(_counts(word) or not word.capitals for word in content)


def _counts(word: Word) -> bool:
    return word.kind in _NUMERALS or word.text in _COUNTING or _AS_NUMBER.fullmatch(word.text) is not None


def is_other_value(reply: Sequence[Word], answers: Sequence[Sequence[Word]]) -> bool:
    """Return True if a short reply gives a number, date or time that no answer has, in the unit of the answers."""
    if not answers or len(reply) > _SHORT or not all(_is_number(answer) for answer in answers):
        return False
    shapes = {shape for answer in answers for shape in _shapes(answer)}
    values = {word.text for answer in answers for word in answer if _is_figure(word)}
    figures = [(shape, word) for shape, word in zip(_shapes(reply), filter(_is_figure, reply), strict=True)]
    return bool(figures) and all(shape in shapes and word.text not in values for shape, word in figures)


def _is_figure(word: Word) -> bool:
    return word.kind == "number" or _AS_NUMBER.fullmatch(word.text) is not None


def _shapes(text: Sequence[Word]) -> list[str]:
    """Return the kind of each number of a text: year, time, or its unit."""
    shapes = []
    for index, word in enumerate(text):
        if _is_figure(word):
            behind = text[index + 1] if index + 1 < len(text) else None
            unit = behind.text if behind is not None and behind.kind == "unit" else ""
            is_year = re.fullmatch(r"[12]\d{3}", word.text) is not None and not unit
            shapes.append("year" if is_year else "time" if word.text[0].isalpha() else f"number {unit}")
    return shapes
