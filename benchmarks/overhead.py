"""Processor and wall time of a task, as Prefect runs it and as a study's run does.

    plain     a flow of Prefect with empty tasks, which gets the futures of their inputs, with the options of our tasks
    tables    the same flow, whose tasks look for a table of one row, write it, and verify it
    run       the tasks of a graph, submitted by the executor; each makes such a table

One process runs the three in turns, on one temporary server, whose own time does not count. "run without tables" is run
minus the difference between tables and plain. It is a lower bound, because the tasks of tables write more at once.
"""

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
SIDES = ("plain", "tables", "run")
COLUMNS = ("flow", "processor ms a task", "wall ms a task", "ratio to plain")


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


def plain(chains: int, root: Path) -> None:
    """Submit empty tasks as a flow of Prefect does."""
    _submit_chains(chains, lambda name, before=None: None)


def tables(chains: int, root: Path) -> None:
    """Submit tasks that write a table as a flow of Prefect does."""
    workspace = Workspace(root)

    def write(name: str, before: Any = None) -> None:
        stage, relation = name.split(" · ")
        artifact = workspace.table(("numbers", relation), stage, NUMBERS, {"name": name})
        artifact.check()
        artifact.write(NUMBERS.of([{"number": 1}]))
        artifact.check()

    _submit_chains(chains, write)


def _submit_chains(chains: int, function: Callable[..., None]) -> None:
    from prefect import task

    from swaymeter.flows.execution.task_runs import TASK_OPTIONS

    tasks = {stage: task(name=stage, **TASK_OPTIONS)(function) for stage in CHAIN}
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
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the three; by default 5")
    options = parser.parse_args()
    if options.quick:
        options.chains, options.rounds = 2, 1
    tasks = len(CHAIN) * options.chains
    costs: dict[str, list[tuple[float, float]]] = {side: [] for side in SIDES}
    with prefect_api(FLOW), TemporaryDirectory() as folder:
        from prefect import flow

        from swaymeter.flows.study import THREAD_POOL

        flows = [flow(side, persist_result=False, task_runner=THREAD_POOL) for side in (plain, tables, run)]
        flows[0](1, Path(folder))  # what is set up once is set up
        for number in range(options.rounds):
            for name, side in zip(SIDES, flows, strict=True):
                costs[name].append(cost_of(partial(side, options.chains, Path(folder, f"{name}-{number}")), tasks))
    median = {name: [statistics.median(values) for values in zip(*each, strict=True)] for name, each in costs.items()}
    processor = {name: of_side[0] for name, of_side in median.items()}
    without_tables = processor["run"] - (processor["tables"] - processor["plain"])
    rows = [
        (name, f"{median[name][0]:.1f}", f"{median[name][1]:.0f}", f"{processor[name] / processor['plain']:.2f}")
        for name in SIDES
    ]
    rows.append(("run without tables", f"{without_tables:.1f}", "", f"{without_tables / processor['plain']:.2f}"))
    machine = this_machine("cpu")
    title = f"{tasks} tasks, median of {options.rounds} rounds, {machine.name}"
    figures = {"tasks": tasks, "rounds": options.rounds, **median, "run_without_tables": without_tables}
    publish("overhead", machine, [Table(title, COLUMNS, rows)], figures, options)


if __name__ == "__main__":
    main()
