"""Prefect flows: a study, or some stages of it, run over its graph; a run ends Failed where a step has failed."""

import functools
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from prefect import flow
from prefect import task as prefect_task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed, Failed
from prefect.task_runners import ThreadPoolTaskRunner
from prefect.utilities.annotations import allow_failure, quote

from swaymeter.data.errors import SwaymeterError, UsageError
from swaymeter.data.sources.access import close_sessions
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.execution.artifacts import show_outcome, show_thresholds, shown_progress, tag_run
from swaymeter.flows.execution.executor import Executor
from swaymeter.flows.execution.progress import progress
from swaymeter.flows.execution.task import Task
from swaymeter.flows.execution.threads import limit_threads
from swaymeter.flows.execution.workers.cluster import Cluster
from swaymeter.flows.execution.workers.workers import Workers
from swaymeter.flows.graph.graph import Graph, Node
from swaymeter.flows.graph.rerun import Kind, write_numbers
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.step import STAGES, Run, Stage, StepId
from swaymeter.flows.server.home import check_home
from swaymeter.flows.stages.aggregate import undone_instead_of_scores
from swaymeter.flows.stages.plan import plan_of, workspace_of
from swaymeter.flows.stages.refusals import asked_variants, check_run
from swaymeter.flows.stages.resolve import graph_of, numbers_file, raised
from swaymeter.flows.study.places import RunnerName
from swaymeter.flows.study.reading import read_study
from swaymeter.flows.study.study import Study
from swaymeter.tasks.models.files.hub import set_offline

log = logging.getLogger(__name__)

THREADS = 2000
"""Upper bound on threads; the executor submits what there is room for."""

TRANSIENT = "Transient"
"""Name of the state of a task that failed for a reason that may pass."""

REFUSED = "Refused"
"""Name of the state of a run that did nothing: its study, its parameters or its worker have to be corrected."""


def run_name() -> str:
    """The study, what of it is run, and the start; a run that is tried again keeps its name.

    It tells runs apart: a person finds one, and `prefect flow-run retry NAME` has one.
    """
    if flow_run.run_count:
        return str(flow_run.name)
    parameters = flow_run.parameters
    stages = parameters.get("stages") or STAGES
    whole = "run" if "stages" in parameters else flow_run.flow_name
    verb = whole if set(stages) == set(STAGES) else " and ".join(stages)
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
    """Fetches, builds, scores, aggregates and reports; run again, it does only what is missing, failed or changed.

    Args:
        study: a study's YAML file, or the name of a bundled one.
        workspace: the folder of the study's files; by default that of its file.
        relations: only these.
        models: only these.
        measures: only these.
        stages: only these; all where none is named.
        force: what is selected is made again, also what is done.
        offline: no network is used.
        refresh: the edits and page views of live questions are fetched again; only what they change is done again.
        runner: where models are asked, in place of what the study file says.
        failed: only the relations of which a step has failed; where none has, as after a killed run, all.
        wait: where another run uses the workspace, this one waits for its end; otherwise it fails, and says who it is.
    """
    selection = Selection(tuple(relations or ()), tuple(models or ()), tuple(measures or ()), tuple(stages or STAGES))
    kinds: dict[Kind, bool] = {"force": force, "refresh": refresh}

    def run() -> State[Any]:
        chosen = read_study(study).run_by(runner)
        return _run(chosen, workspace, selection, kinds, offline=offline, failed=failed, wait=wait)

    return _stated(run)


@flow(name="report", flow_run_name=run_name, persist_result=False)
def report(study: str, workspace: str | None = None, wait: bool = False) -> State[Any]:
    """Loads what is done into the database and draws the report, in a deployment of its own."""
    summarising = Selection(stages=("aggregate", "report"))
    return _stated(lambda: _run(read_study(study), workspace, summarising, {}, wait=wait))


def _stated(run: Callable[[], State[Any]]) -> State[Any]:
    """Return the state of a run; that of a refused one has its own name, so that nothing starts it once more."""
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
    """Runs a study once for each value of a key of its file, in this order; each run leaves a snapshot in the history.

    Args:
        study: a study's YAML file. Where the key names models, give them a label: runs compare what is called the same.
        key: such as models.0.name, for folders of checkpoints, or questions.file, for versions of a data set.
        values: what stands there, run by run.
        workspace, offline, wait: as of the flow `study`.
    """

    def one(value: Any) -> State[Any]:
        return _run(read_study(study, {key: value}), workspace, Selection(), {}, offline=offline, wait=wait)

    state: State[Any] = Completed(message="there are no values")
    for value in values:
        state = _stated(partial(one, value))
        if not state.is_completed():
            return state
    return state


def _run_task(name: str, task: Task, run: Run, workers: Workers) -> State[Any]:
    """Compute the steps of a task that are not done, and return its state.

    The task runs in a thread of the process that submits it, also where a worker computes: its state is right whatever
    becomes of the worker, and only that process needs Prefect's API.
    """
    outcome = task.compute(run, workers, progress())
    if outcome.failed is None:
        return Completed(message=name)
    return Failed(name=TRANSIENT if outcome.may_pass else None, message=outcome.failed)


# Nothing is cached and no result persisted: Prefect's caching would answer for steps whose files were removed, damaged
# or made from something else, as a retried flow takes a persisted result past the workspace.
_task: Any = prefect_task(
    task_run_name="{name}",
    retries=1,
    retry_delay_seconds=2,
    retry_condition_fn=lambda task, task_run, state: state.name == TRANSIENT,
    cache_policy=NO_CACHE,
    persist_result=False,
)(_run_task)


