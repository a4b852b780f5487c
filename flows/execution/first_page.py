"""The first page: drawn as soon as a relation is scored, while a run that takes long scores the others.

It is what `aggregate` and `report` make of the workspace as it was at that moment; what ends later does not exist for
it. The end of the run brings all of it up to date, as after any earlier run: rows of equal scores are kept.
"""

import logging
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection
from typing import Any

from swaymeter.data.errors import SwaymeterError
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.execution.progress import progress, shown
from swaymeter.flows.graph.graph import Graph
from swaymeter.flows.graph.selection import SUMMARISING, Selection
from swaymeter.flows.graph.step import Run, StepId

log = logging.getLogger(__name__)

WORTH_SECONDS = 60.0
"""What is still to be scored takes at least so long: a first page takes some seconds from it."""

Resolve = Callable[[dict[Any, Any]], Graph]
"""Gives the graph as the workspace is, as far as the memory does not know otherwise."""


def first_page(
    workspace: Workspace, selection: Selection, resolve: Resolve, memory: dict[Any, Any], run: Run
) -> "FirstPage | None":
    """The first page of a run; None where it draws none, or where an earlier run has left one."""
    draws = {*SUMMARISING} <= {*selection.stages}
    return FirstPage(resolve, memory, run) if draws and not os.path.exists(workspace.report) else None


class FirstPage:
    """The first page of one run; is_to_come: whether it may still be drawn, once a whole relation is scored."""

    def __init__(self, resolve: Resolve, memory: dict[Any, Any], run: Run) -> None:
        """None has been drawn; memory: that of the graphs of the run."""
        self._resolve, self._memory, self._run = resolve, memory, run
        self._scored_before: int | None = None  # by earlier runs: steps that ask a model
        self._scoring: tuple[float, int] | None = None  # since when, and how many steps had asked a model by then
        self._thread: threading.Thread | None = None
        self._is_over = threading.Event()
        self.is_to_come = True

    def offer(self, graph: Graph, pending: Collection[StepId]) -> None:
        """Begins to draw where that is worth it; graph: as the memory has it; pending: what is still to end."""
        seconds = self._seconds_left(graph, pending) if self.is_to_come else None
        if seconds is not None and seconds >= WORTH_SECONDS:
            self.is_to_come = False
            self._thread = threading.Thread(target=self._draw, args=(dict(self._memory),), daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Lets no other step begin."""
        self._is_over.set()

    def end(self) -> None:
        """The same, and waits for the step that is computed, if any: the last page has the same files."""
        self.stop()
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(0.1)  # a signal is answered meanwhile

    def _seconds_left(self, graph: Graph, pending: Collection[StepId]) -> float | None:
        """How long scoring will take; None before a relation is scored as a whole, and a step has been timed.

        Timed is from the first step on that this run has scored: before it, data is fetched and built.
        """
        steps = [node for node in graph if node.id.stage == "score"]
        asking = {node.id.group for node in steps if node.step and (node.step.device or node.step.resource == "server")}
        steps = [node for node in steps if node.id.group in asking]  # others follow from these in no time
        done = sum(node.state == "done" for node in steps)
        if self._scored_before is None:
            self._scored_before = done
        if self._scoring is None:
            self._scoring = (time.monotonic(), done) if done > self._scored_before else None
            return None
        since, before = self._scoring
        states = defaultdict[tuple[str, ...], set[str]](set)
        for node in (node for node in graph if node.id.stage == "score"):
            states[node.id.subject, node.id.model, node.id.dtype, node.id.way].add(node.state)
        if done == before or {"done"} not in states.values():
            return None
        return (time.monotonic() - since) / (done - before) * sum(node.id in pending for node in steps)

    def _draw(self, known: dict[Any, Any]) -> None:
        """Computes the steps beside those that score; where one fails, those that do without it go on."""
        try:
            graph = self._resolve(known)
            for identity in [node.id for node in graph if is_of_the_page(node.id)]:
                node = graph.nodes[identity]
                if self._is_over.is_set() or node.step is None:
                    return
                graph.workspace.check_is_there()
                try:
                    node.step.function(node.step, self._run)
                except SwaymeterError:
                    log.debug("%s of the first page", identity, exc_info=True)
                graph.forget(node)
                graph = self._resolve(known)
            said = f"a first page, of what is scored by now: {graph.workspace.report / 'index.html'}"
            log.info(said)
            shown(progress().note, said)
        except Exception:
            log.debug("there is no first page", exc_info=True)


def is_of_the_page(step: StepId) -> bool:
    """Whether it makes statistics, database or page of the whole study."""
    return step.stage in SUMMARISING and step.subject == "study"
