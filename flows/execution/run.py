"""One run of a study: hold its workspace, find what is not done, compute it, and say what is not done at the end.

`swaymeter run` and deployments submit the tasks to Prefect (`flows/study.py`). Audits and notebooks compute them in
threads of their own process (`in_threads`), without Prefect, unless an API is configured. `StudyRun.execute` decides.

    with Prefect:  execute -> flow `study`, which finds this run by `begun_run` -> compute(as_task_runs) -> Executor
    without:       execute -> compute(in_threads) -> Executor

A flow run that a deployment starts makes a run of its own from its parameters.
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
from swaymeter.flows.execution.dask import Cluster
from swaymeter.flows.execution.executor import Executor, Submit
from swaymeter.flows.execution.interrupt import TERMINATED, ending_at_sigterm
from swaymeter.flows.execution.progress import Progress, progress, report_to
from swaymeter.flows.execution.task import Outcome, Task, Workers
from swaymeter.flows.graph.graph import Graph, Node, RunSettings, StepId
from swaymeter.flows.graph.rerun import Kind, numbers_file, write_numbers
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.server.settings import is_api_configured
from swaymeter.flows.stages.aggregate import undone_instead_of_scores
from swaymeter.flows.stages.plan import Plan
from swaymeter.flows.stages.refusals import check_run, variants_to_score
from swaymeter.flows.study_graph import graph_of

log = logging.getLogger(__name__)

FLOW = "swaymeter.flows.study"
"""Imports Prefect, which takes longer than anything else."""
THREADS = 2000
"""Upper bound on threads; the workers' capacity is the real limit."""
RETRY_SECONDS = 2
"""Seconds before the second try of a task that failed with a transient error."""

Submission = Callable[[RunSettings, Workers], AbstractContextManager[Submit]]
"""Return what starts the tasks of a run, in a context that ends after all of them."""


_begun: ContextVar["StudyRun | None"] = ContextVar("begun", default=None)
"""Set in the process of a command or a notebook: the flow takes over its run, read, planned and locked."""


def begun_run() -> "StudyRun | None":
    """Return the run that this process has begun; None in a process that Prefect started."""
    return _begun.get()


