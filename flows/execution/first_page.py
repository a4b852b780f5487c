"""The first page: drawn as soon as a relation is scored, while a run that takes long scores the others.

It is what `aggregate` and `report` make of the workspace as it was at that moment; what ends later does not exist for
it. At the end of the run statistics, database and page are made anew, and nothing of them depends on the first ones.
"""

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from swaymeter.flows.execution.progress import progress, shown
from swaymeter.flows.execution.workers.workers import attempt
from swaymeter.flows.graph.graph import Graph
from swaymeter.flows.graph.selection import SUMMARISING
from swaymeter.flows.graph.step import Run, StepId

log = logging.getLogger(__name__)

WORTH_SECONDS = 60.0
"""What is still to be scored takes at least so long: a first page takes some seconds from it."""

Resolve = Callable[[dict[Any, Any]], Graph]
"""Gives the graph as the workspace is, as far as the memory does not know otherwise."""


class FirstPage:
    """The first page of one run, of which there is none where an earlier run has left a page.

    is_to_come: whether it may still be drawn, once a whole relation is scored.
    """

    def __init__(self, resolve: Resolve, memory: dict[Any, Any]) -> None:
        """None has been drawn; memory: that of the run's graphs."""
        self._resolve, self._memory = resolve, memory
        self.is_to_come = True
        self._scoring: tuple[float, int] | None = None  # since when, and how many steps were done by then
        self._thread: threading.Thread | None = None

    def offer(self, graph: Graph, selected: set[StepId]) -> None:
        """Begins to draw where that is worth it; graph: as it is now, and as the memory has it."""
        if self._scoring is None and graph.workspace.report.exists():
            self.is_to_come = False
        if self.is_to_come and self._is_worth(graph, selected):
            self.is_to_come = False
            self._thread = threading.Thread(target=self._draw, args=(dict(self._memory),), daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Waits until it is drawn, where it is being drawn: its files are those of the last page, too."""
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(0.1)  # a signal is answered meanwhile

    def _is_worth(self, graph: Graph, selected: set[StepId]) -> bool:
        states = defaultdict[tuple[str, str, str], list[str]](list)
        for node in graph:
            if node.id.stage == "score" and node.id in selected:
                states[node.id.subject, node.id.model, node.id.dtype].append(node.state)
        every = [state for of_relation in states.values() for state in of_relation]
        now, done, undone = time.monotonic(), every.count("done"), len(every) - every.count("done")
        if self._scoring is None:
            if done or "missing" in every:
                self._scoring = now, done
            return False
        since, before = self._scoring
        is_whole = any({*of_relation} == {"done"} for of_relation in states.values())
        return is_whole and done > before and (now - since) / (done - before) * undone >= WORTH_SECONDS

    def _draw(self, known: dict[Any, Any]) -> None:
        """Computes the steps beside those that score, which it does not wait for; one that fails stops nothing else."""
        try:
            graph = self._resolve(known)
            for identity in [node.id for node in graph if is_of_the_page(node.id)]:
                node = graph.nodes[identity]
                if node.step is None or attempt(node.step, Run(graph.workspace.root)).failed is not None:
                    return
                graph.forget(node)
                graph = self._resolve(known)
            shown(progress().note, f"a first page, of what is scored by now: {graph.workspace.report / 'index.html'}")
        except Exception:
            log.debug("there is no first page", exc_info=True)


def is_of_the_page(step: StepId) -> bool:
    """Whether it makes statistics, database or page of the whole study."""
    return step.stage in SUMMARISING and step.subject == "study"
