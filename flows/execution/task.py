"""A task: one step, or passes of a variant over one relation.

Workers compute the steps of a task one after the other, with or without Prefect.

    Task.compute -> Task.make -> Workers.compute_step -> attempt -> function of the step

A failed step returns an `Outcome` and raises no exception; the workspace also records the failure. After a
SwaymeterError, the user has to correct something. Any other exception may be transient, so the step is tried again.
"""

import logging
import math
import threading
import traceback
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Self

from swaymeter.data.errors import ServiceClosed, SwaymeterError, WorkspaceError
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.execution.progress import Progress, advance_step, call_safely, show_findings
from swaymeter.flows.graph.graph import Graph, PlannedStep, RunSettings, Step, StepId
from swaymeter.flows.graph.stage import Stage
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.stored_chunks import Cost
from swaymeter.tasks.models.files.hub import set_offline

log = logging.getLogger(__name__)

JUDGED = "judged_answers"
"""The measure whose pass is a separate task, because this pass asks the judge in place of the variant's model."""
NO_MODEL = ("", "")
"""Name and dtype of the model of a task that loads no model."""

CAPACITIES: Mapping[str, int] = {"services": 3, "compute": 1}
"""Upper bound on tasks that run at the same time, by queue; each model at a server has TASKS_OF_A_SERVER instead."""

TASKS_OF_A_SERVER = 1
"""Upper bound on tasks that run at the same time for a model at a server; each task sends many requests."""

TRIES = 4
"""Upper bound on starts of a step whose worker dies: after four deaths, the step probably kills its workers."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a step or of a task.

    Attributes:
        cost: Cost of a scoring step that is done.
        failed: Reason of the failure; None without a failure.
        may_pass: True if the failure may be transient.
        is_misfit: True if the worker, and not the step, is the cause of the failure. For example, the worker cannot see
            the workspace, or has another version of the package.
    """

    cost: Cost | None = None
    failed: str | None = None
    may_pass: bool = False
    is_misfit: bool = False


def attempt(step: Step, settings: RunSettings) -> Outcome:
    """Run a step; a failure is recorded in the workspace, for `swaymeter status` and the report's page."""
    set_offline(settings.offline)  # the worker may have computed a step of another run, which was not offline
    workspace = Workspace(settings.workspace)
    try:
        workspace.check_mounted()
        cost = step.function(step, settings)
        workspace.check_mounted()
    except ServiceClosed as error:  # the run was interrupted, and the step has not failed
        return Outcome(failed=str(error))
    except Exception as error:
        log.debug("%s", step.id, exc_info=True)
        try:
            workspace.check_mounted()
        except WorkspaceError as unmounted:  # the missing workspace caused the step's error
            return Outcome(failed=str(unmounted), may_pass=True, is_misfit=True)
        if isinstance(error, SwaymeterError):
            return record_failure(step, settings, str(error))
        return record_failure(step, settings, f"{type(error).__name__}: {error}", traceback.format_exc(), may_pass=True)
    return Outcome(cost)


def record_failure(
    step: Step, settings: RunSettings, reason: str, detail: str = "", *, may_pass: bool = False
) -> Outcome:
    """Record the reason of a failed step, and return its outcome."""
    workspace = Workspace(settings.workspace)
    with suppress(SwaymeterError):  # a full disk must not hide the reason of the failure
        workspace.check_mounted()  # in a missing workspace, `note_failure` would create a new one
        workspace.note_failure(str(step.id), step.key, reason, detail)
    return Outcome(failed=reason, may_pass=may_pass)


INTERRUPTED = Outcome(failed="the run was interrupted")
"""Outcome of a step that did not start, because the run was interrupted; no failure is recorded."""


class Workers:
    """Workers that compute every step in this process; the base class of workers in other processes."""

    def __init__(self) -> None:
        self._computing = threading.Lock()  # held by the step that uses the resource compute
        self._is_abandoned = False  # True after an interrupt of the run

    def capacities(self) -> Mapping[str, int]:
        """Return the number of tasks that may run at the same time, by queue; the numbers may change during a run."""
        return CAPACITIES

    def queue(self, step: Step | PlannedStep) -> str:
        """Return the queue of a step: the step's resource; each model at a server has a queue of its own."""
        return f"server {step.id.model}" if step.resource == "server" else step.resource

    def compute_step(self, step: Step, settings: RunSettings) -> Outcome:
        """Compute a step and wait for its end; called from a separate thread for each step."""
        if self._is_abandoned:
            return INTERRUPTED
        if step.resource != "compute":
            return attempt(step, settings)
        with self._computing:
            return INTERRUPTED if self._is_abandoned else attempt(step, settings)

    def abandon(self) -> None:
        """Interrupt the run: start no further step, and do not wait for steps in other processes."""
        self._is_abandoned = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """End the workers that this object started."""


