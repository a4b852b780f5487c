"""Snapshots of completed runs: the headline numbers, and what was asked and answered.

A snapshot is two files that are written once and stay: the numbers, with how far each moved since the run before, and
the items that are not as they were. What a run was is all items up to it, the last state of each.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from swaymeter.data.digests import identity
from swaymeter.data.records.history import ItemKind
from swaymeter.data.records.table import Table
from swaymeter.data.records.tables import FACTS, HISTORY, HISTORY_ITEMS, QUESTIONS
from swaymeter.data.storage.artifact import write_manifest
from swaymeter.data.storage.files import write_parquet
from swaymeter.data.storage.history import STEMS, Key, history_files, state_of
from swaymeter.flows.graph.step import Step
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.models.endpoints.endpoint import SERVED
from swaymeter.tasks.statistics.history import KEPT, as_state, frames_of, group_of, moved, states
from swaymeter.tasks.statistics.models import MODEL_QUERIES

NUMBERS = "models_side_by_side"
OF_ITEMS = (*MODEL_QUERIES, "question_contexts")
"""The named queries that answers and queries follow from."""
SOURCES: Mapping[ItemKind, Table] = {"fact": FACTS, "question": QUESTIONS}
"""The items that come from a source, and their tables."""
RUN: Key = ("run", "", "", "run")
"""The item of the run itself: its number, and when it was complete."""
PROGRAMS = ("swaymeter", "torch", "transformers")
PAIRED = {
    "same": "n", "mean_before": "against_mean", "change": "difference", "change_low": "low", "change_high": "high",
    "p": "p", "p_adjusted": "p_adjusted", "verdict": "verdict",
}  # fmt: skip
"""What a headline number has of the paired difference of two runs."""


@dataclass(frozen=True)
class Snapshot:
    """What a step keeps. is_complete: whether the run is; variants: rows of that table; seed: of the study."""

    is_complete: bool = False
    variants: tuple[Mapping[str, Any], ...] = ()
    seed: int = 0


def keep_history(
    step: Step, snapshot: Snapshot, warehouse: Any, runs: Sequence[Mapping[str, Any]]
) -> dict[Table, list[Path]]:
    """Add the snapshot of a complete run to those before, and return all files that are as they were written.

    A run that asked nothing, and in which no item changed, leaves none.

    Args:
        step: Step that makes the database and the history.
        snapshot: Settings of the run.
        warehouse: Database of the run, with its statistics.
        runs: Rows of the table `runs`.
    """
    artifact: Any = step.outputs["history"]
    folder: Path = artifact.folder
    files = history_files(folder)
    if snapshot.is_complete:
        _add(step, snapshot, warehouse, runs, files)
    written = [path for of_table in files.values() for path in of_table]
    write_manifest(artifact.manifest, artifact.key, written)
    return files


def settings(asked: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What a run asked with, by name, of rows of the query `asked_with`: prompts, decodings, seeds, labelled models."""
    rows = list(asked)
    texts = dict[str, str]()
    for row in rows:
        named = f"prompt {row['prompt_name']}" if row["prompt_name"] else "prompt"
        prompt = json.loads(row["prompt"] or "{}")
        texts |= {f"{named}.{key}": json.dumps(value, ensure_ascii=False) for key, value in prompt.items()}
        texts |= {f"decoding {row['decoding']}": row["decoding_parameters"] or "none"} if row["decoding"] else {}
    called = {f"model called {row['label']} ({row['dtype']})": row["model"] for row in rows if row["label"]}
    return {"seed": ", ".join(sorted({str(row["seed"]) for row in rows})), **texts, **called}


def _add(
    step: Step, snapshot: Snapshot, warehouse: Any, runs: Sequence[Mapping[str, Any]], files: dict[Table, list[Path]]
) -> None:
    """Write the snapshot of this run, and add its files."""
    last, before = state_of(files[HISTORY_ITEMS])
    number, at = last + 1, datetime.now(UTC).isoformat(timespec="seconds")
    frames = _frames(snapshot, warehouse)
    now = states(frames) | _sources(step) | _settings(step, runs, snapshot)
    changed: dict[Key, str | None] = {key: state for key, state in now.items() if before.get(key) != state}
    changed |= dict.fromkeys(before.keys() - now.keys() - {RUN})
    if last and not changed and _asked_at(runs) <= json.loads(before[RUN])["completed_at"]:
        return
    others = {key[1:3] for key in changed if key[0] in KEPT}  # models in which something changed
    then, today = ({key: state for key, state in of.items() if key[1:3] in others} for of in (before, now))
    changes = moved(frames_of(then), frames_of(today), snapshot.seed) if others and last else []
    changed[RUN] = as_state({"run": number, "completed_at": at})
    rows = {
        HISTORY: _numbers(frames[NUMBERS], changes, others if last else None, number, at),
        HISTORY_ITEMS: [
            {"run": number, "kind": key[0], "model": key[1], "dtype": key[2], "item": key[3], "state": changed[key]}
            for key in sorted(changed)
        ],
    }  # fmt: skip
    for table, of_table in rows.items():
        stem = f"{STEMS[table]}-{number:06d}"
        about = {"columns": table.schema.names}
        files[table].append(write_parquet(step.outputs["history"].folder, stem, table.of(of_table), about))


