"""The command line, run within a test; files that need not outlive the machine are not forced to its disk."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from flows.cli import main as cli
from tests.flows.graph.toy import Toy

Command = Callable[..., "Ended"]


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, and what it printed where."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one message that a person gets in place of a traceback."""
        assert "Traceback" not in self.out + self.err
        assert self.err.startswith("error  ")
        assert self.err.count("\n") == 1
        return self.err.removeprefix("error  ").rstrip("\n")


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture
def swaymeter(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command, run within the test; what it does to the environment is undone."""
    for name in ("HF_HUB_OFFLINE", "FORCE_COLOR", "GITHUB_ACTIONS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "dumb")

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["swaymeter", *arguments])
        code = cli.exit_code()  # main would end the process, and the tests with it
        printed = capsys.readouterr()
        return Ended(code, printed.out, printed.err)

    return run


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path / "workspace")
