"""The words of a text, and the names that are searched for among them.

Words are in UTF-8 and split at white space. Punctuation is removed, also within a word: "Jean-Paul's" becomes
JeanPauls. Punctuation is the Unicode category P and all signs of ASCII such as "$". NumPy removes the punctuation of
many documents together, because even str.split of each document would take longer than the whole count.

A name occurs if its words stand side by side, with the same capitals. The aliases of a name count together with it.

A name of one word, such as May, may also be a common word. The default rule for the names of an entity:

    n     = how often the entity's names of one word occur in the corpus, with their capitals or in lower case
    share = the share of n in lower case; the names are common words if n > 50 and share > 0.75

Only capitals tell a name from a common word, so names in a script without capitals are never common words. An entity is
omitted if an alias is a common word or a single letter, because occurrences of the alias count for the entity.
Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, appendix F, where a tagger decides.
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
"""Table for bytes.translate that turns every white space of ASCII into a space."""
_LEADS = ((0xC2, 0xE0, 2), (0xE0, 0xF0, 3), (0xF0, 0xF5, 4))
"""Lower and upper bound of the first byte, and number of bytes, of characters with several bytes in UTF-8."""


def words(text: bytes) -> bytes:
    """Return the words of a text in UTF-8, separated by one space."""
    return separate_words(text).strip(b" ")


def separate_words(text: bytes) -> bytes:
    """Return the words, separated by one space, with a space for white space at either end; invalid bytes stay."""
    text = text.translate(_ASCII_SPACES, _ASCII_PUNCTUATION)
    codes = np.frombuffer(text, np.uint8)
    if not text.isascii():
        codes = _without_other_punctuation(codes)
    is_space = codes == 32
    keep = np.ones(len(codes), bool)
    keep[1:] = ~(is_space[1:] & is_space[:-1])
    return codes[keep].tobytes()


def _without_other_punctuation(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the bytes without punctuation beyond ASCII, and with a space for other white space."""
    padded = np.concatenate([codes, np.zeros(3, np.uint8)])
    keep = np.ones(len(padded), bool)
    for first, end, length in _LEADS:
        starts = np.flatnonzero((padded >= first) & (padded < end))
        points = padded[starts].astype(np.int32) & (0x7F >> length)  # the first byte's part of the code point
        for offset in range(1, length):
            points = points << 6 | padded[starts + offset] & 0x3F
        kinds = _kinds()[np.minimum(points, sys.maxunicode)]
        for offset in range(length):
            keep[starts[kinds == _PUNCTUATION] + offset] = False
            keep[starts[kinds == _SPACE] + offset] = offset == 0
        padded[starts[kinds == _SPACE]] = 32
    return padded[:-3][keep[:-3]]


