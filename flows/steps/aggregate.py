"""The steps that aggregate: statistics from the score files in place, and the database, loaded by file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from data.errors import ScoreError, SwaymeterError
from data.records.table import Table
from data.storage.artifact import Check, write_manifest
from data.storage.workspace import Workspace
from data.warehouse.queries import QUERIES
from flows.graph.step import Run, Step
from flows.steps.schema import schema
from tasks.measures import MEASURES
from tasks.statistics import STATISTICS

Done = tuple[Any, Check]
"""An artifact that is done, and how it stands."""


def compute_statistics(step: Step, run: Run) -> None:
    """Computes the statistics that are missing, from the score files in place; each named query is asked once."""
    from data.warehouse.warehouse import over  # here, as pandas takes long to import

    missing = [STATISTICS[name] for name, output in step.outputs.items() if output.check().state != "done"]
    statistics = list(STATISTICS.values()) if step.not_before else missing
    names = dict.fromkeys(name for statistic in statistics for name in statistic.queries)
    done = _done(step.inputs.values())
    answers = {name: _by_relation(QUERIES[name], done, step, run) for name in names if QUERIES[name].by_relation}
    with over(_files(done), schema(), answers) as warehouse:
        frames = {name: warehouse.frame(name) for name in names}
    failed = []
    for statistic in statistics:
        try:
            rows = statistic.compute({name: frames[name] for name in statistic.queries}, step.arguments)
            step.table(statistic.name).write(statistic.table.of(rows))
        except (SwaymeterError, KeyError, ValueError) as error:  # the others are computed all the same
            reason = str(error) if isinstance(error, SwaymeterError) else repr(error)
            failed.append(f"statistic {statistic.name} (of {', '.join(statistic.queries)}): {reason}")
    if failed:
        raise ScoreError("; ".join(failed))


def _by_relation(query: Any, done: Sequence[Done], step: Step, run: Run) -> Any:
    """The rows of a query that goes through every prompt, stored by relation: what is new is computed, in one pass."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from data.warehouse.warehouse import over

    workspace, inputs = Workspace(run.workspace), dict[str, list[Done]]()
    for artifact, check in done:
        if artifact.table.name in query.by_relation:
            inputs.setdefault(artifact.made_from["subject"][0], []).append((artifact, check))
    parts = {
        relation: workspace.table(
            ("statistics", "by-relation", relation), query.name, Table(query.name, query.sentence, ()),
            {"query": query.sql, "relation": relation, "inputs": sorted(check.digest_of_all for _, check in read)},
        )
        for relation, read in inputs.items()
    }  # fmt: skip
    new = [name for name, part in parts.items() if step.not_before or part.check().state != "done"]
    with over(_files([artifact for name in new for artifact in inputs[name]]), schema()) as warehouse:
        rows, table = warehouse.rows(query), Table(query.name, query.sentence, warehouse.columns(query))
    parts = {name: replace(part, table=table) for name, part in parts.items()}
    for name in new:
        parts[name].write(rows.filter(pc.equal(rows["relation"], name)))
    return pa.concat_tables([part.read() for part in parts.values()] or [table.of([])])


def load_database(step: Step, run: Run) -> None:
    """Loads what is done into the database, file by file; files that it holds already are left alone.

    A database that holds other bytes than were written, or that was asked for anew, is made from nothing.
    """
    from data.warehouse.loading import update

    artifact: Any = step.outputs["files"]
    tables = _done([*step.inputs.values(), *step.arguments])
    fresh = step.not_before is not None or not artifact.is_as_written()
    path = artifact.folder / "study.duckdb"
    update(path, artifact.key, schema(), _files(tables), runs=_runs(tables, run), fresh=fresh)
    write_manifest(artifact.manifest, artifact.key, [path])


def _done(artifacts: Iterable[Any]) -> list[Done]:
    """The artifacts that are done, each read once to verify it, and once where a model has two names for one dtype."""
    checked = {artifact.key: (artifact, artifact.check()) for artifact in artifacts}
    return [(artifact, check) for artifact, check in checked.values() if check.state == "done"]


def _files(done: Iterable[Done]) -> dict[Table, list[Any]]:
    files: dict[Table, list[Any]] = {}
    for artifact, check in done:
        files.setdefault(artifact.table, []).append(check.path)
    return files


def _runs(done: Iterable[Done], run: Run) -> list[Mapping[str, Any]]:
    """A row for each file of scores: what was computed, when, with which versions."""
    rows: list[Mapping[str, Any]] = []
    for artifact, check in done:
        if artifact.table.name not in MEASURES:
            continue
        made_from, about = artifact.made_from, check.about or {}
        rows.append(
            {
                "relation": made_from["subject"][0],
                "model": made_from["parameters"]["model"],
                "measure": artifact.table.name,
                "measure_version": MEASURES[artifact.table.name].version,
                "dtype": made_from["parameters"]["dtype"],
                "seed": made_from["parameters"]["seed"],
                **{name: about[name] for name in _NOTED},
                "key": artifact.key,
                "file": str(check.path.relative_to(run.workspace)),  # type: ignore[union-attr]
                "rows": check.rows,
            }
        )
    return rows


_NOTED = (
    "started_at", "finished_at", "seconds", "forward_passes", "prompts",
    "swaymeter_version", "torch_version", "transformers_version",
)  # fmt: skip
