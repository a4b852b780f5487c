"""The flow that loads what is done into the database and tests it."""

import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from data.errors import DamagedFile, ModelError, SwaymeterError
from data.measures import MEASURES
from data.records.tables import (
    ANNOTATIONS,
    CONTEXTS,
    DISPUTES,
    FACTS,
    INVENTED,
    QUERIES,
    QUESTIONS,
    REJECTED,
    RUNS,
    TRIPLES,
    Table,
)
from data.storage.keys import content_key, table_digest
from data.storage.workspace import Stored, Workspace, read_metadata
from data.warehouse import Warehouse, content_of, rebuilt
from flows.attempt import outcome
from flows.plan import Plan
from flows.stage import ONE_AT_A_TIME, QUICKSTART, fan_out, plan_of
from tasks.contexts.annotation.judging import imported
from tasks.statistics import STATISTICS


@flow(name="aggregate", flow_run_name="{study}", task_runner=ONE_AT_A_TIME, persist_result=False)
def aggregate(
    study: str = QUICKSTART,
    workspace: str | None = None,
    relations: list[str] | None = None,
    models: list[str] | None = None,
    measures: list[str] | None = None,
    force: bool = False,
    offline: bool = False,
) -> State[Any]:
    """Makes the database from everything of the study that is done, whatever is selected."""
    plan = plan_of(study, workspace, relations, models, measures, offline).whole
    with plan.workspace.conducted():
        works = [("aggregate x database", functools.partial(_aggregate, plan, force))]
        return outcome("aggregate", fan_out("aggregate", plan, works))


def _aggregate(plan: Plan, force: bool) -> None:
    annotations, unreadable = _annotations(plan)
    readable, damaged = _sorted_out([*_wanted(plan), *annotations])
    damaged += unreadable
    files = sorted([stored.key, _all_of(stored), str(read_metadata(stored.path)["about"])] for stored in readable)
    content = content_key({"files": files, "statistics": {one.name: one.version for one in STATISTICS}})
    if force or content_of(plan.workspace.database) != content:
        with rebuilt(plan.workspace.database, content) as warehouse:
            _load(warehouse, plan, readable, force)
    if damaged:
        raise DamagedFile("; ".join(damaged))


def _load(warehouse: Warehouse, plan: Plan, readable: Iterable[Stored], force: bool) -> None:
    files: dict[Table, list[Path]] = {}
    digests: dict[str, list[str]] = {}
    for stored in readable:
        files.setdefault(stored.table, []).append(stored.path)
        digests.setdefault(stored.table.name, []).append(stored.digest())
    for table, paths in files.items():
        warehouse.load(table, sorted(paths))
    scores = [path for table, paths in files.items() if table.name in MEASURES for path in paths]
    warehouse.load_rows(RUNS, [_run(path, plan.workspace) for path in sorted(scores)])
    _load_statistics(warehouse, plan, digests, force)


def _load_statistics(warehouse: Warehouse, plan: Plan, digests: Mapping[str, list[str]], force: bool) -> None:
    """Every statistic; computed where there is none yet of these scores."""
    known = {name: sorted(found) for name, found in digests.items()}
    for statistic in STATISTICS:
        made_from = {"step": "aggregate", "version": statistic.version, "seed": plan.study.seed, "scores": known}
        stored = plan.workspace.statistics(statistic.table, {**made_from, "statistic": statistic.name})
        if force or not stored.is_done():
            frames = {name: warehouse.frame(name) for name in statistic.queries}
            stored.write(statistic.table.of(statistic.compute(frames, plan.study.seed)))
        warehouse.load(statistic.table, [stored.path])


def _wanted(plan: Plan) -> Iterable[Stored]:
    """Every file of the study whose own inputs are there; one that several measures rest on comes once."""
    wanted: dict[Path, Stored] = {}
    for relation in plan.relations():
        wanted[plan.facts(relation).path] = plan.facts(relation)
    for entity_class in plan.entity_classes():
        wanted[plan.names(entity_class).path] = plan.names(entity_class)
    for stored in _about_questions(plan):
        wanted[stored.path] = stored
    for item in plan.items():
        try:
            work = plan.work(item)
        except ModelError:
            if plan.workspace.scores_folder(item.relation, item.model.name).exists():
                raise  # its finished scores cannot be found: better the database as it was than one without them
        except SwaymeterError:
            continue  # said by the step above, and by `status`
        for stored in (*work.inputs.values(), *work.wanted.values()):
            wanted[stored.path] = stored
    tables = (FACTS, INVENTED, TRIPLES, DISPUTES, REJECTED, ANNOTATIONS, QUERIES, CONTEXTS, QUESTIONS)
    known = {table.name for table in tables} | set(MEASURES)
    return [stored for stored in wanted.values() if stored.table.name in known and stored.exists()]


def _about_questions(plan: Plan) -> Iterable[Stored]:
    """What the questions were made from, what became none, and what annotators say of them."""
    partitions = plan.partitions()
    works = plan.live_works
    if works:
        yield from works.made_from()
        yield from works.dropped()
    for partition in partitions:
        left_out = plan.left_out(partition)
        if left_out:
            yield left_out[0]


def _annotations(plan: Plan) -> tuple[list[Stored], list[str]]:
    """What annotators say, and what is said of files of it that cannot be read: people's work, not to be removed."""
    files, unreadable = [], []
    for file in plan.workspace.annotation_files() if plan.partitions() else ():
        try:
            files.append(imported(file))
        except DamagedFile as error:
            unreadable.append(str(error))
    return files, unreadable


def _all_of(stored: Stored) -> str:
    """The digest of all that the database takes of a file: of what questions are made from also the numbers."""
    told = stored.table in (DISPUTES, REJECTED, TRIPLES)
    return table_digest(stored.read()) if told else stored.digest()


def _sorted_out(wanted: Iterable[Stored]) -> tuple[list[Stored], list[str]]:
    readable, damaged = [], []
    for stored in wanted:
        try:
            stored.read()
            readable.append(stored)
        except DamagedFile as error:
            damaged.append(str(error))
    return readable, damaged


def _run(path: Path, workspace: Workspace) -> dict[str, Any]:
    metadata = read_metadata(path)
    made_from, about = metadata["made_from"], metadata["about"]
    kept = (
        "started_at", "finished_at", "seconds", "forward_passes", "prompts",
        "swaymeter_version", "torch_version", "transformers_version",
    )  # fmt: skip
    return {
        **{name: made_from[name] for name in ("relation", "model", "measure", "measure_version", "dtype", "seed")},
        **{name: about[name] for name in kept},
        "key": metadata["key"],
        "file": str(path.relative_to(workspace.root)),
        "rows": metadata["rows"],
    }
