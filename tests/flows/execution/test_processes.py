import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from swaymeter.data.errors import ScoreError
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.execution.workers import processes
from swaymeter.flows.execution.workers.workers import INTERRUPTED, TRIES
from swaymeter.flows.graph.step import Run, Step, StepId
from swaymeter.tasks.measures.run import Share, Spent


def note(step: Step, run: Run) -> None:
    """Notes which process computes a step, and dies in the middle of it as often as it is told to."""
    deaths = [*run.workspace.glob(f"{step.id.subject}.died.*")]
    if len(deaths) < step.arguments:
        (run.workspace / f"{step.id.subject}.died.{len(deaths)}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    (run.workspace / step.id.subject).write_text(f"{os.getpid()} {os.environ['CUDA_VISIBLE_DEVICES']}")


def step(subject: str, deaths: int = 0) -> Step:
    return Step(StepId("score", subject, "persuasion"), note, {}, {}, arguments=deaths, device="cuda")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    with Workspace(tmp_path).lock():
        return Run(tmp_path)


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> Iterator[processes.Processes]:
    monkeypatch.setattr(processes, "visible_gpus", lambda: ["0", "7"])
    monkeypatch.setattr(processes, "_warm", int)  # nothing is imported that takes seconds
    with processes.Processes() as workers:
        yield workers


def test_processes_are_kept_until_they_die(two: processes.Processes, run: Run) -> None:
    subjects = ["a", "b", "c", "d", "e", "f"]
    with ThreadPoolExecutor() as pool:
        steps = [step(one, deaths=one == "c") for one in subjects]
        outcomes = [*pool.map(two.compute, steps, [run] * len(steps))]
    assert {outcome.failed for outcome in outcomes} == {None}
    noted = {(run.workspace / one).read_text() for one in subjects}
    assert {one.split()[1] for one in noted} == {"0", "7"}
    assert 2 <= len(noted) <= 3  # the two, and the one that took the place of the one that died

    failed = two.compute(step("always", deaths=TRIES), run).failed
    assert failed is not None
    assert failed.startswith("the worker that computed it ended 4 times without a word")
    assert Workspace(run.workspace).failure_reason(str(step("always").id), "") == failed


def spend(step: Step, run: Run) -> Spent:
    """Notes where a share is computed; the first share fails."""
    share = run.share
    (run.workspace / f"{share.number} of {share.of}").write_text(os.environ["CUDA_VISIBLE_DEVICES"])
    while share.of == 2 and not (run.workspace / f"{1 - share.number} of 2").exists():
        time.sleep(0.01)  # until the other worker has begun its own
    if share == Share(0, 2):
        raise ScoreError("no such prompt")
    return Spent(prompts=1)


def test_shares_go_to_several_workers_then_the_whole(two: processes.Processes, run: Run) -> None:
    two._shares = 2
    whole = two.compute(replace(step("a"), function=spend), run)
    assert (whole.failed, whole.spent) == (None, Spent(prompts=2))
    assert {(run.workspace / f"{number} of 2").read_text() for number in (0, 1)} == {"0", "7"}
    assert (run.workspace / "0 of 1").exists()
    assert Workspace(run.workspace).failure_reason(str(step("a").id), "") is None


def test_what_is_abandoned_ends_at_once(two: processes.Processes, run: Run) -> None:
    assert two.compute(step("a"), run).failed is None
    two.abandon()
    assert two.compute(step("b"), run) == INTERRUPTED
    two.__exit__()
    assert not [one for one in psutil.Process().children() if "spawn_main" in " ".join(one.cmdline())]
