"""A task: the steps that an operator sees as one task run, such as all passes over a relation with a variant."""

import logging
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from swaymeter.flows.execution.progress import Progress, report_within, shown
from swaymeter.flows.execution.workers.base import Outcome, Workers
from swaymeter.flows.graph.graph import Graph, Node
from swaymeter.flows.graph.stage import Stage
from swaymeter.flows.graph.step import Run, StepId
from swaymeter.tasks.measures import MEASURES

log = logging.getLogger(__name__)

JUDGED = "judged_answers"
"""The pass that asks another model than the rest of its variant, perhaps on a server: a task of its own."""


@dataclass(eq=False)
class Task:
    """Steps of one stage and subject that are computed one after the other.

    Attributes:
        name: Name of the task run.
        graph: Graph of the nodes.
        nodes: Nodes in the order in which they are computed.
    """

    name: str
    graph: Graph
    nodes: list[Node]

    @property
    def stage(self) -> Stage:
        """The stage of its steps."""
        return self.nodes[0].id.stage

    @property
    def leading(self) -> Node:
        """The node that decides where the task waits: the first that asks a server, else the first with a device."""
        on_server = (node for node in self.nodes if node.resource == "server")
        return next(on_server, None) or next((node for node in self.nodes if node.device), self.nodes[0])

    @property
    def asks_server(self) -> bool:
        """True if it asks a model on a server."""
        return self.leading.resource == "server"

    @property
    def model(self) -> tuple[str, str]:
        """The name and dtype of the model in the memory of a device; empty for a task without one."""
        leading = self.leading
        return (leading.id.model, leading.id.dtype) if leading.device else ("", "")

    @property
    def size(self) -> int:
        """Queries times contexts, or questions."""
        step = next((node.step for node in self.nodes if node.step), None)
        return math.prod(check.rows for check in step.checks.values()) if step else 0

    @property
    def edges(self) -> dict[str, bool]:
        """Names of its upstream tasks; True for one whose outputs it cannot do without."""
        edges = {task_name(other.id): False for node in self.nodes for other in node.waits_for}
        edges |= {task_name(other.id): True for node in self.nodes for other in node.inputs}
        edges.pop(self.name, None)
        return edges

    @property
    def is_blocked(self) -> bool:
        """True if none of its steps can be computed: inputs are missing, or a model or file."""
        return all(node.step is None for node in self.nodes)

    def resolve(self) -> None:
        """Compute the keys of its steps from their inputs as they are now."""
        for node in self.nodes:
            self.graph.resolve(node)

    def compute(self, run: Run, workers: Workers, progress: Progress) -> Outcome:
        """Run the steps that are not done, in order; a failed step stops only those that need its outputs."""
        failures: dict[str, str] = {}
        outcomes: list[Outcome] = []
        for node in self.nodes:
            if self.graph.resolve(node).state == "done":
                continue
            outcome = self._step(node, run, workers, progress) if node.step else Outcome(failed=node.reason)
            outcomes.append(outcome)
            if node.state != "done":
                failures.setdefault(outcome.failed or node.reason or node.state, node.id.group)
        if not failures:
            return Outcome()
        reasons = [f"{group}: {reason}" if len(failures) > 1 else reason for reason, group in failures.items()]
        return Outcome(failed="; ".join(reasons), may_pass=any(outcome.may_pass for outcome in outcomes))

    def _step(self, node: Node, run: Run, workers: Workers, progress: Progress) -> Outcome:
        name, stage = str(node.id), self.stage
        assert node.step is not None
        if node.state == "damaged":
            log.warning("%s: %s", name, node.reason)
        shown(progress.started, stage, name)
        outcome = workers.compute(node.step, replace(run, progress=partial(report_within, stage, name)))
        self.graph.renew(node)
        failed = None if node.state == "done" else outcome.failed or node.reason or "its output is missing"
        shown(progress.finished, stage, name, failed, None if failed else outcome.spent)
        return outcome


def task_name(step: StepId) -> str:
    """Return the name of the task that a step belongs to; scores of queries and of questions are two tasks."""
    if step.stage != "score" or step.group == JUDGED:
        return str(step)
    measure = MEASURES.get(step.group)
    is_about_questions = measure is not None and measure.about == "questions"
    return str(replace(step, group="questions" * is_about_questions))


def tasks_of(graph: Graph, nodes: Iterable[Node]) -> dict[str, Task]:
    """Group nodes into tasks, by name."""
    tasks: dict[str, Task] = {}
    for node in nodes:
        name = task_name(node.id)
        tasks.setdefault(name, Task(name, graph, [])).nodes.append(node)
    return tasks