@functools.cache
def stage_task(stage: Stage) -> Any:
    """Return the Prefect task of a stage.

    Quote its arguments but for the name: Prefect looks into others.
    """
    return _task.with_options(name=stage)


class Submission:
    """Submit tasks to Prefect with the futures of their upstream tasks, which its page draws as edges."""

    def __init__(self, workspace: Workspace, run: Run, workers: Workers) -> None:
        """Prepare the submission of the tasks of a run."""
        self._workspace, self._run, self._workers = workspace, run, workers
        self._futures: dict[str, Any] = {}

    def __call__(self, task: Task, upstream: Mapping[str, bool]) -> Any:
        """Submit a task; where a required upstream task has failed, Prefect leaves it "not ready"."""
        self._workspace.check_is_held()
        futures = [
            self._futures[name] if is_required else allow_failure(self._futures[name])
            for name, is_required in upstream.items()
        ]
        arguments = quote(task), quote(self._run), quote(self._workers)
        future = stage_task(task.stage).submit(task.name, *arguments, wait_for=futures)
        self._futures[task.name] = future
        return future


def _run(
    chosen: Study, folder: str | None, selection: Selection, kinds: Mapping[Kind, bool], *,
    offline: bool = False, failed: bool = False, wait: bool = False,
) -> State[Any]:  # fmt: skip
    """Run the selected steps as tasks of Prefect, and return the state of the flow."""
    limit_threads()  # in a worker's process; nothing has imported torch yet
    set_offline(offline)  # the graph asks which revisions models have
    workspace = workspace_of(chosen, folder)
    plan, execution = plan_of(chosen, workspace), chosen.execution
    tag_run(chosen.name)

    def resolve() -> Graph:
        workspace.check_is_there()  # an empty folder in its place would count as a study that has not begun
        return graph_of(plan, memory)

    with shown_progress(), workspace.lock(log.warning if wait else None) as memory:
        graph = resolve()
        if failed:
            selection = selection.failed(graph)
        force = kinds.get("force", False)
        check_run(graph, plan, selection, name=f"study {chosen.name}", force=force, offline=offline)
        try:
            workers = Workers()
            if execution.runner != "threads":
                named = execution.address or os.environ.get("DASK_SCHEDULER_ADDRESS") or None
                address = named if execution.runner == "dask" else None
                variants = asked_variants(graph, plan, selection.of(graph), force=force)
                models = {variant.place: variant.model for variant in variants}
                workers = Cluster(address, execution.workers, Run(workspace.root, offline), models)
            with workers:
                is_retried = (flow_run.run_count or 0) > 1  # which resumes what the first try has forced
                if any(kinds.values()) and not is_retried:  # a run that is refused forces nothing
                    write_numbers(numbers_file(workspace), raised(graph, selection, kinds))
                    graph = resolve()
                is_done = not _undone(graph, selection)
                submit = Submission(workspace, Run(workspace.root, offline), workers)
                graph = Executor(resolve, selection, submit, progress(), workers).run(graph)
        finally:
            close_sessions()
    if "aggregate" in selection.stages and (warning := _about_missing_scores(graph, whole_only=chosen.whole_only)):
        log.warning(warning)
    undone = _undone(graph, selection)
    show_outcome(graph, undone)
    if chosen.thresholds and not undone and "aggregate" in selection.stages:
        show_thresholds(chosen, workspace)
    count = len(selection.of(graph))
    if undone:
        return _failed(undone, count)
    nothing = f"nothing {'had failed, and nothing ' * failed}was to be done: "
    return Completed(message=f"{nothing * is_done}{count} steps are done")


def _about_missing_scores(graph: Graph, *, whole_only: bool) -> str:
    """Return a warning about the page and the database of a run without all scores; "" if there is none to give."""
    missing = sorted({node.id.group for node in graph if node.id.stage == "score" and node.state != "done"})
    warning = f"scores are missing ({', '.join(missing)}): "
    if undone_instead_of_scores(graph, whole_only=whole_only):
        return f"{warning}the page and the database of the earlier run stay as they were"
    if not missing or not whole_only:
        return ""
    by_rule = "; verdicts are the rule's, and replies that it leaves undecided stay so" * ("judged_answers" in missing)
    return f"{warning}the page and the database show the others{by_rule}"


def _undone(graph: Graph, selection: Selection) -> list[Node]:
    """What was selected and is not done, and what of its inputs is damaged."""
    selected = selection.of(graph)
    read = {other.id for name in selected for other in (*graph.nodes[name].inputs, *graph.nodes[name].after)}
    undone = {node.id for node in graph if node.id in selected and node.state != "done"}
    return [node for node in graph if node.id in undone or (node.id in read and node.state == "damaged")]


def _failed(undone: Sequence[Node], count: int) -> State[Any]:
    """Says what has failed first, why, and what to do; then the rest, by reason."""
    reasons: dict[str, list[StepId]] = {}
    for node in [node for node in undone if node.state != "blocked"] or undone:
        reasons.setdefault(" ".join(node.reason.split()) or node.state, []).append(node.id)
    first, *others = (
        f"{named}{f' and {len(more)} more' if more else ''}: {reason}" for reason, (named, *more) in reasons.items()
    )
    advice = f"{len(undone)} of {count} steps are not done; correct that and run the study again: it keeps the others"
    return Failed(message="; ".join([f"{first}. {advice}", *others]))
