"""Scores of a relation are computed in chunks: each is a file of its own until all are there, so a kill costs one.

chunks whose parts are stored are skipped -> compute -> a part of every measure -> the whole files
"""

import contextlib
import importlib.metadata
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

import pyarrow as pa

from data.records.table import Table
from tasks.measures.chunks import chunks_of
from tasks.measures.measure import Amounts, Chunk, Computed, Inputs, Measure, Rows
from tasks.measures.provenance import provenance

Progress = Callable[[int, int], None]
"""Called with the chunks that are done and the chunks that there are."""


class Artifact(Protocol):
    """A stored table; see data.storage.artifact."""

    @property
    def table(self) -> Table:
        """The table of its rows."""

    def is_done(self) -> bool:
        """Whether it is there, can be read, and was made from what it should be."""

    def read(self) -> pa.Table:
        """Its rows."""

    def about(self) -> dict[str, Any]:
        """What was written beside the rows."""

    def write(self, rows: pa.Table, about: Mapping[str, Any]) -> None:
        """Writes the rows, whole or not at all."""

    def part(self, number: int) -> "Artifact":
        """One chunk of it."""

    def discard(self) -> None:
        """Removes it where it is there."""


@dataclass(frozen=True)
class Spent:
    """What was spent in one call: prompts scored or answered, calls of models, and time in seconds."""

    prompts: int = 0
    forward_passes: int = 0
    seconds: float = 0.0


def measure_relation(
    measure: Measure,
    inputs: Inputs,
    outputs: Mapping[str, Artifact],
    load_model: Callable[[], Any],
    progress: Progress = lambda done, total: None,
    *,
    force: bool = False,
) -> Spent:
    """Computes and stores the scores of a relation that are not stored yet.

    Args:
        measure: whose `compute` is used: the leading one of a pass, see tasks.measures.passes.
        inputs: what the pass reads; its `outputs` are set here.
        outputs: the artifacts of the measures of the pass, by name. Those that are done are left alone.
        load_model: called once, where something is missing and the measure needs a language model.
        progress: called before every chunk and at the end.
        force: whether what is stored is discarded, once the model is loaded, and computed again.

    Returns:
        What was spent here; what the files took in all stands beside their rows.
    """
    missing = {name: output for name, output in outputs.items() if force or not output.is_done()}
    if not missing:
        return Spent()
    inputs = replace(inputs, outputs=frozenset(missing))
    model = load_model() if measure.capability else None
    chunks = chunks_of(measure, inputs, model)
    if force:
        for output in missing.values():
            output.discard()
            _discard_parts(output, len(chunks))
    bounds = [
        [end - len(chunk), end] for chunk, end in zip(chunks, itertools.accumulate(map(len, chunks)), strict=True)
    ]
    todo = [
        number
        for number in range(len(chunks))
        if not all(_holds(output.part(number), bounds[number]) for output in missing.values())
    ]
    spent = Spent()
    with contextlib.closing(measure.compute(inputs, model, [chunks[number] for number in todo])) as computed:
        for number in todo:
            progress(number, len(chunks))
            rows, about = _next(computed, model)
            amounts = _amounts(measure, inputs, chunks[number])
            about["prompts"] = measure.count_prompts(amounts, inputs.parameters.get(measure.name))
            _store(
                measure,
                inputs,
                model,
                rows,
                {name: output.part(number) for name, output in missing.items()},
                {**about, "chunk": bounds[number]},
            )
            spent = Spent(
                spent.prompts + about["prompts"],
                spent.forward_passes + about["forward_passes"],
                spent.seconds + about["seconds"],
            )
    for output in missing.values():
        _join(output, len(chunks))
    for output in missing.values():
        _discard_parts(output, len(chunks))
    progress(len(chunks), len(chunks))
    return spent


def _holds(part: Artifact, bounds: Sequence[int]) -> bool:
    """Whether a part is done and of these items: another version may have cut them in other places."""
    return part.is_done() and part.about().get("chunk") == bounds


def _next(computed: Computed, model: Any) -> tuple[Rows, dict[str, Any]]:
    """The rows of the next chunk, and what they took."""
    started, clock, passes = _now(), time.perf_counter(), _forward_passes(model)
    rows = next(computed)
    return rows, {
        "started_at": started,
        "finished_at": _now(),
        "seconds": time.perf_counter() - clock,
        "forward_passes": _forward_passes(model) - passes + rows.forward_passes,
    }


def _store(
    measure: Measure,
    inputs: Inputs,
    model: Any,
    rows: Rows,
    parts: Mapping[str, Artifact],
    about: Mapping[str, Any],
) -> None:
    common = {"relation": inputs.relation, **(provenance(inputs, model) if model else {})}
    for name, part in parts.items():
        complete = part.table.of([{**common, **row} for row in rows.by_measure[name]])
        part.write(complete, {**versions(), "pass": measure.name, **about})


def _join(whole: Artifact, count: int) -> None:
    parts = [whole.part(number) for number in range(count)]
    abouts = [part.about() for part in parts]
    total = {
        "started_at": min(about["started_at"] for about in abouts),
        "finished_at": max(about["finished_at"] for about in abouts),
        **{name: sum(about[name] for about in abouts) for name in ("seconds", "forward_passes", "prompts")},
    }
    kept = {name: value for name, value in abouts[-1].items() if name != "chunk"}
    whole.write(pa.concat_tables([part.read() for part in parts]), {**kept, **total})


def _discard_parts(whole: Artifact, count: int) -> None:
    """Discards the parts, and those of another cut into more of them."""
    for number in itertools.count():
        part = whole.part(number)
        if number >= count and not part.is_done():
            return
        part.discard()


def _amounts(measure: Measure, inputs: Inputs, chunk: Chunk) -> Amounts:
    if measure.about == "questions":
        return Amounts(questions=len(chunk))
    return Amounts(queries=len(chunk), contexts=len(inputs.contexts))


def _forward_passes(model: Any) -> int:
    return model.forward_passes if model else 0


def versions() -> dict[str, str]:
    """The versions that scores are computed with."""
    return {f"{name}_version": importlib.metadata.version(name) for name in ("swaymeter", "torch", "transformers")}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
