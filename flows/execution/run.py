"""One run of a study: lock its workspace, compute the unfinished steps, and return a message about failures.

`swaymeter run` and deployments submit the tasks to Prefect (`flows/study.py`). Audits and notebooks compute the tasks
in threads of their own process (`without_prefect`), unless an API of Prefect is configured.

    with Prefect:  StudyRun.execute -> flow `study`, which takes over `current_run`
                   -> run_tasks(as_task_runs) -> Executor
    without:       StudyRun.execute -> run_tasks(without_prefect) -> Executor

A deployment has no run to take over: its flow reads the study and makes a `StudyRun` from its parameters.
"""

import importlib
import logging
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from swaymeter.data.errors import WorkFailed, WorkspaceError, first_line
from swaymeter.data.sources.access import close_sessions
from swaymeter.flows.execution.executor import Executor, Submit
from swaymeter.flows.execution.interrupt import TERMINATED, ending_at_sigterm
from swaymeter.flows.execution.progress import Progress, current_display, set_display
from swaymeter.flows.execution.task import Outcome, Task, Workers
from swaymeter.flows.graph.graph import Graph, PlannedStep, RunSettings, StepId
from swaymeter.flows.graph.rerun import RerunOption, numbers_file, write_numbers
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.server.settings import is_api_configured
from swaymeter.flows.stages.aggregate import blocking_score_step
from swaymeter.flows.stages.plan import Plan
from swaymeter.flows.stages.refusals import check_run, variants_to_score
from swaymeter.flows.stages.score import discard_failed_replies
from swaymeter.flows.study_graph import graph_of

log = logging.getLogger(__name__)

FLOW = "swaymeter.flows.study"
"""Module of the flow, imported late because the import of Prefect takes seconds."""
THREADS = 2000
"""Upper bound on threads; the workers' capacity is the real limit."""
RETRY_SECONDS = 2
"""Seconds before the retry of a task that failed with a transient error."""

Submission = Callable[[RunSettings, Workers], AbstractContextManager[Submit]]
"""Context manager such as `without_prefect`, which yields a `Submit`; all tasks run in its block."""

_current_run: ContextVar["StudyRun | None"] = ContextVar("current_run", default=None)
"""The run that a command or a notebook has read, planned and locked, for the flow to take over."""


def current_run() -> "StudyRun | None":
    """Return the run of the command or notebook in this process; None in a process that Prefect started."""
    return _current_run.get()


