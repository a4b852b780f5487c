"""Walks the graph of a study: submits what is ready, and resolves the graph again when that changed what is ready.

What counts is the state of the workspace. A step that failed blocks only what needs its outputs; a step that was
submitted and whose outputs are there is done, whatever became of its task run.
"""

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from swaymeter.flows.execution.interrupt import STOPPED, TOLD_TO_END, end_in_time
from swaymeter.flows.execution.progress import Progress, shown
from swaymeter.flows.execution.workers.workers import OF_A_SERVER, Workers
from swaymeter.flows.graph.graph import Graph, Node
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.step import Step, StepId

log = logging.getLogger(__name__)

LOOK_AGAIN_SECONDS = 10.0
"""If no step ends for so long, workers that have joined meanwhile are given steps."""

NO_MODEL = ("", "")
"""Of a step that is not about a model."""


@dataclass
class _Ready:
    """The steps that may start, as the graph was last resolved; a step that ends adds none before the next time.

    held: models of which more may be ready then. last: the model of the step that ended last.
    """

    nodes: list[Node]
    held: set[tuple[str, str]]
    last: tuple[str, str] = NO_MODEL

    def allows(self, node: Node) -> bool:
        """Whether a step may start now; one of another model waits until it is known what still needs the last."""
        return _asks_server(node) or self.last not in self.held or _model(node) == self.last


class Runner:
    """One run over the selected steps of a study."""

    def __init__(
        self, resolve: Callable[[], Graph], selection: Selection, submit: Callable[[Step], Any], progress: Progress,
        workers: Workers | None = None, tell: Callable[[Step, Any], None] = lambda step, future: None,
    ) -> None:  # fmt: skip
        """A run that has not begun.

        Args:
            resolve: Gives the graph as the workspace is now.
            selection: The steps to run.
            submit: Starts a step, and gives its future, which has `add_done_callback`.
            progress: Is told what is planned and started.
            workers: How many steps may run, and where.
            tell: Is told of each step that has ended, with its future, and does not decide whether it has.
        """
        self._resolve, self._selection, self._submit, self._progress = resolve, selection, submit, progress
        self._workers, self._tell = workers or Workers(), tell
        self._running: dict[StepId, Node] = {}
        self._attempted: set[tuple[StepId, str]] = set()  # with its key: with other inputs a step is tried again
        self._ended: SimpleQueue[StepId] = SimpleQueue()
        self._over = set[StepId]()  # of those that were begun, the ones that have come to their ends
        self._unseen: set[StepId] = set()  # ended since the graph was resolved: what follows from them is not known
        self._totals: dict[str, int] = {}

    def run(self, graph: Graph | None = None) -> Graph:
        """Runs until nothing is ready any more; gives the graph as it is then. graph: as it is now, where known."""
        try:
            return self._walk(graph)
        except BaseException as raised:
            is_told = not isinstance(raised, Exception)  # by Ctrl-C or SIGTERM, which is answered in seconds
            code = STOPPED if isinstance(raised, KeyboardInterrupt) else TOLD_TO_END
            end = end_in_time(code) if is_told else None
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
            self._unseen.clear()
            ready = self._ready(graph)
            if not (ready.nodes or self._running):
                return graph
            self._start(ready)
            while graph:
                try:
                    ended = self._running.pop(self._ended.get(timeout=LOOK_AGAIN_SECONDS))
                except Empty:
                    self._start(ready)
                    continue
                graph.forget(ended)
                self._unseen.add(ended.id)
                if not _asks_server(ended):  # which takes no model out of the memory
                    ready.last = _model(ended)
                computes = any(node.step and node.step.resource == "compute" for node in self._running.values())
                if not (self._start(ready) and computes):
                    graph = None

    def _ready(self, graph: Graph) -> _Ready:
        selected = self._selection.of(graph)
        pending = {*self._running, *self._unseen}  # also what waits for a step that runs, as it may be out of date then
        for node in graph:  # inputs come first
            if node.id in selected and (_waits(node, pending) or self._is_to_run(node)):
                pending.add(node.id)
        self._announce(graph, selected)
        ready = [node for node in graph if node.id in selected and self._is_to_run(node) and not _waits(node, pending)]
        held = {_model(graph.nodes[identity]) for identity in pending - {node.id for node in ready} - {*self._running}}
        return _Ready(_in_order(ready, dict.fromkeys(map(_model, graph))), held - {NO_MODEL})

    def _start(self, ready: _Ready) -> bool:
        """Submits what there is room for; whether that was anything."""
        taken = Counter(map(self._place, self._running.values()))
        servers = {self._place(node) for node in (*ready.nodes, *self._running.values()) if _asks_server(node)}
        at_once = {**dict.fromkeys(servers, OF_A_SERVER), **self._workers.at_once()}
        chosen: list[Node] = []
        for node in ready.nodes:
            if taken.total() >= sum(at_once.values()):
                break
            place = self._place(node)
            if taken[place] < at_once[place] and ready.allows(node):
                taken[place] += 1
                chosen.append(node)
        for node in chosen:
            ready.nodes.remove(node)
            assert node.step is not None
            if node.state == "damaged":
                log.warning("%s: %s", node.id, node.reason)
            self._attempted.add((node.id, node.step.key))
            self._over.discard(node.id)
            shown(self._progress.started, node.id.stage, str(node.id))
            self._submit(node.step).add_done_callback(partial(self._end, node.id, node.step))
            self._running[node.id] = node  # now, as who is waited for must be able to end
        return bool(chosen)

    def _place(self, node: Node) -> str:
        assert node.step is not None
        return self._workers.place(node.step)

    def _end(self, identity: StepId, step: Step, future: Any) -> None:
        try:
            shown(self._tell, step, future)
        finally:
            self._over.add(identity)
            self._ended.put(identity)

    def _is_to_run(self, node: Node) -> bool:
        return (
            node.step is not None and node.state != "done" and node.id not in self._running
            and (node.id, node.step.key) not in self._attempted
        )  # fmt: skip

    def _announce(self, graph: Graph, selected: set[StepId]) -> None:
        attempted = {identity for identity, _ in self._attempted}
        totals = Counter[str](
            node.id.stage
            for node in graph
            if node.id in selected and (node.id in attempted or (node.step is not None and node.state != "done"))
        )
        if totals != self._totals:
            shown(self._progress.plan, totals)
            self._totals = totals


def _asks_server(node: Node) -> bool:
    return node.step is not None and node.step.resource == "server"


def _waits(node: Node, pending: set[StepId]) -> bool:
    return any(other.id in pending for other in (*node.inputs, *node.after))


def _in_order(ready: list[Node], models: Iterable[tuple[str, str]]) -> list[Node]:
    """Steps that ask a model last, by model so that a worker keeps its own, and the largest first."""
    places = {model: place for place, model in enumerate(models)}

    def order(node: Node) -> tuple[int, int]:
        if not (node.step and node.step.device):
            return -1, 0
        rows = math.prod(check.rows for check in node.step.checks.values())  # queries times contexts, or questions
        return places[_model(node)], -rows

    return sorted(ready, key=order)


def _model(node: Node) -> tuple[str, str]:
    return node.id.model, node.id.dtype
