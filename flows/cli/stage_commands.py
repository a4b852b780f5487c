"""The commands that do a study's work: `swaymeter run` and its stages."""

import time
from collections.abc import Callable
from typing import Any

import typer
from rich.markup import escape

from data.errors import SwaymeterError, WorkFailed
from flows.cli.options import (
    DryRun,
    Folder,
    Force,
    Measures,
    Models,
    Offline,
    Refresh,
    Relations,
    StudyFile,
    Traceback,
    out,
    selection,
)
from flows.items import Selection
from flows.model_checks import check_helpers, check_models
from flows.plan import Plan
from flows.server.orchestrator import orchestrator

stages = typer.Typer()


def _stage(name: str, doc: str) -> Callable[..., None]:
    def command(
        study: StudyFile,
        workspace: Folder = None,
        relation: Relations = None,
        model: Models = None,
        measure: Measures = None,
        force: Force = False,
        offline: Offline = False,
        dry_run: DryRun = False,
        traceback: Traceback = False,
    ) -> None:
        _run(name, study, workspace, selection(relation, model, measure), force, offline, dry_run, traceback)

    return _documented(command, name, doc)


def _stage_that_fetches(name: str, doc: str) -> Callable[..., None]:
    def command(
        study: StudyFile,
        workspace: Folder = None,
        relation: Relations = None,
        model: Models = None,
        measure: Measures = None,
        force: Force = False,
        refresh: Refresh = False,
        offline: Offline = False,
        dry_run: DryRun = False,
        traceback: Traceback = False,
    ) -> None:
        only = selection(relation, model, measure)
        _run(name, study, workspace, only, force, offline, dry_run, traceback, refresh=refresh)

    return _documented(command, name, doc)


def _documented(command: Callable[..., None], name: str, doc: str) -> Callable[..., None]:
    command.__doc__ = f"{doc}\n\nExample: [bold]swaymeter {name} quickstart --relation capital[/bold]"
    return command


def _run(
    name: str,
    study: str,
    workspace: str | None,
    only: Selection,
    force: bool,
    offline: bool,
    dry_run: bool,
    traceback: bool,
    **fetching: bool,
) -> None:
    plan = Plan.of(study, workspace, only)
    if name in ("run", "score"):
        check_models(plan)
    elif name == "fetch":
        check_helpers(plan)
    if dry_run:
        _say_what_would_be_done(plan, force)
        return
    _conduct(name, plan, study, force, offline, traceback, **fetching)


COMMANDS = {
    "run": "Fetch, build, score, aggregate and report; again = only what is missing, failed or changed.",
    "fetch": "Bring facts and questions from their sources.",
    "build": "Write queries, contexts and questions from what was fetched.",
    "score": "Ask the models and compute the measures.",
    "aggregate": "Load what is done into the database and test it.",
    "report": "Draw the page, its figures and tables.",
}
for _name, _doc in COMMANDS.items():
    stages.command(_name)((_stage_that_fetches if _name in ("run", "fetch") else _stage)(_name, _doc))


def _conduct(name: str, plan: Plan, study: str, force: bool, offline: bool, traceback: bool, **fetching: bool) -> None:
    from flows.cli.terminal import TerminalWatcher, log_to, summary

    started = time.monotonic()
    watcher = TerminalWatcher(out)
    log_to(out, verbose=traceback)
    with plan.workspace.conducted(), orchestrator(meanwhile=_import_flows):
        flows = _import_flows()
        flows.watch(watcher)
        with watcher.progress:
            only = [list(names) or None for names in (plan.only.relations, plan.only.models, plan.only.measures)]
            flow, root = flows.FLOWS[name], str(plan.workspace.root)
            state = flow(study, root, *only, force, offline, return_state=True, **fetching)
    summary(out, plan.whole, watcher, time.monotonic() - started)
    if state.is_completed():
        return
    if not watcher.failures:
        problem = state.result(raise_on_failure=False)
        raise problem if isinstance(problem, SwaymeterError) else WorkFailed(state.message or f"{name} failed")
    raise typer.Exit(WorkFailed.exit_code)


def _import_flows() -> Any:
    from flows import conduct  # Prefect takes seconds to import, and the API to start: both at once

    return conduct


def _say_what_would_be_done(plan: Plan, force: bool) -> None:
    from flows.dry_run import estimate

    for line in estimate(plan, force=force):
        out.print(escape(line), soft_wrap=True)
