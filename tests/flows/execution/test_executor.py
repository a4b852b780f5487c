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
    OF_A,
    OF_B,
    PAGE,
    SCORE_A,
    SCORE_B,
    TOTAL,
    Toy,
    kind_of,
)
from tests.flows.small_study import Ended, executor, run


class Later:
    """The future of a task that ends when it is told to."""

    def add_done_callback(self, fn: Callable[[Any], None]) -> None:
        self._callback = fn

    def end(self) -> None:
        self._callback(self)


EVERYTHING = {*OF_A, *OF_B, TOTAL, PAGE}


def test_every_step_runs_once_after_its_inputs(toy: Toy) -> None:
    ran = toy.run()
    assert len(ran) == len(EVERYTHING)
    for chain in (OF_A, OF_B, [SCORE_A, TOTAL, PAGE], [SCORE_B, TOTAL]):
        assert [one for one in ran if one in chain] == chain
    assert set(toy.states().values()) == {"done"}
    assert toy.numbers(PAGE) == [21]
    assert toy.run() == []


def test_a_failure_blocks_only_what_needs_it(toy: Toy) -> None:
    toy.failing = {BUILD_A}
    ran = toy.run()
    assert SCORE_A not in ran
    done = dict.fromkeys([FETCH_A, *OF_B, TOTAL, PAGE], "done")
    assert toy.states() == {**done, BUILD_A: "failed", SCORE_A: "blocked"}
    assert toy.numbers(PAGE) == [20]
    assert ran.count(TOTAL) == 1


def test_tasks_come_with_their_nearest_upstream_tasks(toy: Toy) -> None:
    toy.failing = {BUILD_A}
    found: dict[str, Mapping[str, bool]] = {}
    here = Workers()

    def submit(task: Task, upstream: Mapping[str, bool]) -> Ended:
        found[task.name] = upstream
        task.compute(RunSettings(toy.root), here, Progress())
        return Ended()

    with toy.graph().workspace.lock():
        Executor(toy.graph, Selection(), submit, Progress(), here).run()
    names = {one: task_name(one) for one in EVERYTHING}
    assert found[names[BUILD_B]] == {names[FETCH_B]: False}
    assert found[names[SCORE_A]] == {names[BUILD_A]: True}  # which Prefect leaves "not ready"
    assert found[names[TOTAL]] == {names[SCORE_A]: False, names[SCORE_B]: False}
    assert found[names[PAGE]] == {names[TOTAL]: False}


def test_task_may_end_after_graph_was_resolved_again(toy: Toy) -> None:
    listed, here, blocked = StepId("build", "listed", "numbers"), Workers(), list[str]()
    earlier: list[tuple[Task, Later]] = []

    def renew_graph() -> Graph:
        graph = toy.graph()
        lists = graph.nodes[FETCH_B]
        if lists.state == "done":
            toy.add(graph, listed, [lists])
        else:
            graph.add_placeholder(kind_of(listed), listed, lists)
        return graph

    def submit(task: Task, upstream: Mapping[str, bool]) -> Any:
        if task.is_blocked:
            blocked.append(task.name)
        if task.name == task_name(FETCH_A):
            earlier.append((task, Later()))
            return earlier[0][1]
        if task.name == task_name(listed):  # the graph has been resolved again
            earlier[0][0].compute(RunSettings(toy.root), here, Progress())
            earlier[0][1].end()
        task.compute(RunSettings(toy.root), here, Progress())
        return Ended()

    with toy.graph().workspace.lock():
        Executor(renew_graph, Selection(), submit, Progress(), here).run()
    assert blocked == []
    assert Counter(toy.ran) == dict.fromkeys([*EVERYTHING, listed], 1)


def test_what_failed_is_tried_once_in_every_run(toy: Toy) -> None:
    toy.failing = {FETCH_A}
    assert toy.run().count(FETCH_A) == 1
    assert toy.run() == [FETCH_A]
    toy.failing = set()
    assert toy.run() == [*OF_A, TOTAL, PAGE]
    assert toy.numbers(PAGE) == [21]


def test_changed_content_is_followed_and_nothing_else(toy: Toy) -> None:
    toy.run()
    for content, below in ((1, []), (5, [BUILD_A, SCORE_A, TOTAL, PAGE]), (1, [])):  # the last was made before
        toy.world["a"] = content
        toy.force("refresh")
        assert toy.run() == [FETCH_A, FETCH_B, *below]
        assert toy.run() == []
        assert toy.numbers(PAGE) == [20 + content]


