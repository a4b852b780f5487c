"""The Prefect flows `study`, `report` and `backfill`; a flow run ends in the state Failed if a step has failed."""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed, Failed
from prefect.task_runners import ThreadPoolTaskRunner

from swaymeter.data.errors import SwaymeterError, UsageError
from swaymeter.flows.config.places import RunnerName
from swaymeter.flows.config.study import read_study
from swaymeter.flows.execution.prefect_page import scoring_updates, show_outcome, show_thresholds, tag_run
from swaymeter.flows.execution.run import THREADS, StudyRun, current_run
from swaymeter.flows.execution.task_runs import as_task_runs
from swaymeter.flows.execution.threads import limit_threads
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.stage import STAGES, Stage
from swaymeter.flows.server.home import check_home
from swaymeter.flows.stages.plan import plan_of, workspace_of
from swaymeter.tasks.models.files.hub import set_offline

log = logging.getLogger(__name__)

REFUSED = "Refused"
"""Name of the state of a run that did nothing, because its study, its parameters or its worker must be corrected."""


def run_name() -> str:
    """Return the name of a flow run, such as "quickstart, run, 2026-05-04 09:30:00", for `prefect flow-run retry`."""
    if flow_run.run_count:  # a retry keeps its name; Prefect names a run before it counts the first attempt
        return str(flow_run.name)
    parameters = flow_run.parameters
    stages = parameters.get("stages") or STAGES
    # For the flows report and backfill, which have no parameter `stages`, the verb is the flow's name.
    verb_of_all = "run" if "stages" in parameters else flow_run.flow_name
    verb = verb_of_all if set(stages) == set(STAGES) else " and ".join(stages)
    if parameters.get("failed"):
        verb += " what failed"
    return f"{Path(parameters['study']).stem}, {verb}, {datetime.now():%Y-%m-%d %H:%M:%S}"


THREAD_POOL: Any = ThreadPoolTaskRunner(max_workers=THREADS)


@flow(name="study", flow_run_name=run_name, persist_result=False, task_runner=THREAD_POOL)
def study(
    study: str,
    workspace: str | None = None,
    relations: list[str] | None = None,
    models: list[str] | None = None,
    measures: list[str] | None = None,
    stages: list[Stage] | None = None,
    force: bool = False,
    offline: bool = False,
    refresh: bool = False,
    runner: RunnerName | None = None,
    failed: bool = False,
    wait: bool = False,
) -> State[Any]:
    """Fetch, build, score, aggregate and report; a second run computes only missing, failed and changed steps.

    Args:
        study: a study's YAML file, or the name of a bundled study.
        workspace: the folder of the study's files; by default the folder that the file names.
        relations: only these relations.
        models: only these models.
        measures: only these measures.
        stages: only these stages; all by default.
        force: compute the selected steps again.
        offline: use no network.
        refresh: fetch edits and page views of Wikidata questions again; only changed steps are computed again.
        runner: the runner of models, in place of the runner in the study file.
        failed: only the relations with a failed step; if no step has failed, as after a killed run, all relations.
        wait: wait for another run that uses the workspace; otherwise this run fails with a message about the other run.
    """
    selection = Selection(tuple(relations or ()), tuple(models or ()), tuple(measures or ()), tuple(stages or STAGES))

    def read() -> StudyRun:
        return _read(
            study, workspace, selection, runner=runner, force=force, refresh=refresh, offline=offline, failed=failed
        )

    # If a command of Swaymeter has read the study in this process, `current_run` returns the command's run. In a
    # deployment, `current_run` returns None.
    return _state_of(lambda: _run(current_run() or read(), wait=wait))


@flow(name="report", flow_run_name=run_name, persist_result=False)
def report(study: str, workspace: str | None = None, wait: bool = False) -> State[Any]:
    """Load all finished steps into the database and draw the report."""
    summarising = Selection(stages=("aggregate", "report"))
    return _state_of(lambda: _run(_read(study, workspace, summarising), wait=wait))


def _state_of(run: Callable[[], State[Any]]) -> State[Any]:
    """Return the state of a run; the state of a refused run has the name REFUSED, so that no automation retries it."""
    try:
        check_home()
        return run()
    except UsageError as error:
        return Failed(name=REFUSED, message=str(error), data=error)
    except SwaymeterError as error:
        return Failed(message=str(error), data=error)


@flow(name="backfill", flow_run_name=run_name, persist_result=False, task_runner=THREAD_POOL)
def backfill(
    study: str, key: str, values: list[Any], workspace: str | None = None, offline: bool = False, wait: bool = False
) -> State[Any]:
    """Run a study once for each value of a key of its file, in order; each run adds a snapshot to the history.

    Args:
        study: a study's YAML file. If the key names models, give all of them the same label.
            Runs are compared by label.
        key: a key such as models.0.name, for folders of checkpoints, or questions.file, for versions of a data set.
        values: the values of the key, one for each run.
        workspace: the folder of the study's files, as in the flow `study`.
        offline: use no network.
        wait: wait for another run that uses the workspace.
    """

    def run_value(value: Any) -> State[Any]:
        return _run(_read(study, workspace, Selection(), changes={key: value}, offline=offline), wait=wait)

    state: State[Any] = Completed(message="`values` is empty, so nothing was run")
    for value in values:
        state = _state_of(partial(run_value, value))
        if not state.is_completed():
            return state
    return state


def _read(
    study: str,
    folder: str | None,
    selection: Selection,
    *,
    changes: Mapping[str, Any] = MappingProxyType({}),
    runner: RunnerName | None = None,
    offline: bool = False,
    **options: bool,
) -> StudyRun:
    """Read and plan a study in a process that Prefect started; `options` are options of `StudyRun`."""
    limit_threads()  # before torch is imported
    set_offline(offline)  # before the plan, which looks up the revisions of models
    content = read_study(study, changes).with_runner(runner)
    plan = plan_of(content, workspace_of(content, folder))
    return StudyRun(plan, selection, name=f"study {content.name}", offline=offline, **options)


def _run(run: StudyRun, *, wait: bool) -> State[Any]:
    study_file = run.plan.study
    tag_run(study_file.name)
    with scoring_updates(), run.begin(on_wait=log.warning if wait else None):
        has_work = run.has_work  # read before the tasks change the states of steps
        run.run_tasks(as_task_runs, is_retried=(flow_run.run_count or 0) > 1)
    unfinished = run.unfinished
    show_outcome(run.graph, unfinished)
    if unfinished:
        return Failed(message=run.failure)
    if study_file.thresholds and "aggregate" in run.selection.stages:
        show_thresholds(study_file, run.plan.workspace)
    nothing_failed = "nothing had failed, and " if run.only_failed else ""
    no_work = "" if has_work else f"{nothing_failed}nothing was to be done: "
    return Completed(message=f"{no_work}{len(run.selected)} steps are done")
