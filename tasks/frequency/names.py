"""The names that are looked for in a corpus: an automaton of all of them, and whose names they are.

A name is found where its words stand next to each other, with its capitals; its aliases count together with it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.records.facts import CountedPair
from swaymeter.tasks.frequency.words import words

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