def test_a_damaged_output_is_made_again(toy: Toy) -> None:
    toy.run()
    (file,) = toy.root.glob("numbers/build-a-*")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0x01
    file.write_bytes(content)
    assert toy.run() == [BUILD_A]
    assert set(toy.states().values()) == {"done"}


def test_outputs_count_whatever_became_of_the_task(toy: Toy) -> None:
    toy.failing_late = {BUILD_A}
    assert set(toy.run()) == EVERYTHING
    assert toy.states()[BUILD_A] == "done"


def test_a_rerun_makes_everything_again_once(toy: Toy) -> None:
    toy.run()
    toy.force()
    ran = toy.run()
    assert Counter(ran) == dict.fromkeys(EVERYTHING, 1)
    assert toy.run() == []
    toy.force(subject="a")
    assert Counter(toy.run()) == dict.fromkeys(OF_A, 1)
    assert set(toy.states().values()) == {"done"}


def test_an_interrupted_rerun_goes_on_where_it_stopped(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.run()
    toy.force()

    def stop(step: Step, settings: RunSettings) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as interrupted:
        interrupted.setattr("tests.flows.small_study.Ended.add_done_callback", stop)
        with pytest.raises(KeyboardInterrupt):
            toy.run()
    (first,) = toy.ran[len(EVERYTHING) :]
    assert Counter(toy.run()) == dict.fromkeys(EVERYTHING - {first}, 1)


def test_interruption_as_step_ends_ends_run(toy: Toy) -> None:
    class Interrupting(SimpleQueue[str]):
        """As where a signal comes just when a step that ended was taken out, the first one."""

        lost: str | None = None

        def get(self, block: bool = True, timeout: float | None = None) -> str:
            taken = super().get(block, timeout)
            if self.lost is None:
                self.lost = taken
                raise KeyboardInterrupt(f"{taken} is lost")
            return taken

    interrupted = executor(toy.graph)
    interrupted._ends = Interrupting()
    with pytest.raises(KeyboardInterrupt, match="is lost"), Workspace(toy.root).lock():
        interrupted.run()


def test_lost_workers_hide_no_interruption(toy: Toy) -> None:
    class Lost(Workers):
        def abandon(self) -> None:
            raise OSError("the scheduler does not answer")

    def interrupted(*task: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Executor(toy.graph, Selection(), interrupted, Progress(), Lost()).run()


def test_step_has_ended_though_it_cannot_be_told(toy: Toy) -> None:
    def tell(*_: object) -> None:
        sys.exit("nobody reads it")

    class Unread(Progress):
        plan = started = within = finished = tell  # type: ignore[assignment]

    graph = run(toy.graph, progress=Unread())
    assert {node.state for node in graph} == {"done"}


def test_nothing_is_computed_from_outputs_that_will_change(toy: Toy) -> None:
    toy.run()
    for file in toy.root.glob("numbers/score-a-*"):
        file.unlink()
    toy.world["a"] = 5
    toy.force("refresh")
    assert toy.run() == [FETCH_A, FETCH_B, BUILD_A, SCORE_A, TOTAL, PAGE]


def test_only_selected_stages_run(toy: Toy) -> None:
    assert toy.run(Selection(stages=("fetch",))) == [FETCH_A, FETCH_B]
    assert toy.run(Selection(stages=("score",))) == []
    assert toy.run(Selection(stages=("build",))) == [BUILD_A, BUILD_B]


def test_resources_limit_what_runs_at_once(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.world = dict.fromkeys("abcdef", 1)
    lock, running, most = threading.Lock(), Counter[str](), Counter[str]()

    def compute(step: Step, settings: RunSettings) -> Outcome:
        with lock:
            running[step.resource] += 1
            most[step.resource] = max(most[step.resource], running[step.resource])
        time.sleep(0.2 if step.resource == "services" else 0.01)  # until others have begun
        step.function(step, settings)
        with lock:
            running[step.resource] -= 1
        return Outcome()

    monkeypatch.setattr("swaymeter.flows.execution.task.attempt", compute)
    with ThreadPoolExecutor(16) as pool:
        graph = executor(toy.graph, pool=pool).run()
    assert {node.state for node in graph} == {"done"}
    assert most == {"services": 3, "compute": 1}


def test_servers_are_asked_while_a_model_computes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes, begun = list[PlannedStep](), set[str]()
    together = threading.Barrier(3)

    def compute(step: Step, settings: RunSettings) -> Outcome:
        begun.add(step.id.model)
        if step.id.subject == "a":
            together.wait(20)  # broken unless each model has begun
        next(node for node in nodes if node.id == step.id).state = "done"
        return Outcome()

    for model in ("one", "two", "here"):
        for subject in ("a", "b"):
            identity = StepId("score", subject, "1", model=model)
            there = model != "here"
            place: Mapping[str, Any] = {"resource": "server"} if there else {"resource": "compute", "device": "cpu"}
            step = Step(identity, lambda step, run: None, {}, {}, **place)
            nodes.append(PlannedStep(kind_of(identity), identity, state="missing", step=step, **place))

    def renew_graph() -> Graph:
        graph = Graph(Workspace(tmp_path))
        graph.nodes.update({node.id: node for node in nodes})
        return graph

    monkeypatch.setattr("swaymeter.flows.execution.task.attempt", compute)
    with ThreadPoolExecutor(16) as pool:
        executor(renew_graph, pool=pool).run()
    assert {node.state for node in nodes} == {"done"}
    assert begun == {"one", "two", "here"}


class RecordedProgress(Progress):
    """Progress that records its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.plans, self.steps = list[dict[str, int]](), list[tuple[str, str]]()

    def set_totals(self, totals: Mapping[str, int]) -> None:
        super().set_totals(totals)
        self.plans.append(dict(totals))

    def begin_step(self, stage: str, name: str) -> None:
        self.steps.append((stage, name))


def test_the_plan_grows_with_what_is_known(toy: Toy) -> None:
    def renew_graph() -> Graph:
        graph = toy.graph()
        identity = StepId("score", "c", "numbers")  # which is not planned
        graph.add_refused(kind_of(identity), identity, UsageError("no such model"))
        return graph

    told = RecordedProgress()
    run(renew_graph, progress=told)
    assert told.plans[0] == {"fetch": 2, "build": 2, "score": 2, "aggregate": 1, "report": 1}
    assert told.plans[-1] == {"fetch": 2, "build": 2, "score": 2, "aggregate": 1, "report": 1}
    assert told.steps == [(one.stage, str(one)) for one in toy.ran]
    assert all(before != after for before, after in zip(told.plans, told.plans[1:], strict=False))


def order_of(folder: Path, steps: list[str], rows: list[int], later: Mapping[int, int] | None = None) -> list[str]:
    """The order in which steps run that ask a model, named first, about so many rows.

    later: which become ready only once another one, by its place, is done.
    """
    ran, nodes = list[str](), list[PlannedStep]()
    for name, count in zip(steps, rows, strict=True):
        identity = StepId("score", name, "1", model=name[0])
        checks = {"queries": Check("done", rows=count)}
        step = Step(identity, lambda step, run: None, {}, {}, device="cuda", checks=checks)
        nodes.append(PlannedStep(kind_of(identity), identity, state="missing", step=step, device="cuda"))

    def renew_graph() -> Graph:
        graph = Graph(Workspace(folder))
        for place, node in enumerate(nodes):
            before = nodes[later[place]] if later and place in later else None
            if before is not None and before.state != "done":
                graph.add_placeholder(node.kind, node.id, before)
            else:
                graph.nodes[node.id] = node
        return graph

    def submit(task: Task, upstream: Mapping[str, bool]) -> Ended:
        ran.append(task.nodes[0].id.subject)
        task.nodes[0].state = "done"
        return Ended()

    Executor(renew_graph, Selection(), submit, Progress()).run()
    return ran


def test_model_is_asked_about_largest_relation_first(tmp_path: Path) -> None:
    ran = order_of(tmp_path, ["a small", "b large", "a large", "b small"], [2, 9, 8, 1])
    assert ran == ["a large", "a small", "b large", "b small"]


def test_a_model_stays_while_its_tasks_become_ready(tmp_path: Path) -> None:
    steps = [f"{model} {one}" for model, subjects in (("a", "xyz"), ("b", "xyz"), ("a", "uvw")) for one in subjects]
    ran = order_of(tmp_path, steps, [1] * 9, {6: 0, 7: 1, 8: 2})
    assert [one[0] for one in ran] == ["a"] * 6 + ["b"] * 3
