"""Submit each task of a study once its upstream tasks have ended and its device or service has room.

    Executor -> submit (Prefect's task run, or a thread) -> Task.compute (task.py)

A step is done if its artifacts are in the workspace; only steps that are not done are submitted. The graph is resolved
again after a task whose rows list further steps, and before the database is made.
"""

import logging
from bisect import insort
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from graphlib import TopologicalSorter
from queue import Empty, SimpleQueue
from typing import Any

from swaymeter.flows.execution.interrupt import STOPPED, TERMINATED, end_in_time
from swaymeter.flows.execution.progress import Progress, call_safely
from swaymeter.flows.execution.task import NO_MODEL, TASKS_OF_A_SERVER, Task, Workers, model_of, task_name, tasks_of
from swaymeter.flows.graph.graph import Graph, PlannedStep, StepId
from swaymeter.flows.graph.selection import Selection

log = logging.getLogger(__name__)

LOOK_AGAIN_SECONDS = 10.0
"""Seconds between two looks for workers that have joined the run, while no task ends."""

Submit = Callable[[Task, Mapping[str, bool]], Any]
"""Function that starts a task and returns its future, which has `add_done_callback`.

The mapping has the names of submitted upstream tasks, with True if a failure of the upstream task must stop the task.
"""


@dataclass
class _DeferredNodes:
    """Nodes that are not submitted before the graph is resolved again.

    Attributes:
        ids: Ids of these nodes.
        resolve_after_any: Nodes whose rows list further steps; until then, a placeholder stands for these steps. The
            graph is resolved again when any of these nodes has ended.
        resolve_after_all: Sets of nodes that decide the inputs of another node. The graph is resolved again when all
            nodes of a set have ended.
    """

    ids: set[StepId] = field(default_factory=set)
    resolve_after_any: set[StepId] = field(default_factory=set)
    resolve_after_all: list[set[StepId]] = field(default_factory=list)

    def defer(self, node: PlannedStep, upstream: set[StepId]) -> bool:
        """Record a node that must wait until the graph is resolved again; return False for any other node.

        Args:
            node: The node.
            upstream: Ids of unfinished nodes upstream of the node.
        """
        deciding_nodes = upstream & (self.ids | {other.id for other in node.deciding_nodes})
        if node.is_placeholder:
            self.resolve_after_any |= upstream
        elif deciding_nodes:
            self.resolve_after_all.append(deciding_nodes)
        else:
            return False
        self.ids.add(node.id)
        return True

    def end(self, task: Task) -> bool:
        """Record the end of a task, and return True if the graph has to be resolved again."""
        nodes = {node.id for node in task.nodes}
        for deciding_nodes in self.resolve_after_all:
            deciding_nodes -= nodes
        return bool(nodes & self.resolve_after_any) or not all(self.resolve_after_all)  # an empty set has ended


@dataclass
class _PendingTasks:
    """Tasks of the current graph that are not submitted yet.

    Attributes:
        tasks: Tasks by name.
        upstream_order: Topological order of these tasks and the running tasks.
        ready: By queue: tasks whose upstream tasks have ended, and which wait for a free worker. Tasks without a device
            come first. The others are sorted by model, so that a device loads each model once; the largest task of a
            model comes first.
        deferred: Nodes that wait until the graph is resolved again.
        models: Position of each model in the graph, by name and dtype.
    """

    tasks: dict[str, Task] = field(default_factory=dict)
    upstream_order: TopologicalSorter[str] = field(default_factory=TopologicalSorter)
    ready: dict[str, list[Task]] = field(default_factory=dict)
    deferred: _DeferredNodes = field(default_factory=_DeferredNodes)
    models: dict[tuple[str, str], int] = field(default_factory=dict)


