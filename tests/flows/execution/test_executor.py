import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from swaymeter.data.errors import UsageError
from swaymeter.data.storage.artifact import Check
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.execution.executor import Executor
from swaymeter.flows.execution.progress import Progress
from swaymeter.flows.execution.task import Outcome, Task, Workers, task_name
from swaymeter.flows.graph.graph import Graph, PlannedStep, RunSettings, Step, StepId
from swaymeter.flows.graph.selection import Selection
from tests.flows.graph.toy import (
    BUILD_A,
    BUILD_B,
    FETCH_A,
    FETCH_B,
    PAGE,
    SCORE_A,
    SCORE_B,
    STEPS_A,
    STEPS_B,
    TOTAL,
    Toy,
    kind_of,
)
from tests.flows.small_study import CompletedFuture, executor, run


class PendingFuture:
    """The future of a task that ends when `end` is called."""

    def add_done_callback(self, fn: Callable[[Any], None]) -> None:
        self._callback = fn

    def end(self) -> None:
        self._callback(self)


ALL_STEPS = {*STEPS_A, *STEPS_B, TOTAL, PAGE}
# The source of `toy` has 1 for subject a and 20 for subject b, so the number of PAGE is 21.


def test_every_step_runs_once_after_its_inputs(toy: Toy) -> None:
    ran = toy.run()
    assert len(ran) == len(ALL_STEPS)
    for chain in (STEPS_A, STEPS_B, [SCORE_A, TOTAL, PAGE], [SCORE_B, TOTAL]):
        assert [step for step in ran if step in chain] == chain
    assert set(toy.states().values()) == {"done"}
    assert toy.numbers(PAGE) == [21]
    assert toy.run() == []


def test_a_failure_blocks_only_dependent_steps(toy: Toy) -> None:
    toy.failing = {BUILD_A}
    ran = toy.run()
    assert SCORE_A not in ran
    done = dict.fromkeys([FETCH_A, *STEPS_B, TOTAL, PAGE], "done")
    assert toy.states() == {**done, BUILD_A: "failed", SCORE_A: "blocked"}
    assert toy.numbers(PAGE) == [20]
    assert ran.count(TOTAL) == 1


def test_tasks_come_with_their_nearest_upstream_tasks(toy: Toy) -> None:
    toy.failing = {BUILD_A}
    submitted: dict[str, Mapping[str, bool]] = {}  # True if a failure of the upstream task stops the task
    workers = Workers()

    def submit(task: Task, upstream: Mapping[str, bool]) -> CompletedFuture:
        submitted[task.name] = upstream
        task.compute(RunSettings(toy.root), workers, Progress())
        return CompletedFuture()

    with toy.graph().workspace.lock():
        Executor(toy.graph, Selection(), submit, Progress(), workers).run()
    names = {step: task_name(step) for step in ALL_STEPS}
    assert submitted[names[BUILD_B]] == {names[FETCH_B]: False}
    assert submitted[names[SCORE_A]] == {names[BUILD_A]: True}
    assert submitted[names[TOTAL]] == {names[SCORE_A]: False, names[SCORE_B]: False}
    assert submitted[names[PAGE]] == {names[TOTAL]: False}


def test_task_may_end_after_graph_is_resolved_again(toy: Toy) -> None:
    # The output of FETCH_B lists the step `listed`, so the graph is resolved again after FETCH_B.
    listed, workers, blocked = StepId("build", "listed", "numbers"), Workers(), list[str]()
    unfinished: list[tuple[Task, PendingFuture]] = []  # the task of FETCH_A, which ends when `listed` is submitted

    def renew_graph() -> Graph:
        graph = toy.graph()
        fetch_b = graph.nodes[FETCH_B]
        if fetch_b.state == "done":
            toy.add(graph, listed, [fetch_b])
        else:
            graph.add_placeholder(kind_of(listed), listed, fetch_b)
        return graph

    def submit(task: Task, upstream: Mapping[str, bool]) -> Any:
        if task.is_blocked:
            blocked.append(task.name)
        if task.name == task_name(FETCH_A):
            unfinished.append((task, PendingFuture()))
            return unfinished[0][1]
        if task.name == task_name(listed):  # the graph has been resolved again
            unfinished[0][0].compute(RunSettings(toy.root), workers, Progress())
            unfinished[0][1].end()
        task.compute(RunSettings(toy.root), workers, Progress())
        return CompletedFuture()

    with toy.graph().workspace.lock():
        Executor(renew_graph, Selection(), submit, Progress(), workers).run()
    assert blocked == []
    assert Counter(toy.ran) == dict.fromkeys([*ALL_STEPS, listed], 1)


def test_a_failed_step_runs_once_in_every_run(toy: Toy) -> None:
    toy.failing = {FETCH_A}
    assert toy.run().count(FETCH_A) == 1
    assert toy.run() == [FETCH_A]
    toy.failing = set()
    assert toy.run() == [*STEPS_A, TOTAL, PAGE]
    assert toy.numbers(PAGE) == [21]


