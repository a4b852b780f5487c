"""How often names stand in a corpus, and pairs of names within a window, counted in one pass of bounded memory.

    entity count                       occurrences of the entity's names
    capitals count, lower-case count   occurrences of those of one word that have capitals, or are in small letters
    pair count                         occurrences of the entity's names with the answer's at most `window` words away,
                                       on either side, 1 where they stand next to each other; in one document

An occurrence within a longer one of the same entity counts once, with the longer one; an answer within the entity's own
occurrence is not beside it; an entity with three answers around it counts once. What stands near the end of a batch of
text is decided in the next one, which begins with as many words of the last as a window and names can span.
Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, appendix F; rules for what it leaves open are
ours.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from swaymeter.data.sources.corpus import Piece
from swaymeter.tasks.frequency.words import Ints, Names, spaced

BATCH = 2 << 20
"""Bytes of text that are counted at once."""
SLICE = 1 << 20
"""Characters of a document that are taken at once."""
END = b" \xff "
"""Stands between two documents: a byte that UTF-8 does not have."""


@dataclass
class Counts:
    """Counts of each pair: its entity, the names of one word by their letters, and both near each other."""

    entities: Ints
    capitals: Ints
    lower_case: Ints
    pairs: Ints
    documents: int = 0
    words: int = 0


def count(pieces: Iterable[Piece], names: Names, window: int) -> Counts:
    """Counts names in a stream of documents; window: how many words an answer may be away from its entity."""
    stream = _Stream(names, window)
    for piece in pieces:
        stream.add(piece)
    stream.flush(is_end=True)
    entities, capitals, small = (stream.counts[owners] for owners in (names.entities, names.capitals, names.small))
    return Counts(entities, capitals, small, stream.pairs, stream.documents, stream.words)


@dataclass
class _Stream:
    """A corpus as it is read: what was counted, and what is not decided yet."""

    names: Names
    window: int
    documents: int = 0
    words: int = 0
    buffer: list[bytes] = field(default_factory=list)
    size: int = 0
    first: int = 0
    """The first word of the buffer that is not decided yet."""

    def __post_init__(self) -> None:
        self.counts = np.zeros(self.names.count, np.int64)
        self.pairs = np.zeros(len(self.names.entities), np.int64)
        self.margin = self.window + 2 * self.names.longest

    def add(self, piece: Piece) -> None:
        if piece.begins:
            self.documents += 1
            self._append(END)
        for start in range(0, len(piece.text), SLICE):
            self._append(piece.text[start : start + SLICE].encode("utf-8", "surrogatepass"))

    def _append(self, text: bytes) -> None:
        self.buffer.append(text)
        self.size += len(text)
        if self.size >= BATCH:
            self.flush(is_end=False)

    def flush(self, *, is_end: bool) -> None:
        """Counts what the buffer decides; the rest begins the next one."""
        read = spaced(b"".join(self.buffer))
        text = b" " + read.strip(b" ") + b" " if read.strip(b" ") else b" "
        codes = np.frombuffer(text, np.uint8)
        spaces = np.flatnonzero(codes == 32)
        number, tail = len(spaces) - 1, b""
        if number and not is_end and not read.endswith(b" "):  # the last word may go on
            number -= 1
            tail = text[spaces[number] + 1 : -1]
        end = number if is_end else max(self.first, number - self.margin)
        ends = np.searchsorted(spaces, np.flatnonzero(codes == 0xFF)) - 1
        self._count(text, spaces, ends, end)
        self.words += end - self.first - int(((ends >= self.first) & (ends < end)).sum())
        kept = max(0, end - self.margin)
        carried = text[spaces[kept] + 1 : spaces[number] + 1]
        tail = tail if len(tail) <= self.names.longest_word else b"x" * (self.names.longest_word + 1)
        self.buffer, self.size, self.first = [carried, tail], 0, end - kept

    def _count(self, text: bytes, spaces: Ints, ends: Ints, end: int) -> None:
        names = self.names
        automaton: Any = names.automaton
        matches = automaton.find_matches_as_indexes(text, overlapping=True) if names.texts else []
        if not matches:
            return
        # Text, first and last byte of every occurrence of a name.
        hits = np.fromiter(chain.from_iterable(matches), np.int64, 3 * len(matches)).reshape(-1, 3)
        owner, which = names.owners.of_each(hits[:, 0])
        first = np.searchsorted(spaces, hits[which, 1])
        last = first + names.lengths[hits[which, 0]] - 1
        # Distances over the end of a document are longer than any window. Positions begin behind a window, too, so that
        # looking back from the first leads to no other name's.
        gap = self.window * (np.searchsorted(ends, first) + 1)
        span = len(spaces) + self.window * (len(ends) + 3)
        order = np.argsort((owner * span + first) * names.longest - (last - first))
        owner, first, last, gap = (column[order] for column in (owner, first, last, gap))
        alone = np.ones(len(owner), bool)
        key = owner * span + last
        alone[1:] = key[1:] > np.maximum.accumulate(key)[:-1]
        owner, first, last, gap = (column[alone] for column in (owner, first, last, gap))
        decided = (first >= self.first) & (first < end)
        self.counts += np.bincount(owner[decided], minlength=names.count)
        self._count_pairs(owner, first + gap, last + gap, decided, span)

    def _count_pairs(self, owner: Ints, first: Ints, last: Ints, decided: Any, span: int) -> None:
        """Adds the decided occurrences of entities that have their answer near them."""
        answers = self.names.is_answer[owner]
        begins = owner[answers] * span + first[answers]
        ends = np.sort(owner[answers] * span + last[answers])
        if not len(begins):
            return
        pair, which = self.names.pairs.of_each(owner[decided])
        answer = self.names.answers[pair] * span
        before, after = answer + first[decided][which], answer + last[decided][which]
        next_one = np.searchsorted(begins, after, side="right")
        following = (next_one < len(begins)) & (begins[np.minimum(next_one, len(begins) - 1)] <= after + self.window)
        previous = np.searchsorted(ends, before, side="left") - 1
        preceding = (previous >= 0) & (ends[np.maximum(previous, 0)] >= before - self.window)
        self.pairs += np.bincount(pair[following | preceding], minlength=len(self.pairs))
