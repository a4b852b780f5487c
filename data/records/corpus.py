"""Rows about a corpus: the pairs whose names are looked for, its shards, and how often names stand in them."""

from dataclasses import dataclass
from typing import Annotated, Literal

from swaymeter.data.records.row import Meaning, table

CountKind = Literal["words", "tokens", "approximate"]
"""What a count is of: words, as in decision 0050; tokens of an index, in the spellings of a name; or an estimate."""


@table("counted_pairs", "an entity and an answer that are looked for in the corpus", key=("entity", "answer"))
class CountedPair:
    """An entity that is asked about and its answer, each with all of its names."""

    entity: Annotated[str, Meaning("the entity asked about")]
    answer: Annotated[str, Meaning("its answer, as in queries")]
    entity_names: Annotated[tuple[str, ...], Meaning("the entity's name and its aliases")]
    answer_names: Annotated[tuple[str, ...], Meaning("the answer and its aliases")]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCount:
    """The counts of a pair."""

    entity: Annotated[str, Meaning("the entity asked about")]
    answer: Annotated[str, Meaning("its answer, as in queries")]
    entity_count: Annotated[int, Meaning("occurrences of the entity's names")]
    capitals_count: Annotated[int, Meaning("occurrences of those names of one word that have capitals")]
    lower_case_count: Annotated[int, Meaning("occurrences of those names of one word in small letters")]
    pair_count: Annotated[int, Meaning("occurrences of the entity's names with the answer's within the window")]
    entity_counted: Annotated[CountKind, Meaning("what entity_count is of: words, tokens, or approximate")]
    pair_counted: Annotated[CountKind, Meaning("what pair_count is of: words, tokens, or approximate")]


@table("shard_counts", "a pair of names in a shard of the corpus", key=("entity", "answer"))
@dataclass(frozen=True, slots=True, kw_only=True)
class ShardCount(PairCount):
    """How often a pair stands in a shard."""


@table("shards", "a file of the corpus, or an index of it, that was counted", key=("shard",))
@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A file of the corpus, and what was read of it; or an index."""

    shard: Annotated[str, Meaning("the name of the file or index")]
    size: Annotated[int | None, Meaning("of the file; NULL of an index", "bytes")]
    read: Annotated[int | None, Meaning("of text and what is around it, unpacked; NULL of an index", "bytes")]
    documents: Annotated[int | None, Meaning("texts that were read; NULL of an index")]
    words: Annotated[int | None, Meaning("words that were read; NULL of an index")]
    tokens: Annotated[int | None, Meaning("tokens of the index; NULL of a file")]
    unreadable: Annotated[int, Meaning("lines that were left out, of a text file bytes that are not UTF-8")]
    problem: Annotated[str | None, Meaning("where the first of these stands, and what is wrong; NULL where none does")]
    digest: Annotated[str, Meaning("of the file's bytes; of an index, of the names and sizes of its files")]
    counted_at: Annotated[str, Meaning("when it was counted (UTC, ISO 8601)", counts=False)]


@table("frequencies", "a pair of names in the whole corpus", key=("entity", "answer"))
@dataclass(frozen=True, slots=True, kw_only=True)
class Frequency(PairCount):
    """How often an entity stands in the corpus, and how often near its answer."""

    excluded: Annotated[str | None, Meaning("why the counts say nothing of the entity; NULL where they do")]
    corpus: Annotated[str, Meaning("what the study calls the corpus")]
    window_words: Annotated[int, Meaning("how many words an answer may be away from its entity")]
    shards: Annotated[int, Meaning("files of the corpus that were read, or indexes")]
    documents: Annotated[int | None, Meaning("texts that were read; NULL of an index")]
    words: Annotated[int | None, Meaning("words that were read; NULL of an index")]
    tokens: Annotated[int | None, Meaning("tokens of the index; NULL of files")]
    counted_at: Annotated[str, Meaning("when the last file or index was counted (UTC, ISO 8601)", counts=False)]
