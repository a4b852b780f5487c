"""Submit the tasks of a study: each after its upstream tasks, and when its device or service has room.

    Executor -> submit (Prefect's task run, or a thread) -> Task.compute (task.py)

The graph, resolved on the workspace, knows the steps that are done; only the other steps are submitted. The graph is
resolved again after a task whose rows list further steps, and before the database is made.
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
from swaymeter.flows.execution.progress import Progress, shown
from swaymeter.flows.execution.task import NO_MODEL, TASKS_OF_A_SERVER, Task, Workers, model_of, task_name, tasks_of
from swaymeter.flows.graph.graph import Graph, Node, StepId
from swaymeter.flows.graph.selection import Selection

log = logging.getLogger(__name__)

LOOK_AGAIN_SECONDS = 10.0
"""Seconds without the end of a task after which new workers get tasks."""


Submit = Callable[[Task, Mapping[str, bool]], Any]
"""Start a task, and return its future, which has `add_done_callback`.

The names of upstream tasks of this run come with it: True for one whose outputs the task cannot do without.
"""


@dataclass
class Listings:
    """Ends of nodes whose rows list further steps: the graph is resolved again then.

    Attributes:
        each: Nodes before a placeholder; the graph is resolved at the end of each.
        together: Sets of nodes that list the inputs of another; the graph is resolved at the end of all of a set.
        deferred: Nodes that are submitted from a later graph.
    """

    each: set[StepId] = field(default_factory=set)
    together: list[set[StepId]] = field(default_factory=list)
    deferred: set[StepId] = field(default_factory=set)

    def defer(self, node: Node, pending: set[StepId]) -> bool:
        """Return True if a node must wait for a later graph, because a pending node lists its inputs."""
        lists = pending & (self.deferred | {other.id for other in node.listed_by})
        if node.is_placeholder:
            self.each |= pending
        elif lists:
            self.together.append(lists)
        else:
            return False
        self.deferred.add(node.id)
        return True

    def end(self, task: Task) -> bool:
        """Take the end of a task, and return True if the graph has to be resolved again."""
        nodes = {node.id for node in task.nodes}
        for listed in self.together:
            listed -= nodes
        return bool(nodes & self.each) or not all(self.together)


@dataclass
class _Waiting:
    """Tasks that have not begun, as the graph was last resolved.

    Attributes:
        tasks: Tasks by name.
        order: Order of them and of the running tasks; it gives those whose upstream tasks have ended.
        ready: Tasks that wait for room alone; those with a model last, by model, so that a device keeps its own, and
            the largest first.
        listings: Ends of nodes at which the graph is resolved again.
        models: Models in the order of the study.
    """

    tasks: dict[str, Task] = field(default_factory=dict)
    order: TopologicalSorter[str] = field(default_factory=TopologicalSorter)
    ready: list[Task] = field(default_factory=list)
    listings: Listings = field(default_factory=Listings)
    models: dict[tuple[str, str], int] = field(default_factory=dict)


class Executor:
    """One run over the selected steps of a study."""

    def __init__(
        self,
        resolve: Callable[[], Graph],
        selection: Selection,
        submit: Submit,
        progress: Progress,
        workers: Workers | None = None,
    ) -> None:
        """Prepare a run.

        Args:
            resolve: Return the graph as the workspace is now.
            selection: The steps to run.
            submit: Start a task.
            progress: Receive the number of steps of each stage.
            workers: Where steps are computed, and how many at the same time.
        """
        self._resolve, self._selection, self._submit, self._progress = resolve, selection, submit, progress
        self._workers = workers or Workers()
        self._running: dict[str, Task] = {}
        self._begun: set[str] = set()
        self._upstream: dict[str, set[str]] = {}  # names of the tasks that a task waits for
        self._attempted: set[tuple[StepId, str]] = set()  # with its key: with other inputs a step is tried again
        self._ended: SimpleQueue[str] = SimpleQueue()
        self._over = set[str]()  # of the running tasks, those whose threads have come to their ends
        self._waiting = _Waiting()
        self._last_model = NO_MODEL
        self._totals: dict[str, int] = {}

    def run(self, graph: Graph | None = None) -> Graph:
        """Run until no further step can be computed, and return the final graph.

        Args:
            graph: The current graph; None resolves it.
        """
        try:
            return self._walk(graph)
        except BaseException as raised:
            is_signal = not isinstance(raised, Exception)  # Ctrl-C or SIGTERM, after which a run ends within seconds
            code = STOPPED if isinstance(raised, KeyboardInterrupt) else TERMINATED
            end = end_in_time(code) if is_signal else None
            try:
                self._workers.abandon()
            except Exception:  # such as a scheduler that does not answer any more
                log.debug("the workers were not told that the run has ended", exc_info=True)
            while self._running.keys() - self._over:  # the workspace is theirs until they have come to their ends
                with suppress(Empty):  # one may be missing: the exception can come just after one was taken out
                    self._ended.get(timeout=0.1)
            if end:
                end.cancel()
            raise

    def _walk(self, graph: Graph | None) -> Graph:
        while True:
            graph = graph or self._resolve()
            self._plan(graph)
            if not (self._waiting.tasks or self._running):
                return graph
            current, graph, is_listing = graph, None, self._start()
            while not is_listing and (self._running or self._waiting.tasks):
                try:
                    ended = self._running.pop(self._ended.get(timeout=LOOK_AGAIN_SECONDS))
                except Empty:
                    is_listing = self._start()
                    continue
                self._waiting.order.done(ended.name)
                self._attempted |= set(map(_attempt, ended.nodes))
                if ended.graph is not current:  # the task began before the graph was resolved again
                    for node in (node for node in ended.nodes if node.id in current.nodes):
                        current.resolve(current.nodes[node.id])
                if not ended.asks_server:  # which takes no model out of the memory
                    self._last_model = ended.model
                is_listing = self._waiting.listings.end(ended)
                is_listing = self._start() or is_listing

    def _plan(self, graph: Graph) -> None:
        """List the tasks that can be submitted, of the steps that are selected and not done."""
        selected, pending = self._selection.of(graph), set[StepId]()
        waiting, nodes, counted = _Waiting(), list[Node](), Counter[str]()
        for node in (node for node in graph if node.id in selected):  # inputs come first
            before = {other.id for other in (*node.inputs, *node.waits_for)} & pending
            was_attempted = _attempt(node) in self._attempted
            is_to_run = was_attempted or (node.state != "done" and bool(node.step or before))
            counted[node.id.stage] += is_to_run and node.refusal is None
            if task_name(node.id) not in self._running:
                if not before and (node.state == "done" or was_attempted or node.is_placeholder):
                    continue  # otherwise its inputs may change
                if not waiting.listings.defer(node, before):
                    nodes.append(node)
            pending.add(node.id)
        waiting.tasks = tasks_of(graph, nodes)
        not_ended = {*waiting.tasks, *self._running}
        for name in self._running:
            waiting.order.add(name)
        for name, task in waiting.tasks.items():
            self._upstream[name] = {other for other in task.edges if other in not_ended or other in self._begun}
            waiting.order.add(name, *(self._upstream[name] & not_ended))
        waiting.order.prepare()
        waiting.models = {model: queue for queue, model in enumerate(dict.fromkeys(map(model_of, graph)))}
        self._waiting = waiting
        if counted != self._totals:
            shown(self._progress.plan, +counted)
            self._totals = counted

    def _start(self) -> bool:
        """Submit tasks up to the capacity of the workers; return True if the graph has to be resolved again."""
        is_listing = self._make_ready()
        taken, room = Counter(map(self._queue, self._running.values())), self._workers.at_once()
        for task in [*self._waiting.ready]:
            queue = self._queue(task)
            has_room = taken[queue] < room.get(queue, TASKS_OF_A_SERVER)
            if task.is_blocked or (has_room and self._may_load(task)):
                taken[queue] += not task.is_blocked  # such a task only tells why
                self._waiting.ready.remove(task)
                self._begin(task)
        return is_listing

    def _make_ready(self) -> bool:
        """Mark tasks as ready whose upstream tasks have ended, without tasks that are done or were tried before."""
        is_listing, waiting = False, self._waiting
        while names := waiting.order.get_ready():
            for task in [waiting.tasks[name] for name in names if name not in self._running]:
                task.resolve()
                if all(node.state == "done" or _attempt(node) in self._attempted for node in task.nodes):
                    del waiting.tasks[task.name]
                    waiting.order.done(task.name)
                    is_listing = waiting.listings.end(task) or is_listing
                else:
                    insort(waiting.ready, task, key=self._rank)
        return is_listing

    def _begin(self, task: Task) -> None:
        del self._waiting.tasks[task.name]
        self._attempted |= set(map(_attempt, task.nodes))
        self._over.discard(task.name)
        edges = task.edges
        upstream = {name: task.is_blocked and edges[name] for name in self._nearest(task.name)}
        self._begun.add(task.name)
        task.graph.workspace.check_lock()
        self._submit(task, upstream).add_done_callback(partial(self._end, task.name))
        self._running[task.name] = task  # now, as who is waited for must be able to end

    def _nearest(self, name: str) -> list[str]:
        """Return the nearest upstream tasks: those that are not upstream of another upstream task."""
        upstream = self._upstream[name]
        indirect = {far for near in upstream for far in self._upstream[near]}
        return sorted((upstream - indirect) & self._begun)

    def _may_load(self, task: Task) -> bool:
        """Return False if the task needs another model while tasks of the last model are still pending."""
        last = self._last_model
        if not self._running or last == NO_MODEL or task.model in (NO_MODEL, last):
            return True
        return all(other.model != last for other in self._waiting.tasks.values())

    def _rank(self, task: Task) -> tuple[int, int]:
        return (self._waiting.models[model_of(task.leading)], -task.size) if task.leading.device else (-1, 0)

    def _queue(self, task: Task) -> str:
        return self._workers.queue(task.leading)

    def _end(self, name: str, future: Any) -> None:
        self._over.add(name)
        self._ended.put(name)


def _attempt(node: Node) -> tuple[StepId, str]:
    return node.id, node.step.key if node.step else ""
