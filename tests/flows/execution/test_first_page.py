import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from swaymeter.data.storage.workspace import LAYOUT
from swaymeter.flows.execution import first_page
from swaymeter.flows.execution.first_page import FirstPage
from swaymeter.flows.execution.progress import Progress
from swaymeter.flows.execution.runner import Runner
from swaymeter.flows.execution.workers.workers import Outcome, attempt
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.step import Run, Step
from tests.flows.graph.toy import PAGE, SCORE_B, TOTAL, Toy

WAIT = 20.0


class _Study:
    """The toy's steps in threads; that which scores b waits until `go_on` is set, and the pages are read as drawn."""

    def __init__(self, toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
        self.toy, self.pages, self.go_on = toy, list[list[int]](), threading.Event()
        (toy.root / "workspace.json").parent.mkdir(parents=True, exist_ok=True)
        (toy.root / "workspace.json").write_text(f'{{"layout": {LAYOUT}}}', encoding="utf-8")
        monkeypatch.setattr(first_page, "WORTH_SECONDS", 0.0)
        monkeypatch.setattr(first_page, "attempt", self.compute)

    def compute(self, step: Step, run: Run) -> Outcome:
        if step.id == SCORE_B:
            assert self.go_on.wait(WAIT)
        outcome = attempt(step, run)
        if step.id == PAGE:
            self.pages.append(step.table("numbers").read()["number"].to_pylist())
            self.go_on.set()
        return outcome

    def run(self) -> None:
        first = FirstPage(lambda known: replace(self.toy, memory=known).graph(), self.toy.memory)
        with ThreadPoolExecutor() as pool:

            def submit(step: Step) -> Any:
                return pool.submit(self.compute, step, Run(self.toy.root))

            Runner(self.toy.graph, Selection(), submit, Progress(), first_page=first).run()


def test_a_page_is_drawn_of_the_first_relation(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    study = _Study(toy, monkeypatch)
    study.run()
    assert study.pages == [[1], [21]]
    assert set(toy.states().values()) == {"done"}
    assert toy.run() == []


@pytest.mark.parametrize("why", ["it is over soon", "there is one"])
def test_a_page_is_drawn_once_where(why: str, toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    study = _Study(toy, monkeypatch)
    study.go_on.set()
    if why == "it is over soon":
        monkeypatch.setattr(first_page, "WORTH_SECONDS", 60.0)
    else:
        toy.graph().workspace.report.mkdir(parents=True)
    study.run()
    assert study.pages == [[21]]


def test_a_first_page_that_fails_stops_nothing(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    study = _Study(toy, monkeypatch)

    def failing(step: Step, run: Run) -> Outcome:
        toy.ran.append(step.id)
        study.go_on.set()
        return Outcome(failed="the disk is full")

    monkeypatch.setattr(first_page, "attempt", failing)
    study.run()
    assert study.pages == [[21]]
    assert toy.ran.count(TOTAL) == 2