class StudyRun:
    """A run of the selected steps of a study.

    Attributes:
        plan: Plan of the study.
        selection: The steps to run.
        graph: The graph, as it was last resolved.
        failed: True for a run of the relations of which a step has failed.
    """

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
            name: Path or name of the study: what refusals call it, and a parameter of the flow run.
            force: Compute what is selected again.
            refresh: Fetch again what changes daily at its source.
            offline: Use no network.
            failed: Only the relations of which a step has failed; all of them if none has.
        """
        self.plan, self.selection = plan, selection
        self._name, self.failed = name, failed
        self._kinds: dict[Kind, bool] = {"force": force, "refresh": refresh}
        self._run = RunSettings(plan.workspace.root, offline)
        self._memory: dict[Any, Any] = {}

    @contextmanager
    def begin(self, waiting: Callable[[str], object] | None = None) -> Iterator[None]:
        """Hold the workspace, resolve the graph, and refuse what is impossible; called again within, do nothing.

        Args:
            waiting: Receives a sentence about another run in the workspace, and this one waits for its end; None: the
                run is refused.

        Raises:
            UsageError: The study asks for what is impossible, or has no relation, model or measure of a name.
            WorkspaceError: Another run holds the workspace, or something is to do and it cannot be written.
        """
        if begun_run() is self:
            yield
            return
        workspace = self.plan.workspace
        writable = workspace.is_writable
        with workspace.lock(waiting) if writable else nullcontext():
            self.graph = graph_of(self.plan, self._memory)
            if self.failed:
                self.selection = self.selection.failed(self.graph)
            force, offline = self._kinds["force"], self._run.offline
            check_run(self.graph, self.plan, self.selection, name=self._name, force=force, offline=offline)
            if self.is_needed and not writable:
                raise WorkspaceError(f"the workspace {workspace.root} cannot be written; choose another --workspace")
            token = _begun.set(self)
            try:
                yield
            finally:
                _begun.reset(token)

    def execute(
        self, shown: Progress, *, waiting: Callable[[str], object] | None = None, starts_api: bool = False
    ) -> str:
        """Compute what is not done, and return a message if something failed, else "".

        The run is a flow run of Prefect if its API is configured or started; otherwise threads of this process compute.

        Args:
            shown: Receives steps as they begin and end.
            waiting: Receives a sentence about another run in the workspace, for whose end this one waits; None: the
                run is refused.
            starts_api: Start a temporary API of Prefect if none is configured.
        """
        with self.begin(waiting):
            if not self.is_needed:
                return ""
            report_to(shown)
            if starts_api or is_api_configured():
                message = _as_flow_run(self, shown)
            else:
                with shown, ending_at_sigterm():
                    self.compute(in_threads)
                message = self.failure
        selected = [self.graph.nodes[step] for step in self.selected]  # also what was never begun
        shown.failures |= {str(node.id): node.reason for node in selected if node.state == "failed"}
        return message

    def resolve(self) -> Graph:
        """Resolve the graph on the workspace as it is now."""
        self.plan.workspace.check_mounted()  # an empty folder in its place would count as a study that has not begun
        self.graph = graph_of(self.plan, self._memory)
        return self.graph

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the flow run, with which another process runs the same."""
        workspace, runner = str(self.plan.workspace.root), self.plan.study.execution.runner
        options: dict[str, Any] = dict(self._kinds) | {"offline": self._run.offline, "failed": self.failed}
        selection = {name: [*names] for name, names in vars(self.selection).items()}
        return {"study": self._name, **selection, **options, "workspace": workspace, "runner": runner}

    @property
    def is_needed(self) -> bool:
        """True if a selected step is not done, or is forced."""
        return any(self._kinds.values()) or any(self.graph.nodes[step].state != "done" for step in self.selected)

    @property
    def selected(self) -> set[StepId]:
        """The selected steps of the graph."""
        return self.selection.of(self.graph)

    def compute(self, submission: Submission, *, is_retried: bool = False) -> None:
        """Compute what is not done.

        Args:
            submission: What starts the tasks.
            is_retried: If an earlier try of this run has forced already what is selected.
        """
        try:
            with self._workers() as workers:
                if any(self._kinds.values()) and not is_retried:
                    write_numbers(
                        numbers_file(self.plan.workspace), self.selection.rerun_numbers(self.graph, self._kinds)
                    )
                    self.resolve()
                with submission(self._run, workers) as submit:
                    executor = Executor(self.resolve, self.selection, submit, progress(), workers)
                    self.graph = executor.run(self.graph)
        finally:
            close_sessions()
        if "aggregate" in self.selection.stages and (warning := self._about_missing_scores()):
            log.warning(warning)

    def _workers(self) -> Workers:
        execution = self.plan.study.execution
        if execution.runner == "threads":  # the default of a study file
            return Workers()
        configured = execution.address or os.environ.get("DASK_SCHEDULER_ADDRESS") or None
        address = configured if execution.runner == "dask" else None
        variants = variants_to_score(self.graph, self.plan, self.selected, force=self._kinds["force"])
        models = {variant.position: variant.model for variant in variants}
        return Cluster(address, execution.workers, self._run, models)

    @property
    def undone(self) -> list[Node]:
        """The selected nodes that are not done, and inputs of selected ones that are damaged."""
        selected, nodes = self.selected, self.graph.nodes
        read = {other.id for step in selected for other in (*nodes[step].inputs, *nodes[step].waits_for)}
        undone = {step for step in selected if nodes[step].state != "done"}
        return [node for node in self.graph if node.id in undone or (node.id in read and node.state == "damaged")]

    @property
    def failure(self) -> str:
        """Message on failed steps with their reasons and advice; empty if all are done."""
        return failure_message(self.undone, len(self.selected))

    def _about_missing_scores(self) -> str:
        """Return a warning about the page and the database of a run without all scores; "" if there is none."""
        whole_only = self.plan.study.whole_only
        scores = (node for node in self.graph if node.id.stage == "score")
        missing = sorted({node.id.group for node in scores if node.state != "done"})
        warning = f"scores are missing ({', '.join(missing)}): "
        if undone_instead_of_scores(self.graph, whole_only=whole_only):
            return f"{warning}the page and the database of the earlier run stay as they were"
        if not missing or not whole_only:
            return ""
        by_rule = "; verdicts are the rule's, and replies that it leaves undecided stay so"
        return f"{warning}the page and the database show the others{by_rule * ('judged_answers' in missing)}"


