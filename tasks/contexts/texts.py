"""Sentences of English text, split by sentencex, the library of Wikimedia's editors, and names in comparable form."""

import re
import unicodedata
from collections.abc import Iterator

from sentencex import segment

_SPACE = re.compile(r"\s")


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a paragraph in order; joined, they are the paragraph, letter by letter."""
    start = 0
    # Plain spaces: beside a point the library fails on spaces of several bytes.
    for sentence in segment("en", _SPACE.sub(" ", text)):
        yield text[start : start + len(sentence)]
        start += len(sentence)


def fold(name: str) -> str:
    """Return the form in which names are compared: normal form C, case-folded, single spaces."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def fold_without_qualifier(name: str) -> str:
    """Return the folded name without a qualifier in brackets at its end: mercury for "Mercury (planet)"."""
    before, bracket, qualifier = name.rpartition("(")
    has_qualifier = bracket and qualifier.endswith(")") and before.strip()
    return fold(before if has_qualifier else name)
