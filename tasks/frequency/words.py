"""The words of a text, in UTF-8: punctuation removed, split at white space; capitals count. And which names are words.

Punctuation is what Unicode calls so, and the other signs of ASCII; within a word it is removed, too: "Jean-Paul's" is
JeanPauls. All is done on the bytes of many documents at once: str.split alone takes longer than the whole count.

    n     = occurrences in the corpus of the entity's names of one word, with their capitals or in small letters
    share = of these, the ones in small letters; the names are a common word where n > 50 and share > 0.75

Capitals alone tell whether an occurrence is a name. Names of several words, or of a script without capitals, are never
a common word; one alias that is one, or a single letter, leaves its entity out, as its occurrences are the entity's.
Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, appendix F, with a tagger in its place.
"""

import string
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

_PUNCTUATION, _SPACE = 1, 2
_ASCII_PUNCTUATION = string.punctuation.encode()
_ASCII_SPACES = bytes(32 if code < 128 and chr(code).isspace() else code for code in range(256))
_LEADS = ((0xC2, 0xE0, 2), (0xE0, 0xF0, 3), (0xF0, 0xF5, 4))
"""The first bytes of characters of two, three and four bytes."""


def words(text: bytes) -> bytes:
    """The words of a text in UTF-8, a space between each two."""
    return spaced(text).strip(b" ")


def spaced(text: bytes) -> bytes:
    """The same with a space before and behind where the text has white space; a byte that is never of UTF-8 stays."""
    text = text.translate(_ASCII_SPACES, _ASCII_PUNCTUATION)
    codes = np.frombuffer(text, np.uint8)
    if not text.isascii():
        codes = _without_other_punctuation(codes)
    is_space = codes == 32
    is_first = np.ones(len(codes), bool)
    is_first[1:] = ~(is_space[1:] & is_space[:-1])
    return codes[is_first].tobytes()


def _without_other_punctuation(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The bytes without the punctuation that is not ASCII, and with a space for other white space."""
    padded = np.concatenate([codes, np.zeros(3, np.uint8)])
    kept = np.ones(len(padded), bool)
    for first, end, length in _LEADS:
        at = np.flatnonzero((padded >= first) & (padded < end))
        points = padded[at].astype(np.int32) & (0x7F >> length)
        for place in range(1, length):
            points = points << 6 | padded[at + place] & 0x3F
        kinds = _kinds()[np.minimum(points, sys.maxunicode)]
        for place in range(length):
            kept[at[kinds == _PUNCTUATION] + place] = False
            kept[at[kinds == _SPACE] + place] = place == 0
        padded[at[kinds == _SPACE]] = 32
    return padded[:-3][kept[:-3]]


@cache
def _kinds() -> NDArray[np.uint8]:
    """Of every character whether it is punctuation or white space."""
    kinds = np.zeros(sys.maxunicode + 1, np.uint8)
    for point in range(128, sys.maxunicode + 1):
        character = chr(point)
        if unicodedata.category(character)[0] == "P":
            kinds[point] = _PUNCTUATION
        elif character.isspace():
            kinds[point] = _SPACE
    return kinds


@dataclass(frozen=True)
class CommonWords:
    """From which count, and from which share of small letters on, a name is a common word."""

    count: int
    share: float

    def excluded(self, names: Sequence[str], capitals: int, lower_case: int) -> str | None:
        """Why the counts of an entity say nothing of it; None where they do.

        names: with its aliases; capitals, lower_case: occurrences of those of one word, with capitals and without.
        """
        cleaned = [words(name.encode()).decode() for name in names]
        if not any(cleaned):
            return "a name without letters or digits"
        if any(len(name) == 1 for name in cleaned):
            return "a single letter or digit, signs removed"
        total = capitals + lower_case
        is_common = total > self.count and lower_case > self.share * total
        return "mostly written in small letters" if is_common else None
