"""What a source of counts declares: its keys in a study file, the parts that are counted, and how one is counted.

A source is one module with one `FrequencySource`, which swaymeter.tasks.frequency names.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from swaymeter.data.options import NamedPath, Options
from swaymeter.data.records import CountedPair, Shard, ShardCount
from swaymeter.data.sources.access import Access

Once = Callable[[Callable[[str], Any], str], Any]
"""Calls a function of a name once in a run, however often the study's steps are listed."""
Progress = Callable[[int, int], None]
"""(what is done, what there is) -> nothing."""


class FrequencyOptions(Options):
    """A corpus in which entities and answers are counted, such as what a model was trained on (docs/frequency.md)."""

    source: str
    """Where they are counted."""
    title: str = Field(default="", max_length=200)
    """What the page calls the corpus; empty: the name of its first file or folder, or of the index."""
    window_words: int = Field(default=50, ge=1, le=1000)
    """How many words an answer may be away from its entity, to count as near it."""
    aliases: NamedPath | None = None
    """A file with other names of entities and answers, which count as theirs: CSV, TSV, JSONL or Parquet with the
    columns name and alias."""
    common_word_count: int = Field(default=50, ge=0)
    """Names of one word that stand in the corpus more often than this, in capitals or not, may be a common word."""
    common_word_share: float = Field(default=0.75, ge=0, le=1)
    """They are one where more than this share of these is in small letters; then figures leave the entity out."""

    @property
    def called(self) -> str:
        """What the page calls the corpus."""
        return self.title or self.default_title

    @property
    def default_title(self) -> str:
        """What it is called where the study gives no title."""
        raise NotImplementedError


@dataclass(frozen=True)
class Part:
    """What is counted in one step, a file of a corpus or an index; what: which the counting needs, picklable.

    key: what its counts depend on beside the names and the window, as JSON values; asks: whether a service is asked.
    """

    name: str
    key: Mapping[str, Any]
    what: Any
    asks: bool = False


@dataclass(frozen=True)
class Counted:
    """The counts of each pair in a part, in the order of the pairs, and what was read."""

    rows: Iterable[ShardCount]
    shard: Shard


@dataclass(frozen=True)
class FrequencySource:
    """A source of counts by its name in study files, and the model of its section.

    parts: (options, access, once) -> what is counted, a step each, without asking anybody; count: (options, part,
    pairs, access, progress) -> the counts of a part. Both raise InputError.
    """

    name: str
    options: type[FrequencyOptions]
    parts: Callable[[Any, Access, Once], Sequence[Part]]
    count: Callable[[Any, Part, tuple[CountedPair, ...], Access, Progress], Counted]
