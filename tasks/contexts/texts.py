"""Sentences of English text, split by the library sentencex, and the form in which names are compared."""

import re
import unicodedata
from collections.abc import Iterator

from sentencex import segment

_SPACE = re.compile(r"\s")


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a paragraph in order, spaces included, so that they join to the paragraph."""
    start = 0
    # Each white space becomes a plain space, because the library fails on spaces of several bytes beside a full stop.
    for sentence in segment("en", _SPACE.sub(" ", text)):
        yield text[start : start + len(sentence)]
        start += len(sentence)


def fold(name: str) -> str:
    """Return the form in which names are compared: Unicode's normal form C, case-folded, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def fold_without_qualifier(name: str) -> str:
    """Return the folded name without a qualifier in brackets at its end: mercury for "Mercury (planet)"."""
    before, bracket, qualifier = name.rpartition("(")
    has_qualifier = bracket and qualifier.endswith(")") and before.strip()
    return fold(before if has_qualifier else name)
