"""The steps that count the names of a study in a corpus: the names, each shard, and the whole."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from data.errors import InputError
from data.records import CountedPair, Frequency, Shard, ShardCount
from data.sources.corpus.reading import LEAVE_OUT, Reading
from flows.graph.step import Run, Step
from tasks.frequency.common_words import CommonWords
from tasks.frequency.counting import count
from tasks.frequency.names import Names

log = logging.getLogger(__name__)
SHOWN = 5
"""Names that a warning shows at most."""


@dataclass(frozen=True)
class ShardFile:
    """A shard to be counted: its name, where it is, and how it is read."""

    name: str
    file: Path
    digest: str
    column: str
    window: int


def collect_names(step: Step, run: Run) -> None:
    """Writes the pairs of entity and answer that the queries ask about, each with its aliases.

    InputError where aliases are given, and all of them of other names.
    """
    aliases: Mapping[str, tuple[str, ...]] = step.arguments
    pairs: set[tuple[str, str]] = set()
    for role in step.inputs:
        rows = step.table(role).read()
        pairs |= set(zip(rows["entity"].to_pylist(), rows["answer"].to_pylist(), strict=True))
    if unused := sorted(aliases.keys() - set(chain.from_iterable(pairs))):
        some = ", ".join(map(repr, unused[:SHOWN])) + ", …" * (len(unused) > SHOWN)
        problem = f"frequency.aliases: {len(unused):,} of {len(aliases):,} names are no entity and no answer: {some}"
        if len(unused) == len(aliases):
            raise InputError(f"{problem}; the column name holds names as the facts write them")
        log.warning("%s", problem)
    step.write(
        "counted_pairs",
        (
            CountedPair(entity, answer, (entity, *aliases.get(entity, ())), (answer, *aliases.get(answer, ())))
            for entity, answer in sorted(pairs)
        ),
    )


def count_shard(step: Step, run: Run) -> None:
    """Counts the names in a shard; InputError where it cannot be read to its end, or has no text."""
    shard: ShardFile = step.arguments
    pairs = step.records("counted_pairs", CountedPair)
    reading = Reading(shard.file, shard.column, run.progress)
    counts = count(reading.pieces(), _names(tuple(pairs)), shard.window)
    if not counts.words:
        problem = f" ({reading.problem})" if reading.problem else ""
        raise InputError(f"{shard.file} has no text that can be read{problem}; {LEAVE_OUT}")
    columns = (one.tolist() for one in (counts.entities, counts.capitals, counts.lower_case, counts.pairs))
    step.write(
        "shard_counts",
        (
            ShardCount(
                entity=pair.entity,
                answer=pair.answer,
                entity_count=entity,
                capitals_count=capitals,
                lower_case_count=small,
                pair_count=both,
            )
            for pair, entity, capitals, small, both in zip(pairs, *columns, strict=True)
        ),
    )
    row = Shard(
        shard=shard.name, size=shard.file.stat().st_size, read=reading.read,
        documents=counts.documents, words=counts.words, unreadable=reading.unreadable, problem=reading.problem,
        digest=shard.digest, counted_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )  # fmt: skip
    step.write("shards", [row])


@lru_cache(maxsize=1)
def _names(pairs: tuple[CountedPair, ...]) -> Names:
    """The names, made once for the shards that a process counts one after the other."""
    return Names(pairs)


def add_up(step: Step, run: Run) -> None:
    """Adds up the counts of all shards, and says of which entities they say nothing."""
    limits: CommonWords
    limits, window, title = step.arguments
    pairs = step.records("counted_pairs", CountedPair)
    columns = ("entity_count", "capitals_count", "lower_case_count", "pair_count")
    totals, shards = np.zeros((len(columns), len(pairs)), np.int64), list[Shard]()
    for role in step.inputs:
        if role.startswith("shard_counts"):
            rows = step.table(role).read()
            totals += [rows[name].to_numpy() for name in columns]
        elif role.startswith("shards"):
            shards += step.records(role, Shard)
    read: dict[str, Any] = {
        "corpus": title, "window_words": window, "shards": len(shards),
        "documents": sum(shard.documents for shard in shards), "words": sum(shard.words for shard in shards),
        "counted_at": max(shard.counted_at for shard in shards),
    }  # fmt: skip
    step.write(
        "frequencies",
        (
            Frequency(
                entity=pair.entity, answer=pair.answer, entity_count=entity, capitals_count=capitals,
                lower_case_count=small, pair_count=both,
                excluded=limits.excluded(pair.entity_names, capitals, small), **read,
            )
            for pair, (entity, capitals, small, both) in zip(pairs, totals.T.tolist(), strict=True)
        ),
    )  # fmt: skip
