"""The scores of a relation, computed in chunks; each chunk is stored as a part, so that a kill loses only one chunk.

Order: missing measures -> passes -> chunks without a stored part -> rows -> parts -> one file for each measure.
"""

import contextlib
import functools
import importlib.metadata
import itertools
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from swaymeter.data.errors import ScoreError
from swaymeter.data.storage.artifact import TableArtifact
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import Chunk, ComputedRows, Inputs, Measure, Row, chunks_of
from swaymeter.tasks.models.progress import listening

log = logging.getLogger(__name__)

ReportProgress = Callable[[int, int], None]
"""(prompts done, prompts in total) -> None. A measure that reads no prompts counts its queries or questions instead."""
REPORT_SECONDS = 1.0
"""Shortest time between two reports within a chunk."""


@dataclass(frozen=True)
class Cost:
    """Cost of scores.

    Attributes:
        prompts: prompts that were scored or answered.
        forward_passes: calls of models.
        seconds: time.
    """

    prompts: int = 0
    forward_passes: int = 0
    seconds: float = 0.0

    @classmethod
    def total(cls, chunks: Sequence[Mapping[str, Any]]) -> "Cost":
        """Return the total cost of chunks from their notes (the metadata beside their rows)."""
        return cls(**{name: sum(notes[name] for notes in chunks) for name in asdict(cls())})


def measure_relation(
    inputs: Inputs,
    outputs: Mapping[str, TableArtifact],
    load_model: Callable[[], Any],
    progress: ReportProgress = lambda done, total: None,
) -> Cost:
    """Compute and store the missing scores of a relation; derived scores load no model.

    Args:
        inputs: Inputs of the passes. Each pass gets a copy with its own `outputs`, `scores` and `rejected`.
        outputs: Artifacts of the measures, by name.
        load_model: Function that loads the model.
        progress: Function that is called before each chunk, at most once a second within a chunk, and at the end.

    Returns:
        The cost of the computed chunks.
    """
    chunk_notes: list[Mapping[str, Any]] = []
    missing = [name for name, output in outputs.items() if not _is_done(output)]
    for scoring_pass in MEASURES.passes(missing):  # a pass has only missing measures
        stored = {name: outputs[name] for name in scoring_pass.needs if name in outputs}
        scores = {**inputs.scores, **{name: output.read() for name, output in stored.items()}}
        rejected = dict(inputs.rejected)
        for output in stored.values():
            rejected |= rejected_of(output)
        pass_inputs = replace(inputs, outputs=frozenset(scoring_pass.measures), scores=scores, rejected=rejected)
        pass_outputs = {name: outputs[name] for name in scoring_pass.measures}
        chunk_notes += _compute_pass(scoring_pass.leading, pass_inputs, pass_outputs, load_model, progress)
    return Cost.total(chunk_notes)


def _compute_pass(
    measure: Measure,
    inputs: Inputs,
    outputs: Mapping[str, TableArtifact],
    load_model: Callable[[], Any],
    progress: ReportProgress,
) -> list[Mapping[str, Any]]:
    """Compute the missing chunks, join all chunks, and return the notes of the computed chunks."""
    model = load_model() if measure.capability else None
    inputs = _drop_unfit_questions(measure, inputs, model)
    rejected = {"rejected": inputs.rejected} if inputs.rejected else {}
    chunks = chunks_of(measure, inputs, model)
    ends = itertools.accumulate(map(len, chunks))
    bounds = [[end - len(chunk), end] for chunk, end in zip(chunks, ends, strict=True)]
    todo = [
        number
        for number, bound in enumerate(bounds)
        if not all(_is_done(output.part(number), bound) for output in outputs.values())
    ]
    prompts = [count_prompts(measure, inputs, chunk) for chunk in chunks]
    # A measure that reads no prompts counts its queries or questions.
    amounts = prompts if any(prompts) else [_count_items(measure, chunk) for chunk in chunks]
    total = sum(amounts)
    done = total - sum(amounts[number] for number in todo)
    chunk_notes: list[Mapping[str, Any]] = []
    with contextlib.closing(measure.rows_of_chunks(inputs, model, [chunks[number] for number in todo])) as computed:
        models = list(filter(None, (model, measure.other_model(inputs, model))))
        for number in todo:
            progress(done, total)
            with listening(_chunk_reporter(progress, done, amounts[number], total)):
                rows, timing = _next_chunk(computed, models)
            done += amounts[number]
            notes = {"pass": measure.name, "chunk": bounds[number], "prompts": prompts[number], **timing, **rejected}
            chunk_notes.append(notes)
            for name, output in outputs.items():
                # The cost of a pass is noted once, at its leading measure, so that sums over files count nothing twice.
                cost = {} if name == measure.name else asdict(Cost())
                _store(inputs, model, rows[name], output.part(number), {**notes, **cost})
    for output in outputs.values():
        if _is_done(output):  # another worker with the same task may have been faster
            continue
        if chunks:
            _join(output, len(chunks))
        else:  # no chunk: for example, a derived measure has no row for the relation
            log.warning("relation %s: %s has no rows, because it applies to no prompt", inputs.relation, output.name)
            times = {"started_at": _now(), "finished_at": _now()}
            _store(inputs, model, [], output, {"pass": measure.name, **asdict(Cost()), **times, **rejected})
    for output in outputs.values():
        _discard_parts(output, len(chunks))
    progress(total, total)
    return chunk_notes