class Executor:
    """Execution of the selected steps of a study."""

    def __init__(
        self,
        renew_graph: Callable[[], Graph],
        selection: Selection,
        submit: Submit,
        display: Progress,
        workers: Workers | None = None,
    ) -> None:
        """Prepare a run.

        Args:
            renew_graph: Function that returns a new graph for the present state of the workspace.
            selection: The steps to run.
            submit: Function that starts a task.
            display: Receives the number of steps of each stage.
            workers: Workers that compute the steps; None for this process.
        """
        self._renew_graph, self._selection, self._submit, self._display = renew_graph, selection, submit, display
        self._workers = workers or Workers()
        self._running: dict[str, Task] = {}
        self._submitted: set[str] = set()
        self._upstream: dict[str, set[str]] = {}  # by name of a task: names of the tasks that it waits for
        self._attempted = set[tuple[StepId, str]]()  # steps with their keys: with a new key, a step runs again
        self._ends: SimpleQueue[str] = SimpleQueue()  # names of tasks that have ended
        self._ended_threads = set[str]()  # names of running tasks whose threads have ended
        self._pending = _PendingTasks()
        self._last_model = NO_MODEL  # model of the last ended task that asks no server
        self._totals: dict[str, int] = {}  # number of steps by stage, as the display shows them

    def run(self, graph: Graph | None = None) -> Graph:
        """Compute steps until no further step can be computed, and return the final graph.

        Args:
            graph: The current graph; None for a new graph.
        """
        try:
            return self._run_graphs(graph)
        except BaseException as raised:
            is_signal = not isinstance(raised, Exception)  # Ctrl-C or SIGTERM, after which a run ends within seconds
            exit_code = STOPPED if isinstance(raised, KeyboardInterrupt) else TERMINATED
            timer = end_in_time(exit_code) if is_signal else None
            try:
                self._workers.abandon()
            except Exception:  # for example, a scheduler does not answer
                log.debug("the workers were not told that the run has ended", exc_info=True)
            while self._running.keys() - self._ended_threads:  # these tasks may still write to the workspace
                with suppress(Empty):  # the interrupted code may already have taken the end out of the queue
                    self._ends.get(timeout=0.1)
            if timer:
                timer.cancel()
            raise

    def _run_graphs(self, graph: Graph | None) -> Graph:
        while True:
            graph = graph or self._renew_graph()
            self._list_tasks(graph)
            if not (self._pending.tasks or self._running):
                return graph
            current, graph = graph, None  # the next turn of the outer loop renews the graph
            must_resolve = self._submit_ready()
            while not must_resolve and (self._running or self._pending.tasks):
                try:
                    ended = self._running.pop(self._ends.get(timeout=LOOK_AGAIN_SECONDS))
                except Empty:
                    must_resolve = self._submit_ready()
                    continue
                self._pending.upstream_order.done(ended.name)
                self._attempted |= set(map(_id_and_key, ended.nodes))
                if ended.graph is not current:  # the task began in an earlier graph, so resolve its nodes in `current`
                    for node in (node for node in ended.nodes if node.id in current.nodes):
                        current.resolve(current.nodes[node.id])
                if not ended.asks_server:  # a model at a server replaces no loaded model
                    self._last_model = ended.model
                must_resolve = self._pending.deferred.end(ended)
                must_resolve = self._submit_ready() or must_resolve

    def _list_tasks(self, graph: Graph) -> None:
        selected, unfinished_nodes = self._selection.of(graph), set[StepId]()
        pending_tasks, nodes, counted = _PendingTasks(), list[PlannedStep](), Counter[str]()
        for node in (node for node in graph if node.id in selected):  # upstream nodes come first
            upstream = {other.id for other in (*node.inputs, *node.waits_for)} & unfinished_nodes
            was_attempted = _id_and_key(node) in self._attempted
            is_counted = was_attempted or (node.state != "done" and bool(node.step or upstream))
            counted[node.id.stage] += is_counted and node.refusal is None  # ended steps count, too
            if task_name(node.id) not in self._running:
                # The end of an upstream node may change the inputs of a node, even if the node is done.
                if not upstream and (node.state == "done" or was_attempted or node.is_placeholder):
                    continue
                if not pending_tasks.deferred.defer(node, upstream):
                    nodes.append(node)
            unfinished_nodes.add(node.id)
        pending_tasks.tasks = tasks_of(graph, nodes)
        unfinished_tasks = {*pending_tasks.tasks, *self._running}
        for name in self._running:
            pending_tasks.upstream_order.add(name)
        for name, task in pending_tasks.tasks.items():
            self._upstream[name] = {
                other for other in task.edges if other in unfinished_tasks or other in self._submitted
            }
            pending_tasks.upstream_order.add(name, *(self._upstream[name] & unfinished_tasks))
        pending_tasks.upstream_order.prepare()
        pending_tasks.models = {model: position for position, model in enumerate(dict.fromkeys(map(model_of, graph)))}
        self._pending = pending_tasks
        if counted != self._totals:
            call_safely(self._display.set_totals, +counted)  # `+` drops stages without steps
            self._totals = counted

    def _submit_ready(self) -> bool:
        """Submit tasks up to the capacity of the workers; return True if the graph has to be resolved again."""
        must_resolve = self._update_ready()
        running, capacities = Counter(map(self._queue, self._running.values())), self._workers.capacities()
        for queue, tasks in self._pending.ready.items():
            free = capacities.get(queue, TASKS_OF_A_SERVER) - running[queue]
            for task in [*tasks]:
                if free <= 0:
                    break
                if self._may_load(task):
                    free -= 1
                    tasks.remove(task)
                    self._submit_task(task)
        return must_resolve

    def _update_ready(self) -> bool:
        """Move tasks whose upstream tasks have ended to `ready`; drop tasks that are done or were attempted.

        The result is True if the graph has to be resolved again.
        """
        must_resolve, pending_tasks = False, self._pending
        while names := pending_tasks.upstream_order.get_ready():
            for task in [pending_tasks.tasks[name] for name in names if name not in self._running]:
                if self._upstream[task.name]:  # a task without upstream tasks is still as the graph resolved it
                    task.resolve()
                if all(node.state == "done" or _id_and_key(node) in self._attempted for node in task.nodes):
                    del pending_tasks.tasks[task.name]
                    pending_tasks.upstream_order.done(task.name)
                    must_resolve = pending_tasks.deferred.end(task) or must_resolve
                elif task.is_blocked:
                    self._submit_task(task)  # a blocked task needs no free worker: it fails at once with its reason
                else:
                    insort(pending_tasks.ready.setdefault(self._queue(task), []), task, key=self._rank)
        return must_resolve

    def _submit_task(self, task: Task) -> None:
        del self._pending.tasks[task.name]
        self._attempted |= set(map(_id_and_key, task.nodes))
        self._ended_threads.discard(task.name)
        edges = task.edges
        # A failed input stops only a blocked task, which Prefect's page then shows as not ready. Any other task has all
        # required inputs.
        upstream = {name: task.is_blocked and edges[name] for name in self._nearest(task.name)}
        self._submitted.add(task.name)
        task.graph.workspace.check_lock()
        self._submit(task, upstream).add_done_callback(partial(self._record_end, task.name))
        self._running[task.name] = task  # after the start, because an interrupted run waits for each task in `_running`

    def _nearest(self, name: str) -> list[str]:
        """Return the upstream tasks that were submitted and are not upstream of another upstream task."""
        upstream = self._upstream[name]
        indirect = {far for near in upstream for far in self._upstream[near]}
        return sorted((upstream - indirect) & self._submitted)

    def _may_load(self, task: Task) -> bool:
        """Return False if the task needs another model while pending tasks still need the last model."""
        last = self._last_model
        if not self._running or last == NO_MODEL or task.model in (NO_MODEL, last):
            return True
        return all(other.model != last for other in self._pending.tasks.values())

    def _rank(self, task: Task) -> tuple[int, int]:
        """Return the sort key of a task for `_PendingTasks.ready`."""
        step = task.decisive_step
        return (self._pending.models[model_of(step)], -task.size) if step.device else (-1, 0)

    def _queue(self, task: Task) -> str:
        return self._workers.queue(task.decisive_step)

    def _record_end(self, name: str, future: Any) -> None:
        self._ended_threads.add(name)
        self._ends.put(name)


def _id_and_key(node: PlannedStep) -> tuple[StepId, str]:
    return node.id, node.step.key if node.step else ""
