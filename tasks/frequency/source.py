"""The declaration of a source of counts: its keys in a study file, its parts, and the function that counts one part.

A source is one module with one `FrequencySource`, which swaymeter.tasks.frequency registers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from swaymeter.data.options import NamedPath, Options
from swaymeter.data.records import CountedPair, Shard, ShardCount
from swaymeter.data.sources.access import Access

Once = Callable[[Callable[[str], Any], str], Any]
"""(function, text) -> function(text); equal calls of a run are computed once. A text is for example a model's name."""
ReportProgress = Callable[[int, int], None]
"""(units done, units in total) -> None."""


class FrequencyOptions(Options):
    """Count entities and answers in a corpus, such as the training data of a model (docs/frequency.md)."""

    source: str
    """The source of the counts."""
    title: str = Field(default="", max_length=200)
    """The name of the corpus on the page; by default, the name of the index, or of the first file or folder."""
    window_words: int = Field(default=50, ge=1, le=1000)
    """The largest distance of an answer from its entity, in words."""
    aliases: NamedPath | None = None
    """A file with further names of entities and answers: CSV, TSV, JSONL or Parquet with the columns name and alias."""
    common_word_count: int = Field(default=50, ge=0)
    """A name of one word that occurs more often than this, with capitals or without, may be a common word."""
    common_word_share: float = Field(default=0.75, ge=0, le=1)
    """A frequent name is a common word if more than this share of its occurrences is in small letters. Figures omit its
    entity."""

    @property
    def corpus_name(self) -> str:
        """Return the name of the corpus on the page."""
        return self.title or self.default_title

    @property
    def default_title(self) -> str:
        """Return the name of a corpus without a title."""
        raise NotImplementedError


@dataclass(frozen=True)
class Part:
    """A part of the corpus that one task counts, such as a file or an index.

    Attributes:
        name: the name of the part.
        key: JSON values for the key of the counts, in addition to the names and the window.
        argument: a further input of the counting function, such as a path; picklable.
        uses_network: True if counting sends requests to a service.
    """

    name: str
    key: Mapping[str, Any]
    argument: Any
    uses_network: bool = False


@dataclass(frozen=True)
class PartCounts:
    """The counts of a part.

    Attributes:
        rows: the counts of every pair, in the order of the pairs.
        shard: size, digest and number of documents of the part.
    """

    rows: Iterable[ShardCount]
    shard: Shard


@dataclass(frozen=True)
class FrequencySource:
    """A source of counts.

    Attributes:
        name: the value of `source` in a study file.
        options: the class that validates the section `frequency` of a study file.
        parts: (options, access, once) -> the parts of the corpus, without a request to a service.
        count: (options, part, pairs, access, progress) -> the counts of one part.

    `parts` raises InputError. `count` raises InputError, ModelError or ServiceError.
    """

    name: str
    options: type[FrequencyOptions]
    parts: Callable[[Any, Access, Once], Sequence[Part]]
    count: Callable[[Any, Part, tuple[CountedPair, ...], Access, ReportProgress], PartCounts]
