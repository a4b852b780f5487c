"""Scores of a relation are computed in chunks: each is a file of its own until all are there, so a kill costs one.

measures that are not stored -> passes -> chunks whose parts are not stored -> compute -> parts -> whole files
"""

import contextlib
import importlib.metadata
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from data.storage.artifact import TableArtifact
from tasks.measures.chunks import chunks_of
from tasks.measures.measure import Amounts, Chunk, Computed, Inputs, Measure, Rows
from tasks.measures.passes import passes
from tasks.measures.provenance import provenance

_NOTHING = {"prompts": 0, "forward_passes": 0, "seconds": 0.0}

Progress = Callable[[int, int], None]
"""Called with the chunks that are done and the chunks that there are."""


@dataclass(frozen=True)
class Spent:
    """What was spent in one call: prompts scored or answered, calls of models, and time in seconds."""

    prompts: int = 0
    forward_passes: int = 0
    seconds: float = 0.0

    def plus(self, about: Mapping[str, Any]) -> "Spent":
        """With what was spent on a chunk, too."""
        return Spent(
            self.prompts + about["prompts"],
            self.forward_passes + about["forward_passes"],
            self.seconds + about["seconds"],
        )


def measure_relation(
    inputs: Inputs,
    outputs: Mapping[str, TableArtifact],
    load_model: Callable[[], Any],
    progress: Progress = lambda done, total: None,
    *,
    not_before: datetime | None = None,
) -> Spent:
    """Computes and stores the scores of a relation that are not stored yet.

    What can be derived from stored scores is, also from those of another output: no model is loaded for it.

    Args:
        inputs: what the passes read; `outputs` is set here.
        outputs: the artifacts of the measures that are asked for, by name. Those that are done are left alone.
        load_model: called where something is missing and its measure needs a language model.
        progress: called before every chunk of a pass and at the end.
        not_before: scores that were written earlier count as missing; they stay until newer ones take their place.

    Returns:
        What was spent here; what the files took in all stands beside their rows.
    """
    spent = Spent()
    missing = [name for name, output in outputs.items() if not _is_done(output, not_before)]
    for scoring_pass in passes(missing):
        stored = {name: outputs[name].read() for name in scoring_pass.needs if name in outputs}
        of_pass = replace(inputs, outputs=frozenset(scoring_pass.measures), scores={**inputs.scores, **stored})
        of_outputs = {name: outputs[name] for name in scoring_pass.measures}
        spent = _run(scoring_pass.leading, of_pass, of_outputs, load_model, progress, not_before, spent)
    return spent


def _run(
    measure: Measure,
    inputs: Inputs,
    outputs: Mapping[str, TableArtifact],
    load_model: Callable[[], Any],
    progress: Progress,
    not_before: datetime | None,
    spent: Spent,
) -> Spent:
    model = load_model() if measure.capability else None
    chunks = chunks_of(measure, inputs, model)
    bounds = [
        [end - len(chunk), end] for chunk, end in zip(chunks, itertools.accumulate(map(len, chunks)), strict=True)
    ]
    todo = [
        number
        for number, of_chunk in enumerate(bounds)
        if not all(_is_done(output.part(number), not_before, of_chunk) for output in outputs.values())
    ]
    with contextlib.closing(measure.compute(inputs, model, [chunks[number] for number in todo])) as computed:
        for number in todo:
            progress(number, len(chunks))
            of_chunk = {"chunk": bounds[number], "prompts": count_prompts(measure, inputs, chunks[number])}
            rows, took = _next(computed, model)
            about = {**of_chunk, **took}
            for name, output in outputs.items():
                # What a pass took is noted once, at its leading measure: sums over files count nothing twice.
                noted = about if name == measure.name else {**about, **_NOTHING}
                _store(measure, inputs, model, rows, output.part(number), noted)
            spent = spent.plus(about)
    for output in outputs.values():
        _join(output, len(chunks))
    for output in outputs.values():
        _discard_parts(output, len(chunks))
    progress(len(chunks), len(chunks))
    return spent


def _is_done(artifact: TableArtifact, not_before: datetime | None, bounds: Sequence[int] | None = None) -> bool:
    """Whether an artifact is done, new enough, and, for a part, of these items: they may have been cut otherwise."""
    check = artifact.check()
    if check.state != "done" or (not_before and check.made_at and check.made_at < not_before):
        return False
    return bounds is None or (check.about or {}).get("chunk") == bounds


def _next(computed: Computed, model: Any) -> tuple[Rows, dict[str, Any]]:
    """The rows of the next chunk, and what they took."""
    started, clock, before = _now(), time.perf_counter(), _forward_passes(model)
    rows = next(computed)
    return rows, {
        "started_at": started,
        "finished_at": _now(),
        "seconds": time.perf_counter() - clock,
        "forward_passes": _forward_passes(model) - before + rows.forward_passes,
    }


def _store(
    measure: Measure, inputs: Inputs, model: Any, rows: Rows, part: TableArtifact, about: Mapping[str, Any]
) -> None:
    common = {"relation": inputs.relation, **(provenance(inputs, model) if model else {})}
    complete = part.table.of([{**common, **row} for row in rows.by_measure[part.table.name]])
    part.write(complete, {**versions(), "pass": measure.name, **about})


def _join(whole: TableArtifact, count: int) -> None:
    parts = [whole.part(number) for number in range(count)]
    abouts = [part.about() for part in parts]
    total = {
        "started_at": min(about["started_at"] for about in abouts),
        "finished_at": max(about["finished_at"] for about in abouts),
        **{name: sum(about[name] for about in abouts) for name in _NOTHING},
    }
    about = {name: value for name, value in abouts[-1].items() if name != "chunk"}
    whole.write(pa.concat_tables([part.read() for part in parts]), {**about, **total})


def _discard_parts(whole: TableArtifact, count: int) -> None:
    """Discards the parts, and those of another cut into more of them."""
    for number in itertools.count():
        part = whole.part(number)
        if number >= count and not part.files():
            return
        part.discard()


def count_prompts(measure: Measure, inputs: Inputs, chunk: Chunk) -> int:
    """How many prompts a model reads or answers for a chunk."""
    amounts = (
        Amounts(questions=len(chunk))
        if measure.about == "questions"
        else Amounts(queries=len(chunk), contexts=len(inputs.contexts))
    )
    return measure.count_prompts(amounts, inputs.parameters.get(measure.name))


def _forward_passes(model: Any) -> int:
    return model.forward_passes if model else 0


def versions() -> dict[str, str]:
    """The versions that scores are computed with."""
    return {f"{name}_version": importlib.metadata.version(name) for name in ("swaymeter", "torch", "transformers")}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