def failure_message(undone: Sequence[Node], count: int) -> str:
    """Return what failed first, why, and what to do; then the rest by reason; empty if nothing is undone.

    Args:
        undone: The nodes that are not done.
        count: Number of selected steps.
    """
    if not undone:
        return ""
    reasons: dict[str, list[StepId]] = {}
    for node in [node for node in undone if node.state != "blocked"] or undone:
        reasons.setdefault(" ".join(node.reason.split()) or node.state, []).append(node.id)
    first, *others = (
        f"{step}{f' and {len(more)} more' if more else ''}: {reason}" for reason, (step, *more) in reasons.items()
    )
    advice = f"{len(undone)} of {count} steps are not done; correct that and run the study again: it keeps the others"
    return "; ".join([f"{first}. {advice}", *others])


def _as_flow_run(run: StudyRun, shown: Progress) -> str:
    """Run the flow of a study, which takes over the run that this process has begun; return why it failed, or "".

    Raises:
        WorkFailed: The API failed in the middle of the run.
    """
    from swaymeter.flows.server.temporary import prefect_api

    with prefect_api(FLOW) as url, shown:
        from prefect.exceptions import TerminationSignal

        flow = importlib.import_module(FLOW)
        try:
            state = flow.study(**run.parameters, return_state=True)
        except TerminationSignal:  # the first process of a container, which Prefect's SIGTERM does not end
            raise SystemExit(TERMINATED) from None
        except Exception as error:  # of Prefect: those of the flow are in its state
            _end_if_terminated(error)
            raise WorkFailed(
                f"Prefect's API at {url} failed in the middle of the run ({first_line(error)}); what was computed "
                "is kept: run the same command again"
            ) from None
    if state.is_completed():
        return ""
    if state.is_crashed():
        state.result()  # raises what ended the flow
    if state.data is not None and isinstance(raised := state.result(raise_on_failure=False), BaseException):
        raise raised
    return state.message or "the run failed"


def _end_if_terminated(error: BaseException) -> None:
    """End the run if Prefect's API failed while Prefect reported that a signal ends the run."""
    from prefect.exceptions import TerminationSignal

    came_before = [error]
    for cause in came_before:
        if isinstance(cause, KeyboardInterrupt):
            raise cause from None
        if isinstance(cause, TerminationSignal):
            signal.raise_signal(signal.SIGTERM)
            raise SystemExit(TERMINATED)  # the first process of a container does not end by the signal alone
        earlier = (cause.__cause__, cause.__context__)
        came_before += [error for error in earlier if error and error not in came_before]


@contextmanager
def in_threads(run: RunSettings, workers: Workers) -> Iterator[Submit]:
    """Start tasks in threads of this process; a task that failed for a reason that may pass is tried twice.

    Raises:
        Exception: The first one that a task raised, after the others have ended.
    """
    futures: list[Future[Outcome]] = []
    with ThreadPoolExecutor(THREADS, thread_name_prefix="task") as pool:

        def submit(task: Task, upstream: Mapping[str, bool]) -> Future[Outcome]:
            futures.append(pool.submit(_compute_twice, task, run, workers))
            return futures[-1]

        yield submit
    for future in futures:
        future.result()


def _compute_twice(task: Task, run: RunSettings, workers: Workers) -> Outcome:
    outcome = task.compute(run, workers, progress())
    if not outcome.may_pass:
        return outcome
    time.sleep(RETRY_SECONDS)
    return task.compute(run, workers, progress())
