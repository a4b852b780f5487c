"""Counts in an index of infini-gram, by its public API: in tokens, and in words where names are rare.

    words        the entity, or for the pair the rarer of entity and answer, stands at most `fetch` times: the passages
                 around all of these places are read, and their words counted as those of a corpus
    tokens       the places where the tokens of the entity's names stand, of a name within another the shorter's alone
    approximate  both are frequent: how often the rarer one stands near the other, in tokens, as the index estimates it

A passage reaches as many words to each side as a window and the longest name can take; where it does not, or where
there are other places than counted, nothing is read. Passages that overlap are joined, so that a word counts once.
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
from swaymeter.data.sources.infini_gram import Ids, InfiniGramApi, Passage, joined
from swaymeter.data.sources.source import alternative
from swaymeter.tasks.frequency.counting import Counts, count
from swaymeter.tasks.frequency.source import Counted, FrequencyOptions, FrequencySource, Once, Part, Progress
from swaymeter.tasks.frequency.words import Names, words

if TYPE_CHECKING:
    from swaymeter.tasks.models.tokenizer import Tokenizer


_KEPT = 16
"""Names of which passages are kept, for further pairs of an entity."""
_AMPLE = 8
"""Times as many tokens as words usually have are read to each side."""


class IndexCounts:
    """Counts in an index; window: how many words an answer may be away from its entity.

    fetch: the most places of a name around which passages are read.
    """

    def __init__(self, index: InfiniGramApi, window: int, fetch: int) -> None:
        self.index, self.window, self.fetch = index, window, fetch
        self._spellings, self._count = cache(index.spellings), cache(index.count)
        self._texts = lru_cache(maxsize=_KEPT)(self._read)

    def of(self, pairs: Sequence[CountedPair], progress: Progress = lambda done, total: None) -> list[ShardCount]:
        """The counts of each pair, in their order."""
        rows, reach = [], self._reach(pairs)
        for done, pair in enumerate(pairs, 1):
            rows.append(self._row(pair, reach))
            progress(done, len(pairs))
        return rows

    def _row(self, pair: CountedPair, reach: int) -> ShardCount:
        entity, answer = self._spelled(pair.entity_names), self._spelled(pair.answer_names)
        often, answers = (sum(map(self._count, names)) for names in (entity, answer))
        kinds: tuple[CountKind, CountKind] = ("words", "words")
        if (texts := self._texts(entity, often, reach)) is not None:
            counts = self._in_words(pair, texts)
            often, near = int(counts.entities[0]), int(counts.pairs[0])
        elif (texts := self._texts(answer, answers, reach)) is not None:
            near, kinds = int(self._in_words(pair, texts).pairs[0]), ("tokens", "words")
        else:
            by_number = [sorted(names, key=self._count, reverse=True) for names in (entity, answer)]
            tokens = ceil(self.window * self.index.per_word)
            near = min(often, self.index.near(by_number, tokens)) if often and answers else 0
            kinds = ("tokens", "approximate")
        of_one_word = [name for name in pair.entity_names if len(words(name.encode()).split()) == 1]
        cased = [name for name in of_one_word if name.lower() != name.upper()]
        capitals, small = {name for name in cased if name != name.lower()}, {name.lower() for name in cased}
        return ShardCount(
            entity=pair.entity, answer=pair.answer, entity_count=often, pair_count=near,
            capitals_count=self._total(capitals), lower_case_count=self._total(small),
            entity_counted=kinds[0], pair_counted=kinds[1],
        )  # fmt: skip

    def _in_words(self, pair: CountedPair, texts: Sequence[str]) -> Counts:
        return count([Piece(text, begins=True) for text in texts], Names([pair]), self.window)

    def _total(self, names: set[str]) -> int:
        return sum(self._count(ids) for ids in {ids for name in names for ids in self.index.alone(name)})

    def _spelled(self, names: Sequence[str]) -> tuple[Ids, ...]:
        """The tokens of each name that has words, without those within which others of them stand."""
        known = {ids for name in names if words(name.encode()) for ids in self._spellings(name)}
        every = sorted(known, key=lambda ids: (len(ids), ids))
        return tuple(ids for place, ids in enumerate(every) if not any(_within(short, ids) for short in every[:place]))

    def _reach(self, pairs: Sequence[CountedPair]) -> int:
        """How many words a passage has to reach to each side, so that it has what decides about each pair."""
        names = {name for pair in pairs for name in (*pair.entity_names, *pair.answer_names)}
        return self.window + 2 * max((len(words(name.encode()).split()) for name in names), default=0)

    def _read(self, names: tuple[Ids, ...], places: int, reach: int) -> Sequence[str] | None:
        """The text around all places of names; None where they are too many, or not all of it can be trusted."""
        if places > self.fetch or not self.index.reads:
            return None
        at = {ids: self.index.places(ids) for ids in names}
        if any(len(of_name) != self._count(ids) for ids, of_name in at.items()):
            return None
        most = 2 * min(ceil(_AMPLE * reach * self.index.per_word), self.index.longest // 2)
        passages = [(self.index.passage(place, ids, most), ids) for ids in names for place in at[ids]]
        if not all(self._reaches(passage, ids, reach) for passage, ids in passages):
            return None
        return [self.index.text(ids) for ids in joined(passage for passage, _ in passages)]

    def _reaches(self, passage: Passage, ids: Ids, reach: int) -> bool:
        before, after = passage.ids[: passage.at], passage.ids[passage.at + len(ids) :]
        return (passage.begins or self._words_of(before) >= reach) and (passage.ends or self._words_of(after) >= reach)

    def _words_of(self, ids: Ids) -> int:
        return len(words(self.index.text(ids).encode("utf-8", "replace")).split())


def _within(short: Ids, long: Ids) -> bool:
    return any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))


SERVICE = "infini_gram"
_INSTEAD = "or count a corpus of your own (`source: corpus`)"


class InfiniGramOptions(FrequencyOptions):
    """An index of infini-gram, by its public API: counts of tokens, and of words where few."""

    source: Literal["infini-gram"]
    """An index of infini-gram."""
    index: str = Field(pattern=r"^[\w.-]+$", max_length=200)
    """Name of the index, such as v4_piletrain_llama."""
    tokenizer: str | None = None
    """A model that has the index's tokenizer: an alias, a hub id or a folder. Without it, no document is read."""
    fetch: int = Field(default=50, ge=0, le=10_000)
    """The most places of a name around which the text is read, to count words; a request each."""

    @property
    def default_title(self) -> str:
        """The name of the index."""
        return self.index