@cache
def _kinds() -> NDArray[np.uint8]:
    """Return the kind of every code point: _PUNCTUATION or _SPACE beyond ASCII, otherwise 0."""
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
    """The rule that finds common words.

    Attributes:
        count: a common word occurs more often than this.
        share: a common word has more than this share of its occurrences in lower case.
    """

    count: int
    share: float

    def exclusion_reason(self, names: Sequence[str], capitals: int, lower_case: int) -> str | None:
        """Return the reason why the counts of an entity are not usable; None for usable counts.

        Args:
            names: the name of the entity and its aliases.
            capitals: how often its names of one word occur with capitals.
            lower_case: how often these names occur in lower case.
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
    """Lists of different lengths in two arrays: list i is values[starts[i]:starts[i + 1]]."""

    starts: Ints
    values: Ints

    @classmethod
    def from_lists(cls, lists: Sequence[Iterable[int]]) -> "RaggedArray":
        """Return the array of the lists."""
        values = [list(group) for group in lists]
        starts = np.cumsum([0, *map(len, values)])
        return cls(starts.astype(np.int64), np.array([value for group in values for value in group], dtype=np.int64))

    def gather(self, indices: Ints) -> tuple[Ints, Ints]:
        """Return the values of the lists at `indices` (n,), concatenated, and each value's position in `indices`."""
        first, sizes = self.starts[indices], self.starts[indices + 1] - self.starts[indices]
        positions = np.repeat(np.arange(len(indices)), sizes)
        offsets = np.arange(len(positions)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.values[first[positions] + offsets], positions


class Names:
    """Names of entities and answers. A set of names, such as the name and aliases of an entity, has an id from 0 on.

    Attributes:
        texts: the different names in UTF-8, reduced to words.
        lengths: (n_texts,), number of words of each text.
        owners: for each text, the ids of the sets that contain it.
        count: number of sets.
        entity_ids: (n_pairs,), the id of the names of each pair's entity.
        answer_ids: (n_pairs,), the id of the names of each pair's answer.
        capitals_ids: (n_pairs,), the id of the entity's names of one word, written with capitals.
        lower_case_ids: (n_pairs,), the id of these names, written in lower case.
        is_answer: (count,), True for the names of an answer.
        pairs: for each set, the indices of the pairs whose entity has these names.
        longest: number of words of the longest text.
        longest_word: upper bound of the bytes of a word.
    """

    def __init__(self, pairs: Sequence[CountedPair]) -> None:
        ids: dict[tuple[bytes, ...], int] = {}

        def ids_of(rows: Sequence[Sequence[str]], max_spaces: int | None = None) -> list[int]:
            """Return the id of the names of each row; names with more spaces than `max_spaces` are left out."""
            cleaned = {
                name: text
                for name, text in _reduce([name for names in rows for name in names])
                if text and (max_spaces is None or text.count(b" ") <= max_spaces)
            }
            texts = (tuple(sorted({cleaned[name] for name in names if name in cleaned})) for names in rows)
            return [ids.setdefault(names, len(ids)) for names in texts]

        entities = ids_of([pair.entity_names for pair in pairs])
        cased = [[name for name in pair.entity_names if name.lower() != name.upper()] for pair in pairs]
        capitals = ids_of([[name for name in names if name != name.lower()] for names in cased], max_spaces=0)
        lower_case = ids_of([[name.lower() for name in names] for names in cased], max_spaces=0)
        answers = ids_of([pair.answer_names for pair in pairs])
        self.entity_ids = np.array(entities, np.int64)
        self.capitals_ids = np.array(capitals, np.int64)
        self.lower_case_ids = np.array(lower_case, np.int64)
        self.answer_ids = np.array(answers, np.int64)
        owners: dict[bytes, list[int]] = {}
        for texts, owner in ids.items():
            for text in texts:
                owners.setdefault(text, []).append(owner)
        self.texts = list(owners)
        self.lengths = np.array([text.count(b" ") + 1 for text in self.texts], np.int64)
        self.owners = RaggedArray.from_lists(list(owners.values()))
        self.count = len(ids)
        self.longest = int(self.lengths.max(initial=1))
        self.longest_word = max(map(len, self.texts), default=1)
        pairs_by_entity: list[list[int]] = [[] for _ in ids]
        for pair_index, entity_id in enumerate(entities):
            pairs_by_entity[entity_id].append(pair_index)
        self.pairs = RaggedArray.from_lists(pairs_by_entity)
        self.is_answer = np.zeros(self.count, bool)
        self.is_answer[self.answer_ids] = True

    @cached_property
    def automaton(self) -> object:
        """The Aho-Corasick automaton that finds all texts, each between two spaces, in one pass."""
        from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind

        patterns = [b" " + text + b" " for text in self.texts]
        return BytesAhoCorasick(patterns, matchkind=MatchKind.Standard, implementation=Implementation.ContiguousNFA)


def _reduce(names: Sequence[str]) -> Iterable[tuple[str, bytes]]:
    """Return every name with its words; one call of `words` for all names is faster."""
    texts = words(b" \xff ".join(name.encode("utf-8", "surrogatepass") for name in names)).split(b"\xff")
    return zip(names, (text.strip(b" ") for text in texts), strict=True) if names else ()