@dataclass(eq=False)
class Task:
    """Steps with the same `task_name`, which are computed one after the other.

    Attributes:
        name: Name of the task run.
        graph: Graph of the nodes.
        nodes: Nodes in the order in which they are computed.
    """

    name: str
    graph: Graph
    nodes: list[PlannedStep]

    @property
    def stage(self) -> Stage:
        return self.nodes[0].id.stage

    @cached_property
    def decisive_step(self) -> PlannedStep:
        """Step that decides queue and model: the first at a server, else the first with a device, else the first."""
        on_server = (node for node in self.nodes if node.resource == "server")
        return next(on_server, None) or next((node for node in self.nodes if node.device), self.nodes[0])

    @property
    def asks_server(self) -> bool:
        return self.decisive_step.resource == "server"

    @property
    def model(self) -> tuple[str, str]:
        """Name and dtype of the model that the task loads on a device; NO_MODEL for a task that loads none."""
        return model_of(self.decisive_step) if self.decisive_step.device else NO_MODEL

    @property
    def size(self) -> int:
        """Product of the row counts of one step's inputs, such as queries times contexts; 0 if the task is blocked."""
        step = next((node.step for node in self.nodes if node.step), None)
        return math.prod(check.rows for check in step.checks.values()) if step else 0

    @cached_property
    def edges(self) -> dict[str, bool]:
        """Upstream tasks by name, with True for a task whose outputs are required inputs of this task."""
        edges = {task_name(other.id): False for node in self.nodes for other in node.waits_for}
        edges |= {task_name(other.id): True for node in self.nodes for other in node.inputs}
        edges.pop(self.name, None)
        return edges

    @property
    def is_blocked(self) -> bool:
        """True if no step of the task can be computed, because inputs, a model or a file are missing."""
        return all(node.step is None for node in self.nodes)

    def resolve(self) -> None:
        """Compute the keys of the steps from the inputs as they are now."""
        for node in self.nodes:
            self.graph.resolve(node)

    def compute(self, settings: RunSettings, workers: Workers, display: Progress) -> Outcome:
        """Make the outputs of the steps in order; a failed step stops only the steps that need its outputs.

        Args:
            settings: Settings of the run.
            workers: Workers that compute the steps.
            display: Receives the beginning and the end of each step.
        """
        failures: dict[str, str] = {}  # by reason: product of the first step that failed for this reason
        outcomes: list[Outcome] = []
        for node in self.nodes:
            if node is not self.nodes[0]:  # earlier steps may have made the inputs of this step
                self.graph.resolve(node)
            outcomes.append(self.make(node, settings, workers, display))
            if node.state != "done":
                failures.setdefault(outcomes[-1].failed or node.reason or node.state, node.id.product)
        if not failures:
            return Outcome()
        reasons = [f"{product}: {reason}" if len(failures) > 1 else reason for reason, product in failures.items()]
        return Outcome(failed="; ".join(reasons), may_pass=any(outcome.may_pass for outcome in outcomes))

    def make(self, node: PlannedStep, settings: RunSettings, workers: Workers, display: Progress) -> Outcome:
        """Make the outputs of a step that `Graph.resolve` did not find done, and verify the written files."""
        if node.state == "done":
            return Outcome()
        if node.step is None:
            return Outcome(failed=node.reason)
        name, stage = str(node.id), self.stage
        if node.state == "damaged":
            log.warning("%s: %s", name, node.reason)
        call_safely(display.begin_step, stage, name)
        with_display = replace(settings, progress=partial(advance_step, stage, name), show_findings=show_findings)
        outcome = workers.compute_step(node.step, with_display)
        had_failed = node.state == "failed"
        rechecked = self.graph.recheck(node)
        if had_failed and rechecked.state == "done":
            self.graph.workspace.forget_failure(name, node.step.key)
        failure = None if rechecked.state == "done" else outcome.failed or rechecked.reason or "its output is missing"
        call_safely(display.end_step, stage, name, failure, None if failure else outcome.cost)
        return outcome


def task_name(identity: StepId) -> str:
    """Return the name of the task that a step belongs to.

    A task has one step, or passes of a variant over one relation. Passes over queries, passes over questions and the
    judge's pass are separate tasks.
    """
    if identity.stage != "score" or identity.product == JUDGED:
        return str(identity)
    measure = MEASURES.get(identity.product)
    is_about_questions = measure is not None and measure.about == "questions"
    return str(replace(identity, product="questions" if is_about_questions else ""))


def tasks_of(graph: Graph, nodes: Iterable[PlannedStep]) -> dict[str, Task]:
    """Group nodes into tasks, and return the tasks by name."""
    tasks: dict[str, Task] = {}
    for node in nodes:
        name = task_name(node.id)
        tasks.setdefault(name, Task(name, graph, [])).nodes.append(node)
    return tasks


def model_of(node: PlannedStep) -> tuple[str, str]:
    """Return the name and dtype of a node's model; both empty without a model."""
    return node.id.model, node.id.dtype