def test_changed_content_recomputes_only_dependent_steps(toy: Toy) -> None:
    toy.run()
    # The artifacts of content 1 are still stored when the content returns.
    for content, dependent in ((1, []), (5, [BUILD_A, SCORE_A, TOTAL, PAGE]), (1, [])):
        toy.world["a"] = content
        toy.force("refresh")
        assert toy.run() == [FETCH_A, FETCH_B, *dependent]
        assert toy.run() == []
        assert toy.numbers(PAGE) == [20 + content]


def test_a_damaged_output_is_recomputed(toy: Toy) -> None:
    toy.run()
    (file,) = toy.root.glob("numbers/build-a-*")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0x01
    file.write_bytes(content)
    assert toy.run() == [BUILD_A]
    assert set(toy.states().values()) == {"done"}


def test_a_failed_task_with_outputs_is_done(toy: Toy) -> None:
    toy.failing_late = {BUILD_A}
    assert set(toy.run()) == ALL_STEPS
    assert toy.states()[BUILD_A] == "done"


def test_a_forced_rerun_computes_each_step_once(toy: Toy) -> None:
    toy.run()
    toy.force()
    ran = toy.run()
    assert Counter(ran) == dict.fromkeys(ALL_STEPS, 1)
    assert toy.run() == []
    toy.force(subject="a")
    assert Counter(toy.run()) == dict.fromkeys(STEPS_A, 1)
    assert set(toy.states().values()) == {"done"}


