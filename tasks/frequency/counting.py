"""Counts of names in a corpus, and of pairs of names within a window, in one pass of bounded memory.

    entity count                       occurrences of the entity's names
    capitals count, lower-case count   how often one-word names of the entity occur with capitals, and in lower case
    pair count                         occurrences of the entity's names with an answer at most `window` words before
                                       or after them, in the same document; adjacent words have the distance 1

If a name contains a shorter name of the same entity, such as "New York City" and "New York", one occurrence counts. An
answer within the entity's name is not near the entity. An occurrence with the answer on both sides is counted once.

The text is counted in batches. If the longest name has n words, the last window + 2 n words of a batch are undecided:
an answer near these words may stand in the next batch. So the next batch counts the names that begin with these words.
The next batch also has the window + 2 n words before the undecided words, because answers may stand there, too.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, appendix F; Swaymeter adds the overlap rules.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from swaymeter.data.sources.corpus import Piece
from swaymeter.tasks.frequency.words import Ints, Names, separate_words

BATCH = 2 << 20
"""Bytes of text that are counted in one step."""
SLICE = 1 << 20
"""Characters of a document that are encoded in one step."""
END = b" \xff "
"""The word that separates documents: a byte that never occurs in UTF-8."""


@dataclass
class Counts:
    """Counts of a part of the corpus.

    Attributes:
        entities: (n_pairs,), occurrences of each pair's entity.
        capitals: (n_pairs,), how often the entity's names of one word occur with capitals.
        lower_case: (n_pairs,), how often these names occur in lower case.
        pairs: (n_pairs,), occurrences of the entity with the answer near it.
        documents: number of documents.
        words: number of words.
    """

    entities: Ints
    capitals: Ints
    lower_case: Ints
    pairs: Ints
    documents: int = 0
    words: int = 0


def count(pieces: Iterable[Piece], names: Names, window: int) -> Counts:
    """Count names in a stream of documents.

    Args:
        pieces: the pieces of the documents, in their order.
        names: the names of entities and answers.
        window: the largest distance of an answer from its entity, in words.
    """
    stream = _Stream(names, window)
    for piece in pieces:
        stream.add(piece)
    stream.flush(is_end=True)
    counts = stream.counts
    return Counts(
        entities=counts[names.entity_ids],
        capitals=counts[names.capitals_ids],
        lower_case=counts[names.lower_case_ids],
        pairs=stream.pairs,
        documents=stream.documents,
        words=stream.words,
    )


@dataclass
class _Stream:
    """The counts so far, and the text of the next batch.

    Attributes:
        words: number of decided words.
        buffer: text of the next batch.
        size: bytes of the buffer.
        undecided: index of the first undecided word of the buffer.
        counts: (names.count,), occurrences of each set of names, by its id.
        margin: number of undecided words at the end of a batch, and of words that the next batch has before them.
    """

    names: Names
    window: int
    documents: int = 0
    words: int = 0
    buffer: list[bytes] = field(default_factory=list)
    size: int = 0
    undecided: int = 0

    def __post_init__(self) -> None:
        self.counts = np.zeros(self.names.count, np.int64)
        self.pairs = np.zeros(len(self.names.entity_ids), np.int64)
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
        """Count the decided words; carry the undecided words, and `margin` words before them, to the next buffer."""
        buffer = separate_words(b"".join(self.buffer))
        text = b" " + buffer.strip(b" ") + b" " if buffer.strip(b" ") else b" "
        codes = np.frombuffer(text, np.uint8)
        spaces = np.flatnonzero(codes == 32)
        n_words, tail = len(spaces) - 1, b""  # number of complete words, and the incomplete last word
        if n_words and not is_end and not buffer.endswith(b" "):  # the last word may continue in the next piece
            n_words -= 1
            tail = text[spaces[n_words] + 1 : -1]
        end = n_words if is_end else max(self.undecided, n_words - self.margin)  # first word to stay undecided
        separators = np.searchsorted(spaces, np.flatnonzero(codes == 0xFF)) - 1
        self._count(text, spaces, separators, end)
        self.words += end - self.undecided - int(((separators >= self.undecided) & (separators < end)).sum())
        start = max(0, end - self.margin)
        carried = text[spaces[start] + 1 : spaces[n_words] + 1]
        # A word that is longer than every name matches no name. A placeholder replaces such a word to bound the memory.
        tail = tail if len(tail) <= self.names.longest_word else b"x" * (self.names.longest_word + 1)
        self.buffer, self.size, self.undecided = [carried, tail], 0, end - start

    def _count(self, text: bytes, spaces: Ints, separators: Ints, end: int) -> None:
        """Count the names that begin with a decided word, from `self.undecided` up to `end`.

        Args:
            text: the words of the buffer, each between two spaces.
            spaces: positions of the spaces.
            separators: indices of the words that separate documents.
            end: index of the first word that stays undecided.
        """
        names = self.names
        automaton: Any = names.automaton
        matches = automaton.find_matches_as_indexes(text, overlapping=True) if names.texts else []
        if not matches:
            return
        # Each hit: index of the name in `names.texts`, and first byte and end of its occurrence in `text`.
        hits = np.fromiter(chain.from_iterable(matches), np.int64, 3 * len(matches)).reshape(-1, 3)
        # A hit has a row for each set of names that contains its name. owner: the id of the set; first, last: indices
        # of the first and the last word of the occurrence.
        owner, hit = names.owners.gather(hits[:, 0])
        first = np.searchsorted(spaces, hits[hit, 1])
        last = first + names.lengths[hits[hit, 0]] - 1
        # A position is the index of a word plus a gap, which grows by the window with each document. So no window
        # reaches into another document. `owner * span + position` also keeps windows within their owner.
        gap = self.window * (np.searchsorted(separators, first) + 1)
        span = len(spaces) + self.window * (len(separators) + 3)
        # By owner, then by first word, then the longest first.
        order = np.argsort((owner * span + first) * names.longest - (last - first))
        owner, first, last, gap = (column[order] for column in (owner, first, last, gap))
        is_longest = np.ones(len(owner), bool)  # False within a longer occurrence of the same owner
        key = owner * span + last
        is_longest[1:] = key[1:] > np.maximum.accumulate(key)[:-1]
        owner, first, last, gap = (column[is_longest] for column in (owner, first, last, gap))
        decided = (first >= self.undecided) & (first < end)
        self.counts += np.bincount(owner[decided], minlength=names.count)
        self._count_pairs(owner, first + gap, last + gap, decided, span)

    def _count_pairs(self, owner: Ints, first: Ints, last: Ints, decided: Any, span: int) -> None:
        """Count the decided occurrences of entities with an answer near them.

        Args:
            owner: (n,), the id of the set of names of each occurrence, an entity's or an answer's.
            first: (n,), position of the occurrence's first word; rows are sorted by owner, then by this position.
            last: (n,), position of the occurrence's last word.
            decided: (n,), True for an occurrence that begins with a decided word.
            span: the factor of `owner` in `owner * span + position`.
        """
        answers = self.names.is_answer[owner]
        begins = owner[answers] * span + first[answers]
        ends = np.sort(owner[answers] * span + last[answers])
        if not len(begins):
            return
        pair, occurrence = self.names.pairs.gather(owner[decided])
        # The entity's words get the answer's offset, so that they can be compared with `begins` and `ends`.
        offset = self.names.answer_ids[pair] * span
        first_word, last_word = offset + first[decided][occurrence], offset + last[decided][occurrence]
        # The first answer after the entity's last word, and the last answer that ends before the entity's first word.
        successor = np.searchsorted(begins, last_word, side="right")
        following = (successor < len(begins)) & (
            begins[np.minimum(successor, len(begins) - 1)] <= last_word + self.window
        )
        previous = np.searchsorted(ends, first_word, side="left") - 1
        preceding = (previous >= 0) & (ends[np.maximum(previous, 0)] >= first_word - self.window)
        self.pairs += np.bincount(pair[following | preceding], minlength=len(self.pairs))
