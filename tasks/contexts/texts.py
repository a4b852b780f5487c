"""Where sentences of English text end, by sentencex, the library of Wikimedia's editors, and how names are compared."""

import re
import unicodedata
from collections.abc import Iterator

from sentencex import segment

_SPACE = re.compile(r"\s")


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of a paragraph, in order; together they are the whole paragraph, letter by letter."""
    start = 0
    # Plain spaces: beside a point the library fails on spaces of several bytes.
    for sentence in segment("en", _SPACE.sub(" ", text)):
        yield text[start : start + len(sentence)]
        start += len(sentence)


def folded(name: str) -> str:
    """The form in which two names are compared."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def bare(name: str) -> str:
    """The same without the qualifier in brackets at its end."""
    before, opened, after = name.rpartition("(")
    return folded(before if opened and after.endswith(")") and before.strip() else name)
