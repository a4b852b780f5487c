"""A run without Prefect: its threads, retries, and end by a signal."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from swaymeter.data.errors import WorkspaceError
from swaymeter.flows.execution import run
from swaymeter.flows.execution.interrupt import GO_ON
from swaymeter.flows.execution.task import Outcome, Workers
from swaymeter.flows.graph.graph import RunSettings
from tests.flows.conftest import unconfigured_environment
from tests.waiting import wait_until

QUESTIONS = """question,answer,context,kind,context_answer
When does it open?,9 a.m.,It opens at 9 a.m.,supporting,
When does it open?,9 a.m.,It opens at 8 a.m.,conflicting,8 a.m.
"""
APPLICATION = """
import pathlib, time
def slow(question, passages):
    if passages and pathlib.Path("slow").exists():
        pathlib.Path("begun").touch()
        time.sleep(60)
    return "9 a.m."
"""
COMMAND = """
import signal
from swaymeter.flows.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores SIGINT
main()
"""


def audit(folder: Path, *options: str) -> "subprocess.Popen[str]":
    """Start an audit in a separate process, without an API of Prefect."""
    (folder / "opens.csv").write_text(QUESTIONS)
    (folder / "app.py").write_text(APPLICATION)
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, "audit", "opens.csv", "--workspace", "audit", *options],
        cwd=folder,
        text=True,
        env=unconfigured_environment(folder / "prefect"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def test_signals_end_an_audit_that_resumes(tmp_path: Path) -> None:
    (tmp_path / "slow").touch()
    for number in (signal.SIGTERM, signal.SIGINT):
        (tmp_path / "begun").unlink(missing_ok=True)
        with audit(tmp_path, "--model", "app.py:slow") as running:
            wait_until((tmp_path / "begun").exists)
            began = time.monotonic()
            running.send_signal(number)
            printed, _ = running.communicate(timeout=60)
        assert (running.returncode, GO_ON in printed, "Traceback" in printed) == (128 + number, True, False)
        assert time.monotonic() - began < 10
    (tmp_path / "slow").unlink()
    with audit(tmp_path, "--model", "app.py:slow") as last:
        printed, _ = last.communicate(timeout=60)
    assert (last.returncode, "computed now: 3 prompts" in printed) == (0, True), printed
    assert not (tmp_path / "prefect").exists()


def task(*outcomes: Outcome | Exception) -> Any:
    """Return a task with these outcomes of its tries, in order."""
    remaining = [*outcomes]

    def compute(*_: object) -> Outcome:
        outcome = remaining.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return SimpleNamespace(compute=compute, remaining=remaining)


def test_a_task_with_transient_error_runs_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "RETRY_SECONDS", 0)
    transient, permanent = Outcome(failed="busy", may_pass=True), Outcome(failed="wrong")
    tasks = [task(transient, Outcome()), task(transient, transient, Outcome()), task(permanent, Outcome())]
    with run.without_prefect(RunSettings(tmp_path), Workers()) as submit:
        outcomes = [submit(each, {}).result() for each in tasks]
    assert outcomes == [Outcome(), transient, permanent]


def test_a_raised_error_ends_the_run(tmp_path: Path) -> None:
    tasks = [task(WorkspaceError("the workspace is away")), task(Outcome())]

    def compute() -> None:
        with run.without_prefect(RunSettings(tmp_path), Workers()) as submit:
            for each in tasks:
                submit(each, {})

    with pytest.raises(WorkspaceError, match="away"):
        compute()
    assert [each.remaining for each in tasks] == [[], []]  # the other task has also run