def _parts(options: InfiniGramOptions, access: Access, once: Once) -> Sequence[Part]:
    from swaymeter.tasks.models.tokenizer import tokenizer_revision

    try:
        tokenizer = once(tokenizer_revision, options.tokenizer) if options.tokenizer else None
    except SwaymeterError as error:
        raise InputError(f"frequency.tokenizer: {error}") from None
    address = access.address(SERVICE)
    key = {"tokenizer": tokenizer, "fetch": options.fetch, "index": options.index, "address": address}
    return [Part(options.index, key, None, asks=True)]


def _count(
    options: InfiniGramOptions, part: Part, pairs: tuple[CountedPair, ...], access: Access, progress: Progress
) -> Counted:
    from swaymeter.tasks.models.tokenizer import load_tokenizer

    tokenizer: Tokenizer | None = load_tokenizer(options.tokenizer) if options.tokenizer else None
    with alternative(_INSTEAD):
        index = InfiniGramApi(access.session(SERVICE), options.index, tokenizer)
        rows = IndexCounts(index, options.window_words, options.fetch).of(pairs, progress)
        tokens = index.count(())
    read = Shard(
        shard=part.name, size=None, read=None, documents=None, words=None, tokens=tokens, unreadable=0, problem=None,
        digest="", counted_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )  # fmt: skip
    return Counted(rows, read)


INFINI_GRAM = FrequencySource("infini-gram", InfiniGramOptions, _parts, _count)
