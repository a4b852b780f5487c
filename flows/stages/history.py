"""Snapshots of completed runs: headline numbers, and the items (such as replies) that changed since the run before."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from swaymeter.data.dataset.snapshot import Snapshot, as_state, models_of
from swaymeter.data.records.history import HistoryRow
from swaymeter.data.storage.artifact import write_manifest
from swaymeter.data.storage.history_files import ItemId, last_items, snapshot_files, write_snapshot
from swaymeter.flows.graph.graph import Step
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.models.endpoints.endpoint import SERVED
from swaymeter.tasks.statistics.changes import compare_snapshots, model_pairs

HEADLINE_QUERY = "models_side_by_side"
"""Named query of the headline numbers."""
RUN: ItemId = ("run", "", "", "run")
"""Identity (kind, model, dtype, item) of the item with the number of the run and the time of its end."""
PROGRAMS = ("swaymeter", "torch", "transformers")
"""Programs whose versions are items of a snapshot."""
CHANGE_COLUMNS = {
    "same": "n",
    "mean_before": "against_mean",
    "change": "difference",
    "change_low": "low",
    "change_high": "high",
    "p": "p",
    "p_adjusted": "p_adjusted",
    "direction": "direction",
}
"""Column of a comparison, for each column of `HistoryRow` on the change since the run before."""


@dataclass(frozen=True)
class SnapshotSettings:
    """Settings of a run for its snapshot.

    Attributes:
        is_complete: True if every step is done; otherwise the run has no snapshot.
        variants: Rows of the table `variants`.
        seed: Seed of the study.
    """

    is_complete: bool = False
    variants: tuple[Mapping[str, Any], ...] = ()
    seed: int = 0


def add_snapshot(
    step: Step, settings: SnapshotSettings, warehouse: Any, score_files: Sequence[Mapping[str, Any]]
) -> list[Path]:
    """Add the snapshot of a complete run with new scores or changed items, and return the files of undamaged snapshots.

    Args:
        step: Step that makes the database and the history.
        settings: Settings of the run.
        warehouse: Database of the run, with its statistics.
        score_files: Rows of the table `runs`, one for each stored file of scores.
    """
    artifact: Any = step.outputs["history"]
    files = snapshot_files(artifact.folder)
    if settings.is_complete:
        current = Snapshot.from_database(warehouse, "the database", _versions(step, score_files, settings))
        headline_numbers = warehouse.frame(HEADLINE_QUERY)
        if rows := _snapshot_rows(last_items(files), current, headline_numbers, score_files, settings):
            files.append(write_snapshot(artifact.folder, rows))
    write_manifest(artifact.manifest, artifact.key, files)
    return files


def _snapshot_rows(
    last: tuple[int, dict[ItemId, str]],
    snapshot: Snapshot,
    headline_numbers: Any,
    score_files: Iterable[Mapping[str, Any]],
    settings: SnapshotSettings,
) -> list[HistoryRow]:
    """Return the rows of the snapshot of a run; empty for a run with neither new scores nor changed items.

    `last` has the number of the last run with a snapshot (0 without such a run), and the items of that run.
    """
    (last_run, before), after = last, snapshot.items()
    changed: dict[ItemId, str | None] = {
        item_id: state for item_id, state in after.items() if before.get(item_id) != state
    }
    changed |= dict.fromkeys(before.keys() - after.keys() - {RUN})  # None for an item that this run lacks
    last_score_at = max((str(row["finished_at"]) for row in score_files), default="")
    if last_run and not changed and last_score_at <= json.loads(before[RUN])["completed_at"]:
        return []
    models = models_of(changed)  # only numbers of these models can change
    pairs = [pair for pair in model_pairs(models_of(before), models_of(after), over_time=True) if models & {*pair}]
    changes: dict[tuple[str, ...], Mapping[str, Any]] = {}
    if last_run and pairs:
        paired_models = {model for pair in pairs for model in pair}
        earlier, later = (  # item_id[1:3]: model and dtype
            Snapshot.from_items({item_id: state for item_id, state in items.items() if item_id[1:3] in paired_models})
            for items in (before, after)
        )
        comparison = compare_snapshots(earlier, later, pairs, over_time=True, seed=settings.seed)
        changes = {
            tuple(row[name] for name in ("model", "dtype", "quantity", "group")): row for row in comparison.numbers
        }
    completed_at = datetime.now(UTC).isoformat(timespec="seconds")
    run = last_run + 1
    changed[RUN] = as_state({"run": run, "completed_at": completed_at})
    rows = [HistoryRow(run, *item_id, changed[item_id]) for item_id in sorted(changed)]
    labels = {(row["model"], row["dtype"]): row["label"] or row["model"] for row in settings.variants}
    without_nan = headline_numbers.astype(object).where(headline_numbers.notna(), None)
    for row in without_nan.to_dict("records"):
        model, dtype = labels.get((row["model"], row["dtype"]), row["model"]), row["dtype"]
        is_unchanged = last_run and (model, dtype) not in models
        no_change = {"n": row["n"], "against_mean": row["mean"], "difference": 0.0} if is_unchanged else {}
        change = changes.get((model, dtype, row["quantity"], row["group"]), no_change)
        headline = {name: row[name] for name in ("quantity", "group", "unit", "n", "clusters", "mean", "low", "high")}
        columns = {name: change.get(column) for name, column in CHANGE_COLUMNS.items()}
        item = f"{row['quantity']} {row['group']}"
        rows.append(HistoryRow(run, "number", model, dtype, item, None, **headline, **columns))
    return rows


def _versions(step: Step, score_files: Iterable[Mapping[str, Any]], settings: SnapshotSettings) -> dict[str, str]:
    """Return the versions of models, measures and programs, and the parameters of measures, as JSON by name."""
    values = dict[str, Any]()
    names = {row["variant"]: f"{row['label'] or row['model']} ({row['dtype']})" for row in settings.variants}
    tables = step.tables_read
    revisions = {artifact.key: artifact.key_inputs["parameters"].get("revision") for artifact, _ in tables}
    for row in score_files:
        name = names[row["variant"]]
        computer = "server" if row["dtype"] == SERVED else "hardware"
        versions = {f"revision of {name}": revisions[row["key"]], f"{computer} of {name}": row["hardware"]}
        versions |= {program: row[f"{program}_version"] for program in PROGRAMS}
        versions[f"version of measure {row['measure']}"] = str(row["measure_version"])
        values |= {item: value for item, value in versions.items() if value}
    for artifact, _ in tables:
        if (measure := artifact.table.name) in MEASURES:
            values |= _parameter_items(measure, artifact.key_inputs["output"][1]["parameters"])
    return {name: json.dumps(value, ensure_ascii=False) for name, value in values.items()}


def _parameter_items(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parameters of a measure by their keys in a study file, such as answers.max_new_tokens."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _parameter_items(f"{name}.{key}", inner)
    else:
        yield name, "none" if value is None else value