def test_an_interrupted_rerun_continues_with_the_other_steps(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.run()
    toy.force()

    def stop(future: CompletedFuture, fn: Callable[[Any], None]) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("tests.flows.small_study.CompletedFuture.add_done_callback", stop)
        with pytest.raises(KeyboardInterrupt):
            toy.run()
    (first,) = toy.ran[len(ALL_STEPS) :]
    assert Counter(toy.run()) == dict.fromkeys(ALL_STEPS - {first}, 1)


def test_an_interruption_between_tasks_ends_the_run(toy: Toy) -> None:
    class Interrupting(SimpleQueue[str]):
        """A queue whose first `get` removes an item, and is then interrupted by a signal."""

        dropped: str | None = None

        def get(self, block: bool = True, timeout: float | None = None) -> str:
            name = super().get(block, timeout)
            if self.dropped is None:
                self.dropped = name
                raise KeyboardInterrupt(f"{name} is lost")
            return name

    toy_executor = executor(toy.graph)
    toy_executor._ends = Interrupting()
    with pytest.raises(KeyboardInterrupt, match="is lost"), Workspace(toy.root).lock():
        toy_executor.run()


def test_unreachable_workers_hide_no_interruption(toy: Toy) -> None:
    class UnreachableWorkers(Workers):
        def abandon(self) -> None:
            raise OSError("the scheduler does not answer")

    def interrupt(*task: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Executor(toy.graph, Selection(), interrupt, Progress(), UnreachableWorkers()).run()


def test_a_failing_display_does_not_stop_steps(toy: Toy) -> None:
    def fail(*_: object) -> None:
        sys.exit("nobody reads it")

    class FailingDisplay(Progress):
        set_totals = begin_step = advance_step = end_step = fail  # type: ignore[assignment]

    graph = run(toy.graph, progress=FailingDisplay())
    assert {node.state for node in graph} == {"done"}


def test_nothing_is_computed_from_outputs_that_will_change(toy: Toy) -> None:
    toy.run()
    # SCORE_A is missing, and its input BUILD_A changes.
    for file in toy.root.glob("numbers/score-a-*"):
        file.unlink()
    toy.world["a"] = 5
    toy.force("refresh")
    assert toy.run() == [FETCH_A, FETCH_B, BUILD_A, SCORE_A, TOTAL, PAGE]


def test_only_selected_stages_run(toy: Toy) -> None:
    assert toy.run(Selection(stages=("fetch",))) == [FETCH_A, FETCH_B]
    assert toy.run(Selection(stages=("score",))) == []
    assert toy.run(Selection(stages=("build",))) == [BUILD_A, BUILD_B]


def test_resources_limit_the_number_of_running_tasks(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.world = dict.fromkeys("abcdef", 1)
    lock, running, maxima = threading.Lock(), Counter[str](), Counter[str]()

    def compute(step: Step, settings: RunSettings) -> Outcome:
        with lock:
            running[step.resource] += 1
            maxima[step.resource] = max(maxima[step.resource], running[step.resource])
        time.sleep(0.2 if step.resource == "services" else 0.01)  # so that other tasks begin
        step.function(step, settings)
        with lock:
            running[step.resource] -= 1
        return Outcome()

    monkeypatch.setattr("swaymeter.flows.execution.task.attempt", compute)
    with ThreadPoolExecutor(16) as pool:
        graph = executor(toy.graph, pool=pool).run()
    assert {node.state for node in graph} == {"done"}
    assert maxima == {"services": 3, "compute": 1}  # as in CAPACITIES


def test_servers_are_asked_while_a_model_computes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes, begun_models = list[PlannedStep](), set[str]()
    barrier = threading.Barrier(3)

    def compute(step: Step, settings: RunSettings) -> Outcome:
        begun_models.add(step.id.model)
        if step.id.subject == "a":
            barrier.wait(20)  # fails unless a step of each model has begun
        next(node for node in nodes if node.id == step.id).state = "done"
        return Outcome()

    for model in ("one", "two", "here"):
        for subject in ("a", "b"):
            identity = StepId("score", subject, "1", model=model)
            is_local = model == "here"
            options: Mapping[str, Any] = (
                {"resource": "compute", "device": "cpu"} if is_local else {"resource": "server"}
            )
            step = Step(identity, lambda step, run: None, {}, {}, **options)
            nodes.append(PlannedStep(kind_of(identity), identity, state="missing", step=step, **options))

    def renew_graph() -> Graph:
        graph = Graph(Workspace(tmp_path))
        graph.nodes.update({node.id: node for node in nodes})
        return graph

    monkeypatch.setattr("swaymeter.flows.execution.task.attempt", compute)
    with ThreadPoolExecutor(16) as pool:
        executor(renew_graph, pool=pool).run()
    assert {node.state for node in nodes} == {"done"}
    assert begun_models == {"one", "two", "here"}


class RecordedProgress(Progress):
    """Progress that records its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.totals, self.steps = list[dict[str, int]](), list[tuple[str, str]]()

    def set_totals(self, totals: Mapping[str, int]) -> None:
        super().set_totals(totals)
        self.totals.append(dict(totals))

    def begin_step(self, stage: str, name: str) -> None:
        self.steps.append((stage, name))


def test_totals_are_shown_only_after_a_change(toy: Toy) -> None:
    def renew_graph() -> Graph:
        graph = toy.graph()
        identity = StepId("score", "c", "numbers")  # a refused step, which no total counts
        graph.add_refused(kind_of(identity), identity, UsageError("no such model"))
        return graph

    progress = RecordedProgress()
    run(renew_graph, progress=progress)
    assert progress.totals[0] == {"fetch": 2, "build": 2, "score": 2, "aggregate": 1, "report": 1}
    assert progress.totals[-1] == {"fetch": 2, "build": 2, "score": 2, "aggregate": 1, "report": 1}
    assert progress.steps == [(step.stage, str(step)) for step in toy.ran]
    assert all(before != after for before, after in zip(progress.totals, progress.totals[1:], strict=False))


def order_of(folder: Path, steps: list[str], rows: list[int], later: Mapping[int, int] | None = None) -> list[str]:
    """Return the names of scoring steps in the order in which they run.

    Args:
        folder: The workspace.
        steps: Names of the steps; the first letter is the model.
        rows: Number of rows of each step.
        later: Positions of steps that become ready late; the value is the position of the step that is done before.
    """
    ran, nodes = list[str](), list[PlannedStep]()
    for name, count in zip(steps, rows, strict=True):
        identity = StepId("score", name, "1", model=name[0])
        checks = {"queries": Check("done", rows=count)}
        step = Step(identity, lambda step, run: None, {}, {}, device="cuda", checks=checks)
        nodes.append(PlannedStep(kind_of(identity), identity, state="missing", step=step, device="cuda"))

    def renew_graph() -> Graph:
        graph = Graph(Workspace(folder))
        for position, node in enumerate(nodes):
            before = nodes[later[position]] if later and position in later else None
            if before is not None and before.state != "done":
                graph.add_placeholder(node.kind, node.id, before)
            else:
                graph.nodes[node.id] = node
        return graph

    def submit(task: Task, upstream: Mapping[str, bool]) -> CompletedFuture:
        ran.append(task.nodes[0].id.subject)
        task.nodes[0].state = "done"
        return CompletedFuture()

    Executor(renew_graph, Selection(), submit, Progress()).run()
    return ran


def test_a_model_scores_its_largest_relation_first(tmp_path: Path) -> None:
    ran = order_of(tmp_path, ["a small", "b large", "a large", "b small"], [2, 9, 8, 1])
    assert ran == ["a large", "a small", "b large", "b small"]


def test_a_model_stays_while_its_tasks_become_ready(tmp_path: Path) -> None:
    steps = [f"{model} {name}" for model, names in (("a", "xyz"), ("b", "xyz"), ("a", "uvw")) for name in names]
    ran = order_of(tmp_path, steps, [1] * 9, {6: 0, 7: 1, 8: 2})
    assert [name[0] for name in ran] == ["a"] * 6 + ["b"] * 3
