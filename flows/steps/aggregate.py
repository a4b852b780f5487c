"""The step that makes the database: tables from the artifacts, statistics over them, and the run's snapshot."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any

from swaymeter.data.errors import ScoreError, SwaymeterError
from swaymeter.data.records.table import Table
from swaymeter.data.records.tables import HISTORY, RECORD_TABLES, RUNS, VARIANTS, VERDICTS_BY_HAND
from swaymeter.data.records.verdicts import VerdictByHand
from swaymeter.data.storage.artifact import Check, TableArtifact, write_manifest
from swaymeter.data.storage.workspace import DATABASE
from swaymeter.flows.graph.step import Run, Step, in_way
from swaymeter.flows.steps.history import Completion, keep_history
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.statistics import STATISTICS, statistics_of
from swaymeter.tasks.statistics.entropy_classes import EntropyClasses
from swaymeter.tasks.statistics.frames import categorical

Done = tuple[TableArtifact, Check]
"""A table that is done, and its check."""


@dataclass(frozen=True)
class Aggregation:
    """What the database is made from beside its inputs.

    Attributes:
        completion: Settings of the run's snapshot; its seed is that of statistics, too.
        classes: Entropy classes of the study.
        annotations: Imports of annotations.
        verdicts: Verdicts of persons.
    """

    completion: Completion = field(default_factory=Completion)
    classes: EntropyClasses = field(default_factory=EntropyClasses)
    annotations: tuple[TableArtifact, ...] = ()
    verdicts: tuple[VerdictByHand, ...] = ()


def schema() -> tuple[Table, ...]:
    """Return every table of the database: of records, measures and statistics, also of extensions."""
    declared = [*(measure.table for measure in MEASURES.values()), *(one.table for one in STATISTICS.values())]
    tables: dict[str, Table] = {}
    for table in (*RECORD_TABLES, *declared):
        if tables.setdefault(table.name, table) != table:
            raise TypeError(f"two tables are named {table.name}; name the one that was added otherwise")
    return tuple(tables.values())


def make_database(step: Step, run: Run) -> None:
    """Make the database from all artifacts that are done, compute the statistics, and add the run's snapshot."""
    from swaymeter.data.warehouse.loading import Building, build  # here, as pandas takes long to import

    artifact: Any = step.outputs["files"]
    aggregation: Aggregation = step.arguments
    imports = {annotation.key: (annotation, annotation.check()) for annotation in aggregation.annotations}
    tables = [*step.tables_read, *(annotation for annotation in imports.values() if annotation[1].state == "done")]

    def derive(building: Building) -> None:
        compute_statistics(building, aggregation)
        building.load({HISTORY: keep_history(step, aggregation.completion, building.warehouse, runs)})

    path, runs = artifact.folder / DATABASE, runs_of(tables, run)
    computed = {
        VARIANTS: aggregation.completion.variants,
        RUNS: runs,
        VERDICTS_BY_HAND: [asdict(verdict) for verdict in aggregation.verdicts],
    }
    build(path, artifact.key, schema(), files_of(tables), computed=computed, derive=derive)
    write_manifest(artifact.manifest, artifact.key, [path])


def compute_statistics(building: Any, aggregation: Aggregation) -> None:
    """Compute every statistic over the tables that are loaded, and add its rows.

    Raises:
        ScoreError: Statistics cannot be computed; the message names all of them.
    """
    import_module("scipy.stats")
    frames, failed = dict[str, Any](), list[str]()
    for statistic in statistics_of(aggregation.classes).values():
        try:
            for name in statistic.queries:
                if name not in frames:
                    frames[name] = categorical(building.warehouse.frame(name))
            rows = statistic.rows({name: frames[name] for name in statistic.queries}, aggregation.completion.seed)
            building.insert(statistic.table, statistic.table.of(rows))
        except (SwaymeterError, KeyError, TypeError, ValueError) as error:  # the message names all that fail
            reason = str(error) if isinstance(error, SwaymeterError) else repr(error)
            failed.append(f"statistic {statistic.name} (of {', '.join(statistic.queries)}): {reason}")
    if failed:
        raise ScoreError("; ".join(failed))


def files_of(done: Iterable[Done]) -> dict[Table, list[Any]]:
    """Return the files of each table."""
    files: dict[Table, list[Any]] = {}
    for artifact, check in done:
        files.setdefault(artifact.table, []).append(check.path)
    return files


def runs_of(done: Iterable[Done], run: Run) -> list[Mapping[str, Any]]:
    """Return a row for each file of scores: what was computed, when, with which versions."""
    rows: list[Mapping[str, Any]] = []
    for artifact, check in done:
        if artifact.table.name not in MEASURES:
            continue
        made_from, about = artifact.made_from, check.about or {}
        model, dtype = (made_from["parameters"][name] for name in ("model", "dtype"))
        model = in_way(model, made_from["parameters"].get("way", ""))
        rows.append(
            {
                "relation": made_from["subject"][0],
                "model": model,
                "variant": f"{model}/{dtype}",
                "measure": artifact.table.name,
                "measure_version": MEASURES[artifact.table.name].version,
                "dtype": dtype,
                "seed": made_from["parameters"]["seed"],
                "parameters": about.get("parameters"),
                "hardware": about.get("hardware"),
                "reading": about.get("reading"),
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