class StudyRun:
    """A run of the selected steps of a study; `graph` is the graph as it was last resolved."""

    graph: Graph

    def __init__(
        self,
        plan: Plan,
        selection: Selection,
        *,
        name: str,
        force: bool = False,
        refresh: bool = False,
        offline: bool = False,
        failed: bool = False,
    ) -> None:
        """Prepare a run.

        Args:
            plan: Plan of the study.
            selection: The steps to run.
            name: Path or name of the study, for messages and for the parameters of the flow run.
            force: True to compute the selected steps again.
            refresh: True to fetch again the data that change daily at their source.
            offline: True to use no network.
            failed: True to run only the relations with a failed step. If no step has failed, all relations run.
        """
        self.plan, self.selection = plan, selection
        self._name, self.only_failed = name, failed
        self._requested: dict[RerunOption, bool] = {"force": force, "refresh": refresh}
        self._settings = RunSettings(plan.workspace.root, offline)
        self._shared_results: dict[Any, Any] = {}  # such as checks of artifacts; all graphs of this run share them

    @contextmanager
    def begin(self, on_wait: Callable[[str], object] | None = None) -> Iterator[None]:
        """Lock the workspace, resolve the graph, and refuse an impossible run; a nested call does nothing.

        Args:
            on_wait: Function that is called with a sentence before this run waits for another run in the workspace.
                None: the run does not wait, but is refused.

        Raises:
            UsageError: The run is impossible, or the study has no relation, model or measure of a selected name.
            WorkspaceError: Another run holds the workspace, or the workspace cannot be written.
        """
        if current_run() is self:
            yield
            return
        workspace = self.plan.workspace
        is_writable = workspace.is_writable
        with workspace.lock(on_wait) if is_writable else nullcontext():
            self.graph = graph_of(self.plan, self._shared_results)
            if self.only_failed:
                self.selection = self.selection.limited_to_failed(self.graph)
            force, offline = self._requested["force"], self._settings.offline
            check_run(self.graph, self.plan, self.selection, name=self._name, force=force, offline=offline)
            if is_writable and discard_failed_replies(self.graph, self.selected):
                self.graph = graph_of(self.plan, self._shared_results)  # steps with discarded replies are now "missing"
            if self.has_work and not is_writable:
                raise WorkspaceError(f"the workspace {workspace.root} cannot be written; choose another --workspace")
            token = _current_run.set(self)
            try:
                yield
            finally:
                _current_run.reset(token)

    def execute(
        self, display: Progress, *, on_wait: Callable[[str], object] | None = None, starts_api: bool = False
    ) -> str:
        """Compute the unfinished steps, and return a message if a step failed, else "".

        Args:
            display: Receives the beginning and the end of each step.
            on_wait: As in `begin`.
            starts_api: True to start a temporary API of Prefect if no API is configured.
        """
        with self.begin(on_wait):
            if not self.has_work:
                return ""
            set_display(display)
            if starts_api or is_api_configured():
                message = _run_flow(self, display)
            else:
                with display, ending_at_sigterm():
                    self.run_tasks(without_prefect)
                message = self.failure
        # The display knows only steps that have begun; a node can also fail before it begins, such as a refused node.
        nodes = [self.graph.nodes[step] for step in self.selected]
        display.failures |= {str(node.id): node.reason for node in nodes if node.state == "failed"}
        return message

    def renew_graph(self) -> Graph:
        """Resolve a new graph on the workspace as it is now, and return this graph."""
        self.plan.workspace.check_mounted()  # an empty mount point would look like a new workspace
        self.graph = graph_of(self.plan, self._shared_results)
        return self.graph

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters with which Prefect can repeat the flow run in another process."""
        workspace, runner = str(self.plan.workspace.root), self.plan.study.execution.runner
        switches = {"offline": self._settings.offline, "failed": self.only_failed}
        options: dict[str, Any] = dict(self._requested) | switches
        selection = {name: [*names] for name, names in vars(self.selection).items()}
        return {"study": self._name, **selection, **options, "workspace": workspace, "runner": runner}

    @property
    def has_work(self) -> bool:
        """True if a selected step is not done, or the run has --force or --refresh."""
        return any(self._requested.values()) or any(self.graph.nodes[step].state != "done" for step in self.selected)

    @property
    def selected(self) -> set[StepId]:
        return self.selection.of(self.graph)

    def run_tasks(self, submission: Submission, *, is_retried: bool = False) -> None:
        """Compute the unfinished steps.

        Args:
            submission: Starts the tasks: `without_prefect`, or `as_task_runs` of task_runs.py.
            is_retried: True for a retry of the flow run; the first try has written the rerun numbers (rerun.py).
        """
        try:
            with self._workers() as workers:
                if any(self._requested.values()) and not is_retried:
                    numbers = self.selection.rerun_numbers(self.graph, self._requested)
                    write_numbers(numbers_file(self.plan.workspace), numbers)
                    self.renew_graph()
                with submission(self._settings, workers) as submit:
                    executor = Executor(self.renew_graph, self.selection, submit, current_display(), workers)
                    self.graph = executor.run(self.graph)
        finally:
            close_sessions()
        if "aggregate" in self.selection.stages and (warning := self._missing_scores_warning()):
            log.warning(warning)

    def _workers(self) -> Workers:
        execution = self.plan.study.execution
        if execution.runner == "threads":  # the default of a study file
            return Workers()
        from swaymeter.flows.execution.dask import Cluster

        configured = execution.address or os.environ.get("DASK_SCHEDULER_ADDRESS") or None
        address = configured if execution.runner == "dask" else None
        variants = variants_to_score(self.graph, self.plan, self.selected, force=self._requested["force"])
        models = {variant.position: variant.model for variant in variants}
        return Cluster(address, execution.workers, self._settings, models)

    @property
    def unfinished(self) -> list[PlannedStep]:
        """The selected nodes that are not done, and the damaged nodes whose outputs selected nodes read."""
        selected, nodes = self.selected, self.graph.nodes
        inputs = {other.id for step in selected for other in (*nodes[step].inputs, *nodes[step].waits_for)}
        unfinished = {step for step in selected if nodes[step].state != "done"}
        return [node for node in self.graph if node.id in unfinished or (node.id in inputs and node.state == "damaged")]

    @property
    def failure(self) -> str:
        return failure_message(self.unfinished, len(self.selected))

    def _missing_scores_warning(self) -> str:
        """Return a warning about page and database if scores are missing; "" without a warning.

        Without `whole_only`, a database with a part of the scores is normal, and needs no warning.
        """
        whole_only = self.plan.study.whole_only
        scores = (node for node in self.graph if node.id.stage == "score")
        missing = sorted({node.id.product for node in scores if node.state != "done"})
        warning = f"scores are missing ({', '.join(missing)}): "
        if blocking_score_step(self.graph, whole_only=whole_only):
            return f"{warning}the page and the database of the earlier run stay as they were"
        if not missing or not whole_only:
            return ""
        without_judge = "; verdicts come from the rule alone, and replies that the rule leaves undecided stay undecided"
        judge_warning = without_judge if "judged_answers" in missing else ""
        return f"{warning}the page and the database show the other scores{judge_warning}"


def failure_message(unfinished: Sequence[PlannedStep], count: int) -> str:
    """Return a message with the failures, their reasons and advice; empty without unfinished nodes.

    Args:
        unfinished: The nodes that are not done.
        count: Number of selected steps.
    """
    if not unfinished:
        return ""
    steps_of_reason: dict[str, list[StepId]] = {}
    for node in [node for node in unfinished if node.state != "blocked"] or unfinished:
        steps_of_reason.setdefault(" ".join(node.reason.split()) or node.state, []).append(node.id)
    first, *others = (
        f"{step}{f' and {len(more)} more' if more else ''}: {reason}"
        for reason, (step, *more) in steps_of_reason.items()
    )
    advice = f"{len(unfinished)} of {count} steps are not done; correct the cause, and run the study again"
    return "; ".join([f"{first}. {advice}", *others])


def _run_flow(run: StudyRun, display: Progress) -> str:
    """Run the flow of a study, which takes over this run; return the reason of a failure, or "".

    WorkFailed is raised if the API fails in the middle of the run.
    """
    from swaymeter.flows.server.api import prefect_api

    with prefect_api(FLOW) as url, display:
        from prefect.exceptions import TerminationSignal

        flow = importlib.import_module(FLOW)
        try:
            # The parameters are only for Prefect's page and for a repetition: `current_run` gives the flow this run.
            state = flow.study(**run.parameters, return_state=True)
        except TerminationSignal:  # at SIGTERM; the first process of a container would not end by itself
            raise SystemExit(TERMINATED) from None
        except Exception as error:  # an error of Prefect itself; an error of the flow is in `state`
            _end_if_terminated(error)
            raise WorkFailed(
                f"Prefect's API at {url} failed in the middle of the run ({first_line(error)}); what was computed "
                "is kept: run the same command again"
            ) from None
    if state.is_completed():
        return ""
    if state.is_crashed():
        state.result()  # raises the exception that ended the flow
    if state.data is not None and isinstance(raised := state.result(raise_on_failure=False), BaseException):
        raise raised
    return state.message or "the run failed"


def _end_if_terminated(error: BaseException) -> None:
    """End the run if a signal caused the error; Prefect's API may fail while Prefect reports the signal."""
    from prefect.exceptions import TerminationSignal

    causes = [error]
    for cause in causes:
        if isinstance(cause, KeyboardInterrupt):
            raise cause from None
        if isinstance(cause, TerminationSignal):
            signal.raise_signal(signal.SIGTERM)
            raise SystemExit(TERMINATED)  # the signal alone does not end the first process of a container
        earlier = (cause.__cause__, cause.__context__)
        causes += [error for error in earlier if error and error not in causes]


@contextmanager
def without_prefect(settings: RunSettings, workers: Workers) -> Iterator[Submit]:
    """Yield the function that submits a task to a thread of this process; a transient failure is retried once.

    Raises:
        Exception: A task raised this exception; the context manager raises it after all tasks have ended.
    """
    futures: list[Future[Outcome]] = []
    with ThreadPoolExecutor(THREADS, thread_name_prefix="task") as pool:

        def submit(task: Task, upstream: Mapping[str, bool]) -> Future[Outcome]:
            futures.append(pool.submit(_compute_with_retry, task, settings, workers))
            return futures[-1]

        yield submit
    for future in futures:
        future.result()


def _compute_with_retry(task: Task, settings: RunSettings, workers: Workers) -> Outcome:
    outcome = task.compute(settings, workers, current_display())
    if not outcome.may_pass:
        return outcome
    time.sleep(RETRY_SECONDS)
    return task.compute(settings, workers, current_display())
