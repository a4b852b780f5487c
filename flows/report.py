"""The flow that draws the report from the database."""

import functools
import importlib.metadata
import json
import platform
from datetime import UTC, datetime
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from data.dataset.dataset import Dataset
from data.records import Fact, Question, of_row
from data.storage.keys import content_key
from data.storage.workspace import Stored
from data.warehouse import content_of, opened
from flows.attempt import outcome
from flows.plan import Plan
from flows.stage import ONE_AT_A_TIME, QUICKSTART, fan_out, plan_of
from flows.status import cells
from reports.report import QUERIES, NotRun, StudyCard, write_report

REPORT_VERSION = 5
PROGRAMS = ("swaymeter", "prefect", "torch", "transformers", "duckdb", "scipy", "matplotlib")


@flow(name="report", flow_run_name="{study}", task_runner=ONE_AT_A_TIME, persist_result=False)
def report(
    study: str = QUICKSTART,
    workspace: str | None = None,
    relations: list[str] | None = None,
    models: list[str] | None = None,
    measures: list[str] | None = None,
    force: bool = False,
    offline: bool = False,
) -> State[Any]:
    """Draws the page, its figures and tables; nothing is drawn again where nothing changed."""
    plan = plan_of(study, workspace, relations, models, measures, offline).whole
    with plan.workspace.conducted():
        return outcome("report", fan_out("report", plan, [("report x page", functools.partial(_report, plan, force))]))


def _report(plan: Plan, force: bool) -> None:
    not_run = tuple(
        NotRun(cell.relation, cell.model, cell.measure, cell.reason or "not computed yet")
        for cell in cells(plan)
        if cell.state != "done"
    )
    key = content_key(
        {
            "version": REPORT_VERSION,
            "database": content_of(plan.workspace.database),
            "study": plan.study.model_dump(mode="json"),
            "not_run": [[one.relation, one.model, one.measure, one.reason] for one in not_run],
        }
    )
    manifest = plan.workspace.report / "manifest.json"
    if not force and manifest.exists() and json.loads(manifest.read_text())["key"] == key:
        return
    with opened(plan.workspace.database) as warehouse:
        frames = {name: warehouse.frame(name) for name in QUERIES}
    card = StudyCard(
        name=plan.study.name,
        seed=plan.study.seed,
        asked=plan.study.asks.strip(),
        not_run=not_run,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        versions={name: importlib.metadata.version(name) for name in PROGRAMS} | {"python": platform.python_version()},
        sources=_sources(plan),
    )
    write_report(frames, plan.workspace.report, card, key)


def _sources(plan: Plan) -> tuple[str, ...]:
    """Where the facts and questions come from, under which terms, and which versions of both these are."""
    questions = tuple(
        of_row(Question, row) for name in plan.question_relations() for row in _rows(plan.questions(name))
    )
    facts = tuple(of_row(Fact, row) for name in plan.relations() for row in _rows(plan.facts(name)))
    rows: tuple[Fact | Question, ...] = (*questions, *facts)
    named = {f"{row.source} ({row.licence})" for row in rows}
    versions = [_version("Facts", Dataset(plan.workspace.root, facts))] if facts else []
    if questions:
        versions.append(_version("Questions", Dataset(plan.workspace.root, (), questions=questions)))
    return (*sorted(named), *versions)


def _rows(stored: Stored) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = stored.read().to_pylist() if stored.exists() else []
    return rows


def _version(what: str, dataset: Dataset) -> str:
    count, relations = len(dataset.facts) + len(dataset.questions), dataset.relations + dataset.asked_relations
    fetched = f", fetched {' to '.join(dict.fromkeys(dataset.retrieved))}" if dataset.retrieved else ""
    return f"{what}: version {dataset.version}, {count} of {len(relations)} relations{fetched}"
