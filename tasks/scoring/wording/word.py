"""The parts of a text that all of this package hands on."""

from collections.abc import Iterable
from typing import NamedTuple

Texts = tuple[str, ...]
"""Words as they are compared."""


def word_set(text: str) -> frozenset[str]:
    """The words of a text, for a table of words."""
    return frozenset(text.split())


class Token(NamedTuple):
    """A part of a text as it was written.

    kind: word, number (in figures), sign (of comparison) or character (of a script without spaces); text: as it was
    written; folded: as it is compared; clause: whether punctuation stands before it; joined: whether a hyphen, or being
    of one word in katakana, joins it to the token before; glued: whether nothing separates it from that; stems: what it
    may be without a suffix, a prefix or a particle.
    """

    kind: str
    text: str
    folded: str
    clause: bool = False
    joined: bool = False
    glued: bool = False
    stems: tuple[str, ...] = ()


class Word(NamedTuple):
    """A normalised word.

    clause, joined and stems as of a token; capitals: 0 none, 1 its first letter, 2 all its letters; article: whether
    "the" or "a" stood before it; kind: word, number, ordinal, roman (a number in Roman numerals behind a name), unit or
    sign.
    """

    text: str
    clause: bool = False
    joined: bool = False
    capitals: int = 0
    article: bool = False
    kind: str = "word"
    stems: tuple[str, ...] = ()


def texts_of(name: Iterable[Word]) -> Texts:
    """The words as they are compared."""
    return tuple(word.text for word in name)
