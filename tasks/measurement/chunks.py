"""Scores are computed in chunks: each is a file of its own until all are there, so a kill costs at most one of them."""

import importlib.metadata
import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from data.errors import DamagedFile
from data.records import Query
from data.storage.workspace import Stored, Workspace, read_metadata

log = logging.getLogger(__name__)

LEAST_QUERIES = 32
LEAST_PROMPTS = 8192
"""What a chunk of queries holds at least, if there is as much: enough to keep a machine busy, little enough to lose."""

Chunk = TypeVar("Chunk", bound=Sequence[Any])
Thing = TypeVar("Thing")

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""The rows of each measure of a family, by the measure's name."""

Progress = Callable[[int, int], None]
"""Called with the chunks that are done and the chunks that there are."""


@dataclass(frozen=True)
class Spent:
    """What a piece of work took: prompts scored or answered, calls of the model, and time in seconds."""

    prompts: int = 0
    forward_passes: int = 0
    seconds: float = 0.0


class CountsForwardPasses(Protocol):
    """Whatever counts the calls of its model."""

    @property
    def forward_passes(self) -> int:
        """Calls of the model so far."""


class NoModel:
    """What counts no calls, since no model is asked."""

    forward_passes = 0


def no_progress(done: int, total: int) -> None:
    """Shows nothing."""


def missing(wanted: Mapping[str, Stored]) -> dict[str, Stored]:
    """The files that are still to be made; a damaged one is named in the log and made again."""
    found = {}
    for name, whole in wanted.items():
        if not whole.exists():
            found[name] = whole
            continue
        try:
            whole.read()
        except DamagedFile as error:
            log.warning("%s: it is computed again", error)
            found[name] = whole
    return found


def forget(wanted: Mapping[str, Stored]) -> None:
    """Removes the files and their parts, so that all of them are computed again."""
    for whole in wanted.values():
        whole.remove()
    _remove_parts(wanted)


def compute_in_chunks(
    workspace: Workspace,
    wanted: Mapping[str, Stored],
    chunks: Sequence[Chunk],
    compute: Callable[[Chunk], Rows],
    *,
    prompts: Callable[[Chunk], int],
    counter: CountsForwardPasses,
    about: Mapping[str, Any],
    progress: Progress = no_progress,
) -> Spent:
    """Makes the wanted files of a family, chunk by chunk; chunks whose parts are all there are not computed again.

    `compute` gives the rows of every measure of a chunk, `prompts` how many prompts that takes; `about` is what is
    the same for every row of the family and is kept beside the scores. Gives what was spent in this call.
    """
    files = missing(wanted)
    spent_here = Spent()
    start = 0
    for number, chunk in enumerate(chunks if files else ()):
        progress(number, len(chunks))
        parts = {name: workspace.part(whole, number) for name, whole in files.items()}
        bounds = [start, start + len(chunk)]
        start += len(chunk)
        if all(_holds(part, bounds) for part in parts.values()):
            continue
        started, passes_before, clock = _now(), counter.forward_passes, time.perf_counter()
        rows = compute(chunk)
        spent: dict[str, Any] = {
            "started_at": started,
            "finished_at": _now(),
            "seconds": time.perf_counter() - clock,
            "forward_passes": counter.forward_passes - passes_before,
            "prompts": prompts(chunk),
            "chunk": bounds,
        }
        for name, part in parts.items():
            part.write(part.table.of(rows[name]), {**about, **spent})
        spent_here = Spent(
            spent_here.prompts + spent["prompts"],
            spent_here.forward_passes + spent["forward_passes"],
            spent_here.seconds + spent["seconds"],
        )
    for whole in files.values():
        _join(workspace, whole, len(chunks), about)
    _remove_parts(wanted)
    progress(len(chunks), len(chunks))
    return spent_here


def _remove_parts(wanted: Mapping[str, Stored]) -> None:
    for whole in wanted.values():
        for leftover in whole.path.parent.glob(f"{whole.path.stem}.part-*.parquet"):
            leftover.unlink()


def _holds(part: Stored, bounds: list[int]) -> bool:
    """Whether a part is done and of these rows: an older run may have cut the work in other places."""
    return part.is_done() and read_metadata(part.path)["about"].get("chunk") == bounds


def _join(workspace: Workspace, whole: Stored, count: int, about: Mapping[str, Any]) -> None:
    parts = [workspace.part(whole, number) for number in range(count)]
    spent = [read_metadata(part.path)["about"] for part in parts]
    total = {
        "started_at": min(one["started_at"] for one in spent),
        "finished_at": max(one["finished_at"] for one in spent),
        "seconds": sum(one["seconds"] for one in spent),
        "forward_passes": sum(one["forward_passes"] for one in spent),
        "prompts": sum(one["prompts"] for one in spent),
    }
    whole.write(pa.concat_tables([part.read() for part in parts]), {**about, **total})


def cut(things: Sequence[Thing], size: int) -> list[Sequence[Thing]]:
    """The things in chunks of `size`, the last one perhaps smaller."""
    return [things[start : start + size] for start in range(0, len(things), size)]


def cut_by_form(queries: Sequence[Query], each: int) -> list[Sequence[Query]]:
    """The queries in chunks; each: what one of them takes, in prompts or what costs as much. Forms stand together.

    Queries of a form begin with the same words, which an engine then reads once, and are about as long.
    """
    ordered = sorted(queries, key=lambda query: (query.query_type, query.form))
    return cut(ordered, max(LEAST_QUERIES, math.ceil(LEAST_PROMPTS / max(each, 1))))


def versions() -> dict[str, str]:
    """The versions that scores are computed with."""
    return {f"{name}_version": importlib.metadata.version(name) for name in ("swaymeter", "torch", "transformers")}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
