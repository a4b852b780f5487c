"""The words of a text, in UTF-8: without punctuation, split at white space; and the names that are looked for.

Punctuation is what Unicode calls so, and the other signs of ASCII; within a word it is removed, too: "Jean-Paul's" is
JeanPauls. All is done on the bytes of many documents at once: str.split alone takes longer than the whole count.

    n     = occurrences in the corpus of the entity's names of one word, with their capitals or in small letters
    share = of these, the ones in small letters; the names are a common word where n > 50 and share > 0.75

Capitals alone tell whether an occurrence is a name. Names of several words, or of a script without capitals, are never
a common word; one alias that is one, or a single letter, leaves its entity out, as its occurrences are the entity's.
Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, appendix F, with a tagger in its place.

A name is found where its words stand next to each other, with its capitals; its aliases count together with it.
"""

import string
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records.facts import CountedPair

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


Ints = NDArray[np.int64]


@dataclass(frozen=True)
class RaggedArray:
    """Some numbers for each of a row of things: those of thing i are values[starts[i]:starts[i + 1]]."""

    starts: Ints
    values: Ints

    @classmethod
    def of(cls, lists: Sequence[Iterable[int]]) -> "RaggedArray":
        """The groups of these lists."""
        values = [list(group) for group in lists]
        starts = np.cumsum([0, *map(len, values)])
        return cls(starts.astype(np.int64), np.array([v for group in values for v in group], dtype=np.int64))

    def of_each(self, things: Ints) -> tuple[Ints, Ints]:
        """The values of things (n,), one after the other, and which of the n each belongs to."""
        first, sizes = self.starts[things], self.starts[things + 1] - self.starts[things]
        which = np.repeat(np.arange(len(things)), sizes)
        within = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.values[first[which] + within], which


class Names:
    """Names of entities and answers, and of each pair whose they are.

    texts, lengths: what is looked for, cleaned, in UTF-8, and its words; owners: of each text, whose name it is, by
    numbers; entities, answers, capitals, small: of each pair, the numbers of its entity, its answer, and its entity's
    names of one word with capitals and in small letters; pairs: of each number, the pairs whose entity it is; longest,
    longest_word: the words of the longest text, and a bound of the bytes of a word.
    """

    def __init__(self, pairs: Sequence[CountedPair]) -> None:
        """The names of pairs of an entity and an answer."""
        numbers: dict[tuple[bytes, ...], int] = {}

        def numbered(rows: Sequence[Sequence[str]], most_spaces: int | None = None) -> list[int]:
            cleaned = {
                name: text
                for name, text in _cleaned([name for names in rows for name in names])
                if text and (most_spaces is None or text.count(b" ") <= most_spaces)
            }
            texts = (tuple(sorted({cleaned[name] for name in names if name in cleaned})) for names in rows)
            return [numbers.setdefault(names, len(numbers)) for names in texts]

        entities = numbered([pair.entity_names for pair in pairs])
        cased = [[name for name in pair.entity_names if name.lower() != name.upper()] for pair in pairs]
        capitals = numbered([[name for name in names if name != name.lower()] for names in cased], most_spaces=0)
        small = numbered([[name.lower() for name in names] for names in cased], most_spaces=0)
        answers = numbered([pair.answer_names for pair in pairs])
        self.entities, self.capitals, self.small, self.answers = (
            np.array(numbered_names, np.int64) for numbered_names in (entities, capitals, small, answers)
        )
        owners: dict[bytes, list[int]] = {}
        for texts, owner in numbers.items():
            for text in texts:
                owners.setdefault(text, []).append(owner)
        self.texts = list(owners)
        self.lengths = np.array([text.count(b" ") + 1 for text in self.texts], np.int64)
        self.owners = RaggedArray.of(list(owners.values()))
        self.count = len(numbers)
        self.longest = int(self.lengths.max(initial=1))
        self.longest_word = max(map(len, self.texts), default=1)
        of_entity: list[list[int]] = [[] for _ in numbers]
        for pair, entity in enumerate(entities):
            of_entity[entity].append(pair)
        self.pairs = RaggedArray.of(of_entity)
        self.is_answer = np.zeros(self.count, bool)
        self.is_answer[self.answers] = True

    @cached_property
    def automaton(self) -> object:
        """What finds all texts, each between two spaces, in one pass."""
        from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind

        patterns = [b" " + text + b" " for text in self.texts]
        return BytesAhoCorasick(patterns, matchkind=MatchKind.Standard, implementation=Implementation.ContiguousNFA)


def _cleaned(names: Sequence[str]) -> Iterable[tuple[str, bytes]]:
    """Each name with its words, all cleaned at once."""
    texts = words(b" \xff ".join(name.encode("utf-8", "surrogatepass") for name in names)).split(b"\xff")
    return zip(names, (text.strip(b" ") for text in texts), strict=True) if names else ()
