"""Walks the graph of a study: submits what is ready, and resolves the graph again when that changed what is ready.

What counts is the state of the workspace. A step that failed blocks only what needs its outputs; a step that was
submitted and whose outputs are there is done, whatever became of its task run.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from queue import SimpleQueue
from typing import Any, Protocol

from flows.execution.progress import Progress
from flows.graph.graph import Graph, Node
from flows.graph.selection import Selection
from flows.graph.step import Resource, Step, StepId

log = logging.getLogger(__name__)

AT_ONCE: Mapping[Resource, int] = {"services": 3, "compute": 1}
"""Steps that run at the same time: those that wait for services, and those that have the processors or the GPU."""


class Future(Protocol):
    """What a task runner gives for a submitted step."""

    def add_done_callback(self, fn: Callable[[Any], None]) -> None:
        """Calls `fn` with the future once the step has come to its end."""


class Runner:
    """One run over the selected steps of a study."""

    def __init__(
        self, resolve: Callable[[], Graph], selection: Selection, submit: Callable[[Step], Future], progress: Progress
    ) -> None:
        """A run that has not begun; resolve: gives the graph as the workspace is now. submit: starts a step."""
        self._resolve, self._selection, self._submit, self._progress = resolve, selection, submit, progress
        self._running: dict[StepId, Node] = {}
        self._attempted: set[tuple[StepId, str]] = set()
        self._ended: SimpleQueue[StepId] = SimpleQueue()
        self._unseen: set[StepId] = set()  # ended since the graph was resolved: what follows from them is not known
        self._totals: dict[str, int] = {}

    def run(self) -> Graph:
        """Runs until nothing is ready any more; gives the graph as it is then."""
        try:
            return self._walk()
        except BaseException:
            while self._running:  # the workspace is theirs until they have come to their ends
                self._running.pop(self._ended.get())
            raise

    def _walk(self) -> Graph:
        graph = self._resolve()
        while True:
            if self._submit_ready(graph):
                continue
            if not self._running:
                return graph
            ended = self._running.pop(self._ended.get())
            graph.forget(ended)
            self._unseen.add(ended.id)
            submitted = self._submit_ready(graph)
            computes = any(node.step and node.step.resource == "compute" for node in self._running.values())
            if not (submitted and computes):
                graph = self._resolve()
                self._unseen.clear()

    def _submit_ready(self, graph: Graph) -> bool:
        """Submits what may start now; whether that was anything."""
        selected = self._selection.of(graph)
        pending = self._pending(graph, selected)
        self._announce(graph, selected)
        submitted = False
        for node in graph:
            waits = any(other.id in pending for other in (*node.inputs, *node.after))
            if node.id not in selected or waits or not self._is_to_run(node):
                continue
            step = node.step
            assert step is not None
            running = [other.step for other in self._running.values() if other.step]
            if sum(other.resource == step.resource for other in running) >= AT_ONCE[step.resource]:
                continue
            if node.state == "damaged":
                log.warning("%s: %s", node.id, node.reason)
            self._attempted.add(_attempt(node))
            self._progress.started(node.id.stage, str(node.id))
            self._submit(step).add_done_callback(partial(self._end, node.id))
            self._running[node.id] = node  # now, as who is waited for must be able to end
            submitted = True
        return submitted

    def _end(self, identity: StepId, future: Any) -> None:
        self._ended.put(identity)

    def _is_to_run(self, node: Node) -> bool:
        return (
            node.step is not None
            and node.state != "done"
            and node.id not in self._running
            and _attempt(node) not in self._attempted
        )

    def _pending(self, graph: Graph, selected: set[StepId]) -> set[StepId]:
        """The steps that run, will run, or wait for one that does: also those whose outputs may be out of date then."""
        pending = {*self._running, *self._unseen}
        for node in graph:  # inputs come first
            waits = any(other.id in pending for other in (*node.inputs, *node.after))
            if node.id in selected and (waits or self._is_to_run(node)):
                pending.add(node.id)
        return pending

    def _announce(self, graph: Graph, selected: set[StepId]) -> None:
        attempted = {identity for identity, _ in self._attempted}
        open_or_attempted = (
            node.id.stage
            for node in graph
            if node.id in selected and (node.id in attempted or (node.step is not None and node.state != "done"))
        )
        totals = dict(Counter[str](open_or_attempted))
        if totals != self._totals:
            self._progress.plan(totals)
            self._totals = totals


def _attempt(node: Node) -> tuple[StepId, str]:
    """A step with these inputs: with others it is tried again."""
    assert node.step is not None
    return node.id, node.step.key
