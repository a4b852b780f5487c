"""Processor and wall time of a task that does nothing, as Prefect runs it and as a study's run does.

    plain   a flow of Prefect that submits every task with the futures of its inputs, with the options of our tasks
    run     the tasks of a graph, submitted by the executor; each makes a table of one row

One process runs both in turns, on one temporary server, whose own time does not count. The table of a task is written,
hashed, synced and verified; that part is measured in its threads, and shown and subtracted.
"""

import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from benchmarks.machine import this_machine
from benchmarks.measuring import Table, arguments, publish
from swaymeter.data.records.row import Meaning, table, table_of
from swaymeter.data.storage.artifact import TableArtifact
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.execution.executor import Executor
from swaymeter.flows.execution.progress import Progress
from swaymeter.flows.execution.run import FLOW
from swaymeter.flows.execution.task import Workers
from swaymeter.flows.graph.graph import Graph, Output, PlannedStep, RunSettings, Step, StepId, StepKind
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.stage import Stage
from swaymeter.flows.server.api import prefect_api

CHAIN: tuple[Stage, ...] = ("fetch", "build", "score")
COLUMNS = ("side", "processor ms a task", "wall ms a task", "of it artifacts", "ratio")


@table("numbers", "Numbers of tasks.", key=("number",))
@dataclass(frozen=True)
class Number:
    """A row."""

    number: Annotated[int, Meaning("a number")]


NUMBERS = table_of(Number)


def compute(step: Step, settings: RunSettings) -> None:
    """Write a table of one row."""
    step.table("numbers").write(NUMBERS.of([{"number": 1}]))


def graph_of(root: Path, chains: int, memory: dict[Any, Any]) -> Graph:
    """Return a graph of chains of three steps, each of which reads the table of the one before."""
    graph = Graph(Workspace(root), memory=memory)
    for number in range(chains):
        before: PlannedStep | None = None
        for stage in CHAIN:
            kind = StepKind(stage, "numbers", ("numbers",), compute, resource="services")
            output = {"numbers": Output(NUMBERS, ("numbers", f"{number}"), stage)}
            inputs = {"before": before.output("numbers")} if before else {}
            before = graph.add(kind, StepId(stage, f"relation-{number}", "numbers"), output, inputs=inputs)
    return graph


def plain(chains: int) -> None:
    """Submit the tasks as a flow of Prefect does."""
    from prefect import task

    from swaymeter.flows.execution.task_runs import TASK_OPTIONS

    def nothing(name: str, before: Any = None) -> None:
        return None

    tasks = {stage: task(name=stage, **TASK_OPTIONS)(nothing) for stage in CHAIN}
    for number in range(chains):
        future: Any = None
        for stage in CHAIN:
            future = tasks[stage].submit(f"{stage} · relation-{number}", future)


def run(chains: int, root: Path) -> None:
    """Submit the tasks as the run of a study does."""
    from swaymeter.flows.execution.task_runs import as_task_runs

    memory: dict[Any, Any] = {}
    with Workspace(root).lock(), as_task_runs(RunSettings(root), Workers()) as submit:
        graph = Executor(lambda: graph_of(root, chains, memory), Selection(), submit, Progress(), Workers()).run()
    assert all(node.state == "done" for node in graph)


class Clock:
    """Sum the processor time that threads spend in methods of artifacts."""

    def __init__(self) -> None:
        self.seconds, self._inside = 0.0, threading.local()

    def timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method, whose time is added; calls within another count once."""

        def call(*arguments: Any) -> Any:
            if getattr(self._inside, "yes", False):
                return method(*arguments)
            self._inside.yes, began = True, time.thread_time()
            try:
                return method(*arguments)
            finally:
                self._inside.yes = False
                self.seconds += time.thread_time() - began

        return call


def cost_of(compute: Callable[[], Any], tasks: int) -> tuple[float, float]:
    """Return milliseconds of processor and of wall time of a task, until its events and logs are sent."""
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    processor, wall = time.process_time(), time.perf_counter()
    compute()
    EventsWorker.drain_all(timeout=60)
    APILogWorker.drain_all(timeout=60)
    return 1e3 * (time.process_time() - processor) / tasks, 1e3 * (time.perf_counter() - wall) / tasks


def main() -> None:
    """Measure, print and write."""
    parser = arguments(__doc__)
    parser.add_argument("--chains", type=int, default=50, help="chains of three tasks; by default 50")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of both sides; by default 5")
    options = parser.parse_args()
    if options.quick:
        options.chains, options.rounds = 2, 1
    tasks, clock = len(CHAIN) * options.chains, Clock()
    costs: dict[str, list[tuple[float, float]]] = {"plain": [], "run": []}
    artifacts: list[float] = []
    with prefect_api(FLOW), TemporaryDirectory() as folder:
        from prefect import flow

        from swaymeter.flows.study import THREAD_POOL

        plain_flow, run_flow = (flow(side, persist_result=False, task_runner=THREAD_POOL) for side in (plain, run))
        for name in ("write", "check", "read"):
            setattr(TableArtifact, name, clock.timed(getattr(TableArtifact, name)))
        plain_flow(1)  # what is set up once is set up
        for number in range(options.rounds):
            costs["plain"].append(cost_of(partial(plain_flow, options.chains), tasks))
            clock.seconds = 0.0
            costs["run"].append(cost_of(partial(run_flow, options.chains, Path(folder, str(number))), tasks))
            artifacts.append(1e3 * clock.seconds / tasks)
    median = {side: [statistics.median(values) for values in zip(*each, strict=True)] for side, each in costs.items()}
    stored, (ours, plainly) = statistics.median(artifacts), (median["run"][0], median["plain"][0])
    rows = [
        ("plain", f"{plainly:.1f}", f"{median['plain'][1]:.0f}", "", ""),
        ("run", f"{ours:.1f}", f"{median['run'][1]:.0f}", f"{stored:.1f}", f"{ours / plainly:.2f}"),
        ("run without artifacts", f"{ours - stored:.1f}", "", "", f"{(ours - stored) / plainly:.2f}"),
    ]
    machine = this_machine("cpu")
    title = f"{tasks} tasks, median of {options.rounds} rounds, {machine.name}"
    figures = {"tasks": tasks, "rounds": options.rounds, "plain": median["plain"], "run": median["run"]}
    publish("overhead", machine, [Table(title, COLUMNS, rows)], {**figures, "artifacts": stored}, options)


if __name__ == "__main__":
    main()