def _chunk_reporter(progress: ReportProgress, done: int, amount: int, total: int) -> Callable[[float], None]:
    """Return a function that adds up and reports the prompts read in a chunk; the sum is `amount` at most."""
    prompts_read, reported = 0.0, time.monotonic()

    def report(count: float) -> None:
        nonlocal prompts_read, reported
        prompts_read = min(prompts_read + count, amount)
        if time.monotonic() - reported >= REPORT_SECONDS:
            reported = time.monotonic()
            progress(done + int(prompts_read), total)

    return report


def rejected_of(scores: TableArtifact) -> Mapping[str, str]:
    """Return the rejection reasons of questions without stored scores, by id."""
    rejected: Mapping[str, str] = scores.about().get("rejected", {})
    return rejected


def _drop_unfit_questions(measure: Measure, inputs: Inputs, model: Any) -> Inputs:
    """Drop questions that the model cannot read, and add their rejection reasons."""
    reasons = {question.question_id: measure.rejection(inputs, model, question) for question in inputs.questions}
    new = {question: reason for question, reason in reasons.items() if reason is not None}
    names = {question.question_id: question.printable_name for question in inputs.questions}
    if new:  # the notes beside the scores have the reasons of all rejected questions
        first = next(iter(new))
        others = f" and {len(new) - 1} more are" if len(new) > 1 else " is"
        log.warning("relation %s: question %s%s rejected: %s", inputs.relation, names[first], others, new[first])
    rejected = {**inputs.rejected, **new}
    questions = [question for question in inputs.questions if question.question_id not in rejected]
    if inputs.questions and not questions:
        first = inputs.questions[0].question_id
        raise ScoreError(
            f"relation {inputs.relation}: every question is rejected, for example {names[first]}: {rejected[first]}"
        )
    return replace(inputs, questions=questions, rejected=rejected)


def _is_done(artifact: TableArtifact, bounds: Sequence[int] | None = None) -> bool:
    """Return True for a complete artifact; a part must have these bounds, which change with the chunks' sizes."""
    check = artifact.check()
    if check.state != "done":
        return False
    return bounds is None or (check.about or {}).get("chunk") == bounds


def _next_chunk(computed: ComputedRows, models: Sequence[Any]) -> tuple[Mapping[str, Sequence[Row]], dict[str, Any]]:
    started_at, start = _now(), time.perf_counter()
    forward_passes_before = sum(model.forward_passes for model in models)
    rows = next(computed)
    return rows, {
        "started_at": started_at,
        "finished_at": _now(),
        "seconds": time.perf_counter() - start,
        "forward_passes": sum(model.forward_passes for model in models) - forward_passes_before,
    }


def _store(inputs: Inputs, model: Any, rows: Sequence[Row], output: TableArtifact, notes: Mapping[str, Any]) -> None:
    common: dict[str, Any] = {"relation": inputs.relation}
    model_notes: dict[str, Any] = {}
    if model is not None:
        common |= {
            "variant": inputs.variant,
            "model": inputs.label or model.name,
            "model_revision": model.revision,
            "dtype": model.dtype,
            "device": model.placement,
            "dataset_version": inputs.dataset_version,
            "stand_in": None,
        }
        model_notes = {name: getattr(model, name) for name in ("parameters", "hardware", "reading")}
    try:
        table = output.table.of([{**common, **row} for row in rows])
    except ValueError as error:
        raise ScoreError(f"relation {inputs.relation}: {error}") from error
    output.write(table, {**versions(), **model_notes, **notes})


def _join(whole: TableArtifact, count: int) -> None:
    """Write one file from the parts; its notes have the first start, the last end, the total cost and all hardware."""
    parts = [whole.part(number) for number in range(count)]
    notes_of_parts = [part.about() for part in parts]
    notes = {name: value for name, value in notes_of_parts[-1].items() if name != "chunk"}
    notes["started_at"] = min(part_notes["started_at"] for part_notes in notes_of_parts)
    notes["finished_at"] = max(part_notes["finished_at"] for part_notes in notes_of_parts)
    for name, separator in (("hardware", ", "), ("reading", "; ")):
        if values := dict.fromkeys(part_notes[name] for part_notes in notes_of_parts if part_notes.get(name)):
            notes[name] = separator.join(values)
    whole.write(pa.concat_tables([part.read() for part in parts]), notes | asdict(Cost.total(notes_of_parts)))


def _discard_parts(whole: TableArtifact, count: int) -> None:
    """Delete all parts; an earlier run with smaller chunks may have left more than `count` parts."""
    for number in itertools.count():
        part = whole.part(number)
        if number >= count and not part.files():
            return
        part.discard()


def count_prompts(measure: Measure, inputs: Inputs, chunk: Chunk) -> int:
    """Return the number of prompts that a model reads or answers for a chunk."""
    if measure.about == "questions":
        passage_counts = [len(context.passages) for question in chunk for context in question.contexts]
        amounts = {
            "cases": _count_items(measure, chunk),
            # A context of several passages is also read once without each of its passages.
            "left_out": sum(count for count in passage_counts if count > 1),
        }
    else:
        amounts = {"queries": len(chunk), "contexts": inputs.contexts_a_query}
    return measure.count_prompts(inputs.parameters.get(measure.name), **amounts)


def _count_items(measure: Measure, chunk: Chunk) -> int:
    """Return the number of queries, or of questions alone and with each of their contexts."""
    return sum(len(item.cases) for item in chunk) if measure.about == "questions" else len(chunk)


@functools.cache
def versions() -> Mapping[str, str]:
    """Return the versions of the packages that compute scores; they are read once in a process."""
    return {f"{name}_version": importlib.metadata.version(name) for name in ("swaymeter", "torch", "transformers")}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
