"""Processor and wall time of a task, in a plain flow of Prefect and in the run of a study.

    plain     a flow of Prefect submits empty tasks with the futures of their inputs and the options of a study's tasks
    run       the executor submits the tasks of a graph; each task writes a table of one row and verifies it

One process runs the two flows in turns, on one temporary server, whose own time does not count. Every second round
begins with `run`, because the server may still store the events of a flow and slow down the next flow.
"""

import gc
import statistics
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
"""Stages of the three steps of a chain."""
SIDES = ("plain", "run")
COLUMNS = ("flow", "processor ms a task", "wall ms a task", "ratio to plain")


@table("numbers", "Numbers of tasks.", key=("number",))
@dataclass(frozen=True)
class Number:
    """A row."""

    number: Annotated[int, Meaning("a number")]


NUMBERS = table_of(Number)
ROWS = NUMBERS.of([{"number": 1}])


def compute(step: Step, settings: RunSettings) -> None:
    """Write a table of one row."""
    step.table("numbers").write(ROWS)


def graph_of(root: Path, chains: int, shared_results: dict[Any, Any]) -> Graph:
    """Return a graph of chains of three steps; a step reads the table of the step before it in the chain.

    Args:
        root: Folder of the workspace.
        chains: Number of chains.
        shared_results: Results of checks of artifacts, which all graphs of a run share.
    """
    graph = Graph(Workspace(root), shared_results=shared_results)
    for number in range(chains):
        before: PlannedStep | None = None
        for stage in CHAIN:
            resource: Any = "services" if stage == "fetch" else "compute"
            kind = StepKind(stage, "numbers", ("numbers",), compute, resource=resource)
            output = {"numbers": Output(NUMBERS, ("numbers", f"{number}"), stage)}
            inputs = {"before": before.output("numbers")} if before else {}
            before = graph.add(kind, StepId(stage, f"relation-{number}", "numbers"), output, inputs=inputs)
    return graph


def plain(chains: int, root: Path) -> None:
    """Submit empty tasks in chains, as a plain flow of Prefect does."""
    from prefect import task
    from prefect.futures import wait

    from swaymeter.flows.execution.task_runs import TASK_OPTIONS

    tasks = {stage: task(name=stage, **TASK_OPTIONS)(lambda name, before: None) for stage in CHAIN}
    futures = []
    for number in range(chains):
        future: Any = None
        for stage in CHAIN:
            future = tasks[stage].submit(f"{stage} · relation-{number}", future)
            futures.append(future)
    wait(futures)  # otherwise the end of the flow cancels the tasks that have not begun


def run(chains: int, root: Path) -> None:
    """Submit the tasks of a graph, as the run of a study does."""
    from swaymeter.flows.execution.task_runs import as_task_runs

    shared_results: dict[Any, Any] = {}
    with Workspace(root).lock(), as_task_runs(RunSettings(root), Workers()) as submit:
        graph = Executor(
            lambda: graph_of(root, chains, shared_results), Selection(), submit, Progress(), Workers()
        ).run()
    assert all(node.state == "done" for node in graph)


def cost_of(compute: Callable[[], Any], tasks: int) -> tuple[float, float]:
    """Return the milliseconds of processor and of wall time per task, until all events and logs are sent."""
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    gc.collect()
    gc.freeze()  # otherwise a collection of the objects of all modules would count for the flow in which it happens
    processor, wall = time.process_time(), time.perf_counter()
    compute()
    EventsWorker.drain_all(timeout=60)
    APILogWorker.drain_all(timeout=60)
    seconds = time.process_time() - processor, time.perf_counter() - wall
    gc.unfreeze()
    return 1e3 * seconds[0] / tasks, 1e3 * seconds[1] / tasks


def main() -> None:
    """Measure, print and write."""
    parser = arguments(__doc__)
    parser.add_argument("--chains", type=int, default=50, help="chains of three tasks; by default 50")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the two; by default 5")
    options = parser.parse_args()
    if options.quick:
        options.chains, options.rounds = 2, 1
    tasks = len(CHAIN) * options.chains
    costs: dict[str, list[tuple[float, float]]] = {side: [] for side in SIDES}
    with prefect_api(FLOW), TemporaryDirectory() as folder:
        from prefect import flow

        from swaymeter.flows.study import THREAD_POOL

        flows = [flow(side, persist_result=False, task_runner=THREAD_POOL) for side in (plain, run)]
        for side in flows:
            side(1, Path(folder, side.name))  # a warm-up, so that one-time set-up is not measured
        for number in range(options.rounds):
            for name, side in [*zip(SIDES, flows, strict=True)][:: -1 if number % 2 else 1]:
                costs[name].append(cost_of(partial(side, options.chains, Path(folder, f"{name}-{number}")), tasks))
    median = {name: [statistics.median(values) for values in zip(*each, strict=True)] for name, each in costs.items()}
    plain_processor = median["plain"][0]
    rows = [(name, f"{cpu:.1f}", f"{wall:.0f}", f"{cpu / plain_processor:.2f}") for name, (cpu, wall) in median.items()]
    machine = this_machine("cpu")
    title = f"{tasks} tasks, median of {options.rounds} rounds, {machine.name}"
    figures = {"tasks": tasks, "rounds": options.rounds, "milliseconds": median}
    publish("overhead", machine, [Table(title, COLUMNS, rows)], figures, options)


if __name__ == "__main__":
    main()