def _asked_at(runs: Iterable[Mapping[str, Any]]) -> str:
    """When the last of the scores was computed, in the form of `completed_at`."""
    return max((str(row["finished_at"]) for row in runs), default="")


def _frames(snapshot: Snapshot, warehouse: Any) -> dict[str, Any]:
    """Return the answers, the queries and the headline numbers; models that have a label are called by it."""
    frames = {name: warehouse.frame(name) for name in (*OF_ITEMS, NUMBERS)}
    for name in (*MODEL_QUERIES, NUMBERS):
        of_rows = frames[name]["model"].astype(object)
        for variant in snapshot.variants:
            is_of = (frames[name]["model"] == variant["model"]) & (frames[name]["dtype"] == variant["dtype"])
            of_rows = of_rows.mask(is_of, variant["label"] or variant["model"])
        frames[name] = frames[name].assign(model=of_rows)
    answers, texts = frames["answers_of_questions"], frames["question_contexts"]
    keys = ["relation", "question_id", "context_id"]
    frames["answers_of_questions"] = answers.merge(texts[[*keys, "text"]], on=keys, how="left")
    return frames


def _sources(step: Step) -> dict[Key, str]:
    """The facts and questions, each under the digest of what it says."""
    kept = dict[Key, str]()
    for kind, table in SOURCES.items():
        columns = [column.name for column in table.columns if column.counts or column.name == "partition"]
        for artifact in step.inputs_of(table):
            for row in artifact.read().select(columns).to_pylist():
                state = as_state(row)
                kept[kind, "", "", identity(state)] = state
    return kept


def _settings(step: Step, runs: Iterable[Mapping[str, Any]], snapshot: Snapshot) -> dict[Key, str]:
    """What was asked with, measured with which parameters, and which versions of models and programs answered."""
    found: dict[str, Any] = settings({**variant, "seed": snapshot.seed} for variant in snapshot.variants)
    called = {one["variant"]: f"{one['label'] or one['model']} ({one['dtype']})" for one in snapshot.variants}
    done = step.tables_read
    revisions = {artifact.key: artifact.made_from["parameters"].get("revision") for artifact, _ in done}
    for row in runs:
        name, where = called[row["variant"]], "server" if row["dtype"] == SERVED else "hardware"
        versions = {f"revision of {name}": revisions[row["key"]], f"{where} of {name}": row["hardware"]}
        versions |= {program: row[f"{program}_version"] for program in PROGRAMS}
        versions[f"version of measure {row['measure']}"] = str(row["measure_version"])
        found |= {what: value for what, value in versions.items() if value}
    for artifact, _ in done:
        if (measure := artifact.table.name) in MEASURES:
            found |= _parameters(measure, artifact.made_from["output"][1]["parameters"])
    return {("setting", "", "", name): json.dumps(value, ensure_ascii=False) for name, value in found.items()}


def _parameters(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The parameters of a measure, each under its place in a study file, such as answers.max_new_tokens."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _parameters(f"{name}.{key}", inner)
    else:
        yield name, "none" if value is None else value


def _numbers(
    frame: Any, changes: Sequence[Mapping[str, Any]], others: Collection[tuple[str, str]] | None, number: int, at: str
) -> list[dict[str, Any]]:
    """The rows of `history`: each headline number, with its paired change.

    others: the models in which something changed, whose changes are paired; None in a first run.
    """
    paired = {(row["model"], row["dtype"], row["quantity"], row["group"]): row for row in map(with_change, changes)}
    plain = frame.astype(object)
    rows = []
    for row in plain.where(plain.notna(), None).to_dict("records"):
        is_same = others is not None and (row["model"], row["dtype"]) not in others
        same = {"same": row["n"], "mean_before": row["mean"], "change": 0.0} if is_same else {}
        change = paired.get((row["model"], row["dtype"], row["quantity"], row["group"]), same)
        rows.append(
            {"run": number, "completed_at": at}
            | {name: row[name] for name in HISTORY.schema.names if name in row}
            | {name: change.get(name) for name in PAIRED}
        )
    return rows


def with_change(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of `ModelDifference` between two runs, in the columns of `history`."""
    return {**row, "group": group_of(row), **{name: row[of] for name, of in PAIRED.items()}}
