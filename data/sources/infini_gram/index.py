"""What an index of a corpus can be asked: counts of tokens, where they stand, and the text around a place.

An index knows tokens, not words: a name is found in the spellings that they give it, behind a space and elsewhere.

Source: Liu et al. 2024, Infini-gram: Scaling Unbounded n-gram Language Models to a Trillion Tokens.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple, Protocol

Ids = tuple[int, ...]
"""Tokens, by their numbers."""


class Place(NamedTuple):
    """Where tokens stand: in which part of the index, and at which of its bytes."""

    part: int
    byte: int


@dataclass(frozen=True)
class Passage:
    """Text around a place.

    Attributes:
        document: of the index, by part and number.
        first: which token of the part it begins with.
        ids: its tokens.
        at: the one of them that the place is at.
        begins, ends: whether the document does where the passage does.
    """

    document: tuple[int, int]
    first: int
    ids: Ids
    at: int
    begins: bool
    ends: bool


class Tokenizer(Protocol):
    """The tokenizer that an index was made with."""

    def spellings(self, name: str) -> tuple[Ids, ...]:
        """The tokens of a name within a text: behind a space first, and behind a line break, where they are others."""

    def decode(self, ids: Ids) -> str:
        """The text of tokens."""


class Index(Protocol):
    """An index that can be asked. ServiceError or InputError where it cannot.

    Attributes:
        per_word: about how many tokens a word has.
        longest: the most tokens of a passage; an even number.
        reads: whether it can give text for tokens.
    """

    per_word: float
    longest: int
    reads: bool

    def spellings(self, name: str) -> tuple[Ids, ...]:
        """The tokens of a name within a text, in each spelling that is known."""

    def alone(self, word: str) -> tuple[Ids, ...]:
        """The tokens of a word behind a space: elsewhere they may be the end of a longer one."""

    def count(self, ids: Ids) -> int:
        """How often the tokens stand in the corpus; of none, how many tokens it has."""

    def near(self, clauses: Sequence[Sequence[Ids]], tokens: int) -> int:
        """About how often any name of one clause stands at most so many tokens from any of the other; an estimate."""

    def places(self, ids: Ids) -> Sequence[Place]:
        """Every place where the tokens stand."""

    def passage(self, place: Place, ids: Ids, most: int) -> Passage:
        """At most so many tokens around the tokens at a place; `most` is even, and not larger than `longest`."""

    def text(self, ids: Ids) -> str:
        """The text of tokens."""


def passage_of(place: Place, needle: Ids, width: int, most: int, answer: dict[str, object]) -> Passage:
    """The passage in an answer of infini-gram; ValueError where it is shorter than asked, or lacks the tokens.

    A document that may not be shown is a passage that says nothing is before it, or behind it.
    Where an answer does not say at which token of it the place is, this follows from half of `most` being before; where
    the tokens are at two such places, the passage says that nothing is before it.
    """
    ids, number, length = answer["token_ids"], answer["doc_ix"], answer["doc_len"]
    if not isinstance(ids, list) or type(number) is not int or type(length) is not int:
        raise ValueError("no tokens")
    if any(type(one) is not int or not 0 <= one < 256**width for one in ids):
        raise ValueError("tokens that the index does not have")
    found, half, document = tuple(ids), most // 2, (place.part, number)
    if answer.get("blocked"):
        return Passage(document, 0, needle, 0, begins=False, ends=False)
    is_whole = len(found) == length
    offset = answer.get("needle_offset")
    starts = (offset,) if type(offset) is int else range(length) if is_whole else (half, len(found) - half)
    places = sorted({one for one in starts if one >= 0 and found[one : one + len(needle)] == needle})
    if not places:
        raise ValueError("a passage without the tokens that were asked for")
    at = places[0]
    if is_whole:
        return Passage(document, 0, found, at, begins=True, ends=True)
    if len(places) > 1:
        return Passage(document, 0, found, 0, begins=False, ends=False)
    begins, ends = at < half, len(found) - at < half
    if begins and ends:
        raise ValueError("a passage that is shorter than asked for")
    return Passage(document, place.byte // width - at, found, at, begins, ends)


def joined(passages: Iterable[Passage]) -> Iterator[Ids]:
    """The tokens of passages of which some overlap, each token once; of a document that one has whole, that one."""
    ordered = sorted(passages, key=lambda one: (one.document, one.first))
    for _, group in groupby(ordered, lambda one: one.document):
        of_document = list(group)
        if whole := next((one for one in of_document if one.begins and one.ends), None):
            yield whole.ids
            continue
        run, first = list[int](), 0
        for passage in of_document:
            known = first + len(run) - passage.first
            if run and known >= 0:
                run += passage.ids[known:]
            else:
                if run:
                    yield tuple(run)
                run, first = list(passage.ids), passage.first
        yield tuple(run)
