"""Counts in the files of a local corpus, each file in a task of its own; the default source of counts."""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from swaymeter.data.errors import InputError
from swaymeter.data.options import NamedPath
from swaymeter.data.records import CountedPair, Shard, ShardCount
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.corpus import KEY, LEAVE_OUT, Reading, shards
from swaymeter.data.storage.remembered import remembered_digests
from swaymeter.tasks.frequency.counting import count
from swaymeter.tasks.frequency.source import FrequencyOptions, FrequencySource, Once, Part, PartCounts, ReportProgress
from swaymeter.tasks.frequency.words import Names

REMEMBERED = "corpus"
"""The folder for digests of corpus files, within the downloads."""


class CorpusOptions(FrequencyOptions):
    """Count in the files of a local corpus, which are read as a stream."""

    source: Literal["corpus"] = "corpus"
    """The files of a corpus."""
    corpus: tuple[NamedPath, ...] = Field(min_length=1)
    """Files, or folders of files: .jsonl, .json (one object a line), .txt, each also as .zst or .gz, and .parquet."""
    column: str = Field(default="text", min_length=1)
    """The key of the text in a JSON line, or the column of the text in Parquet."""

    @property
    def default_title(self) -> str:
        """Return the name of the first file or folder."""
        return Path(self.corpus[0]).name


def _parts(options: CorpusOptions, access: Access, once: Once) -> Sequence[Part]:
    """Return a part for each file; the digest of a file is computed again if its size or time changed."""
    files = shards(options.corpus)
    try:
        digests = remembered_digests(list(files.values()), access.downloads / REMEMBERED)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(
            f"{KEY}: {error.filename} cannot be read: {reason}; correct the path, or make the file readable"
        ) from None
    return [
        Part(name, {"digest": digest, "column": options.column}, file)
        for (name, file), digest in zip(files.items(), digests, strict=True)
    ]


def _count(
    options: CorpusOptions, part: Part, pairs: tuple[CountedPair, ...], access: Access, progress: ReportProgress
) -> PartCounts:
    """Count pairs in one file; InputError if it is unreadable, has no text, or changed since it was hashed."""
    file: Path = part.argument
    reading = Reading(file, options.column, progress)
    counts = count(reading.pieces(), _names(pairs), options.window_words)
    if not counts.words:
        problem = f" ({reading.problem})" if reading.problem else ""
        raise InputError(f"{file} has no text that can be read{problem}; {LEAVE_OUT}")
    if remembered_digests([file], access.downloads / REMEMBERED) != [part.key["digest"]]:
        raise InputError(f"{file} changed while it was counted; run again once the file is complete")
    arrays = (counts.entities, counts.capitals, counts.lower_case, counts.pairs)
    columns = (array.tolist() for array in arrays)
    rows = (
        ShardCount(
            entity=pair.entity,
            answer=pair.answer,
            entity_count=entity,
            capitals_count=capitals,
            lower_case_count=lower_case,
            pair_count=pair_count,
            entity_counted="words",
            pair_counted="words",
        )
        for pair, entity, capitals, lower_case, pair_count in zip(pairs, *columns, strict=True)
    )
    shard = Shard(
        shard=part.name,
        size=file.stat().st_size,
        read=reading.read,
        documents=counts.documents,
        words=counts.words,
        tokens=None,
        unreadable=reading.unreadable,
        problem=reading.problem,
        digest=part.key["digest"],
        counted_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return PartCounts(rows, shard)


@lru_cache(maxsize=1)
def _names(pairs: tuple[CountedPair, ...]) -> Names:
    """Make the names of the pairs once for all files that a process counts."""
    return Names(pairs)


CORPUS = FrequencySource("corpus", CorpusOptions, _parts, _count)
