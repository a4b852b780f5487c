"""Where sentences of English text end, by sentencex, the library of Wikimedia's own editors."""

import re
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
