import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.storage.workspace import LAYOUT
from swaymeter.flows.execution import first_page
from swaymeter.flows.execution.progress import Progress
from swaymeter.flows.execution.runner import Runner
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.step import Run, Stage, Step
from tests.flows.graph import toy as made_up
from tests.flows.graph.toy import PAGE, SCORE_B, TOTAL, Toy

WAIT = 20.0


class _Study:
    """The toy's steps in threads, of three relations; that which scores b waits until `go_on` is set, by a page.

    pages: what each page that was drawn holds; failing: whether the first total fails.
    """

    def __init__(self, toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
        self.toy, self.pages, self.go_on, self.failing = toy, list[list[int]](), threading.Event(), False
        toy.world = {"a": 1, "c": 300, "b": 20}
        (toy.root / "workspace.json").parent.mkdir(parents=True, exist_ok=True)
        (toy.root / "workspace.json").write_text(f'{{"layout": {LAYOUT}}}', encoding="utf-8")
        monkeypatch.setattr(first_page, "WORTH_SECONDS", 0.0)
        self._compute = made_up.compute
        monkeypatch.setattr(made_up, "compute", self.compute)

    def compute(self, step: Step, run: Run) -> None:
        if step.id == SCORE_B:
            assert self.go_on.wait(WAIT)
        if step.id == TOTAL and self.failing:
            self.failing = False
            self.go_on.set()
            raise InputError("the disk is full")
        self._compute(step, run)
        if step.id == PAGE:
            self.pages.append(step.table("numbers").read()["number"].to_pylist())
            self.go_on.set()

    def run(self, *stages: Stage) -> None:
        selection, bare = Selection(stages=stages) if stages else Selection(), Run(self.toy.root)
        workspace = self.toy.graph().workspace
        first = first_page.first_page(
            workspace, selection, lambda known: replace(self.toy, memory=known).graph(), self.toy.memory, bare
        )
        with ThreadPoolExecutor() as pool:

            def submit(step: Step) -> Any:
                return pool.submit(step.function, step, bare)

            Runner(self.toy.graph, selection, submit, Progress(), first_page=first).run()


@pytest.fixture
def study(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> _Study:
    return _Study(toy, monkeypatch)


def test_a_page_is_drawn_of_the_first_relations(study: _Study) -> None:
    study.run()
    assert study.pages == [[301], [321]]
    assert set(study.toy.states().values()) == {"done"}
    assert study.toy.run() == []


@pytest.mark.parametrize("why", ["the rest is over soon", "there is one", "the rest waits for what failed"])
def test_a_page_is_drawn_once_where(why: str, study: _Study, monkeypatch: pytest.MonkeyPatch) -> None:
    study.go_on.set()
    if why == "the rest is over soon":
        monkeypatch.setattr(first_page, "WORTH_SECONDS", 60.0)
    elif why == "there is one":
        study.toy.graph().workspace.report.mkdir(parents=True)
    else:
        monkeypatch.setattr(first_page, "WORTH_SECONDS", 1e-9)
        study.toy.failing = {made_up.FETCH_B}
    study.run()
    assert study.pages == [[301 if study.toy.failing else 321]]


def test_no_page_is_drawn_where_none_is_asked_for(study: _Study) -> None:
    study.go_on.set()
    study.run("fetch", "build", "score", "report")
    assert TOTAL not in study.toy.ran


def test_a_first_page_that_fails_stops_nothing(study: _Study) -> None:
    study.failing = True
    study.run()
    assert (study.failing, study.pages) == (False, [[321]])
    assert set(study.toy.states().values()) == {"done"}


def test_a_slower_relation_still_leads_to_a_page(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    toy.world = dict.fromkeys("abcdef", 1)
    toy.run(Selection(relations=("a",)))
    page, now = first_page.FirstPage(lambda known: toy.graph(), {}, Run(toy.root)), [0.0]
    monkeypatch.setattr(first_page.time, "monotonic", lambda: now[0])
    came = []
    for now[0], relations in [(0, "a"), (1000, "a"), (1001, "ab"), (1002, "abc"), (1202, "abcd")]:
        toy.run(Selection(relations=tuple(relations)))
        graph = toy.graph()
        page.offer(graph, {node.id for node in graph if node.state != "done"})
        came.append(not page.is_to_come)
    page.end()
    assert came == [False] * 4 + [True]
