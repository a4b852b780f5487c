"""Counts in an index of infini-gram by its public API: in words for rare names, in tokens for frequent names.

A pair has an entity count, and a pair count of the entity near the answer. A name is rare if it occurs at most `fetch`
times. Each count has one of three kinds:

    words        the entity count of a rare entity; the pair count if the entity or the answer is rare. The passages
                 around all occurrences of the rare name are counted in words, like a corpus
    tokens       any other entity count: occurrences of the tokens of all names. If a name contains another name of the
                 entity, only the shorter name is counted
    approximate  any other pair count: the index estimates how often the two names stand near each other, in tokens

On each side of the name, a passage has at least window + 2 n words, for a longest name of n words, unless its document
ends there. A name is frequent, too, if a passage is shorter, or if the number of listed occurrences differs from the
count of the index. Overlapping passages are merged, so that no word is counted twice.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from math import ceil
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from swaymeter.data.errors import InputError, SwaymeterError
from swaymeter.data.records import CountedPair, Shard, ShardCount
from swaymeter.data.records.facts import CountKind
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.corpus import Piece
from swaymeter.data.sources.infini_gram import Ids, InfiniGramApi, Passage, merge_passages
from swaymeter.data.sources.source import with_advice
from swaymeter.tasks.frequency.counting import Counts, count
from swaymeter.tasks.frequency.source import FrequencyOptions, FrequencySource, Once, Part, PartCounts, ReportProgress
from swaymeter.tasks.frequency.words import Names, words

if TYPE_CHECKING:
    from swaymeter.tasks.models.tokenizer import Tokenizer


_CACHE_SIZE = 16
"""Number of names whose passages stay in memory for other pairs with the same name."""
_PASSAGE_MARGIN = 8
"""Factor of the tokens of a passage over the average tokens of its words, because some words have many tokens."""


class IndexCounts:
    """Counts in an index.

    Args:
        index: the client of the public API.
        window: the largest distance of an answer from its entity, in words.
        fetch: the largest number of occurrences of a rare name, whose passages are read.
    """

    def __init__(self, index: InfiniGramApi, window: int, fetch: int) -> None:
        self.index, self.window, self.fetch = index, window, fetch
        self._spellings, self._count = cache(index.spellings), cache(index.count)
        self._texts = lru_cache(maxsize=_CACHE_SIZE)(self._read)

    def count_pairs(
        self, pairs: Sequence[CountedPair], progress: ReportProgress = lambda done, total: None
    ) -> list[ShardCount]:
        """Return the counts of every pair, in the order of the pairs."""
        rows, reach = [], self._reach(pairs)
        for done, pair in enumerate(pairs, 1):
            rows.append(self._row(pair, reach))
            progress(done, len(pairs))
        return rows

    def _row(self, pair: CountedPair, reach: int) -> ShardCount:
        """Return the counts of a pair, in words if passages of the entity, or else of the answer, can be read."""
        entity, answer = self._name_tokens(pair.entity_names), self._name_tokens(pair.answer_names)
        entity_count, answer_count = (sum(map(self._count, names)) for names in (entity, answer))
        kinds: tuple[CountKind, CountKind] = ("words", "words")  # of the entity count and of the pair count
        if (texts := self._texts(entity, entity_count, reach)) is not None:
            counts = self._in_words(pair, texts)
            entity_count, pair_count = int(counts.entities[0]), int(counts.pairs[0])
        elif (texts := self._texts(answer, answer_count, reach)) is not None:
            pair_count, kinds = int(self._in_words(pair, texts).pairs[0]), ("tokens", "words")
        else:
            by_frequency = [sorted(names, key=self._count, reverse=True) for names in (entity, answer)]
            tokens = ceil(self.window * self.index.tokens_per_word)
            pair_count = 0
            if entity_count and answer_count:
                pair_count = min(entity_count, self.index.near(by_frequency, tokens))
            kinds = ("tokens", "approximate")
        single_words = [name for name in pair.entity_names if len(words(name.encode()).split()) == 1]
        names_with_case = [name for name in single_words if name.lower() != name.upper()]
        capitalised_names = {name for name in names_with_case if name != name.lower()}
        lower_case_names = {name.lower() for name in names_with_case}
        return ShardCount(
            entity=pair.entity,
            answer=pair.answer,
            entity_count=entity_count,
            pair_count=pair_count,
            capitals_count=self._count_single_words(capitalised_names),
            lower_case_count=self._count_single_words(lower_case_names),
            entity_counted=kinds[0],
            pair_counted=kinds[1],
        )

    def _in_words(self, pair: CountedPair, texts: Sequence[str]) -> Counts:
        return count([Piece(text, begins=True) for text in texts], Names([pair]), self.window)

    def _count_single_words(self, names: set[str]) -> int:
        return sum(self._count(ids) for ids in {ids for name in names for ids in self.index.after_space(name)})

    def _name_tokens(self, names: Sequence[str]) -> tuple[Ids, ...]:
        """Return the tokens of every name with words; a spelling that contains another spelling is dropped."""
        spellings = {ids for name in names if words(name.encode()) for ids in self._spellings(name)}
        shortest: list[Ids] = []
        for ids in sorted(spellings, key=lambda ids: (len(ids), ids)):
            if not any(_contains(ids, shorter) for shorter in shortest):
                shortest.append(ids)
        return tuple(shortest)

    def _reach(self, pairs: Sequence[CountedPair]) -> int:
        """Return the number of words that a passage needs on each side of a name to show if the other name is near."""
        names = {name for pair in pairs for name in (*pair.entity_names, *pair.answer_names)}
        return self.window + 2 * max((len(words(name.encode()).split()) for name in names), default=0)

    def _read(self, names: tuple[Ids, ...], total: int, reach: int) -> Sequence[str] | None:
        """Return the texts around all `total` occurrences of names; None for too many, or if a text cannot be read."""
        if total > self.fetch or not self.index.can_decode:
            return None
        positions = {ids: self.index.occurrences(ids) for ids in names}
        if any(len(starts) != self._count(ids) for ids, starts in positions.items()):
            return None
        # The limit is even, because half of the requested tokens stand before the name.
        limit = 2 * min(ceil(_PASSAGE_MARGIN * reach * self.index.tokens_per_word), self.index.max_passage_tokens // 2)
        passages = [(self.index.passage(start, ids, limit), ids) for ids in names for start in positions[ids]]
        if not all(self._reaches(passage, ids, reach) for passage, ids in passages):
            return None
        return [self.index.text(ids) for ids in merge_passages(passage for passage, _ in passages)]

    def _reaches(self, passage: Passage, ids: Ids, reach: int) -> bool:
        """Return True if a passage has `reach` words on each side of a name, or reaches the end of its document."""
        before, after = passage.ids[: passage.at], passage.ids[passage.at + len(ids) :]
        reaches_before = passage.begins or self._word_count(before) >= reach
        return reaches_before and (passage.ends or self._word_count(after) >= reach)

    def _word_count(self, ids: Ids) -> int:
        return len(words(self.index.text(ids).encode("utf-8", "replace")).split())


def _contains(ids: Ids, part: Ids) -> bool:
    return any(ids[start : start + len(part)] == part for start in range(len(ids) - len(part) + 1))


SERVICE = "infini_gram"
_ADVICE = "or count a corpus of your own (`source: corpus`)"


class InfiniGramOptions(FrequencyOptions):
    """Count in an index of infini-gram by its public API: in tokens, and in words for rare names."""

    source: Literal["infini-gram"]
    """Count in an index of infini-gram by its public API."""
    index: str = Field(pattern=r"^[\w.-]+$", max_length=200)
    """Name of the index, such as v4_piletrain_llama."""
    tokenizer: str | None = None
    """A model with the tokenizer of the index: an alias, a hub id or a folder. Without it, only tokens are counted."""
    fetch: int = Field(default=50, ge=0, le=10_000)
    """The largest number of occurrences of a name that is counted in words; each occurrence takes a request."""

    @property
    def default_title(self) -> str:
        """Return the name of the index."""
        return self.index


def _parts(options: InfiniGramOptions, access: Access, once: Once) -> Sequence[Part]:
    from swaymeter.tasks.models.tokenizer import tokenizer_revision

    try:
        tokenizer = once(tokenizer_revision, options.tokenizer) if options.tokenizer else None
    except SwaymeterError as error:
        raise InputError(f"frequency.tokenizer: {error}") from None
    address = access.address(SERVICE)
    key = {"tokenizer": tokenizer, "fetch": options.fetch, "index": options.index, "address": address}
    return [Part(options.index, key, None, uses_network=True)]


def _count(
    options: InfiniGramOptions, part: Part, pairs: tuple[CountedPair, ...], access: Access, progress: ReportProgress
) -> PartCounts:
    """Count pairs in the index; raises ModelError and ServiceError."""
    from swaymeter.tasks.models.tokenizer import load_tokenizer

    tokenizer: Tokenizer | None = load_tokenizer(options.tokenizer) if options.tokenizer else None
    with with_advice(_ADVICE):
        index = InfiniGramApi(access.session(SERVICE), options.index, tokenizer)
        rows = IndexCounts(index, options.window_words, options.fetch).count_pairs(pairs, progress)
        tokens = index.count(())  # of the whole index
    shard = Shard(
        shard=part.name,
        size=None,
        read=None,
        documents=None,
        words=None,
        tokens=tokens,
        unreadable=0,
        problem=None,
        digest="",
        counted_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return PartCounts(rows, shard)


INFINI_GRAM = FrequencySource("infini-gram", InfiniGramOptions, _parts, _count)
