"""The command line, run within a test, and a lasting server; files need not outlive the machine."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from swaymeter.flows.cli import main as cli
from swaymeter.flows.server.api import running_server
from swaymeter.flows.server.settings import QUIET, SERVER
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


def nothing_configured(home: Path) -> dict[str, str]:
    """The environment of a program of ours that knows no Prefect but an own, empty home."""
    foreign = ("PREFECT_", "NO_PROXY", "no_proxy")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return plain | {"PREFECT_HOME": str(home)}


@pytest.fixture(scope="session")
def of_server(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of the lasting server and its clients: a Prefect home of its own, and nothing configured."""
    return nothing_configured(tmp_path_factory.mktemp("prefect"))


@pytest.fixture(scope="session")
def lasting(of_server: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a server with page, schedules and automations, which looks every second for what does not come."""
    quick = {"PREFECT_SERVER_EVENTS_PROACTIVE_GRANULARITY": "PT1S", "PREFECT_SERVER_REGISTER_BLOCKS_ON_START": "false"}
    settings = {**QUIET, **SERVER, **of_server, **quick}
    log = tmp_path_factory.mktemp("lasting") / "log"
    with (
        log.open("w+b") as said,
        running_server(settings, said) as (_, url),
        httpx.Client(base_url=url, trust_env=False, timeout=30) as client,
    ):
        yield client


@pytest.fixture
def program(of_server: dict[str, str], lasting: httpx.Client) -> Callable[..., subprocess.Popen[str]]:
    """Starts a Python program that uses the lasting server, with arguments."""

    def program(text: str, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        url = {"PREFECT_API_URL": str(lasting.base_url).rstrip("/"), "NO_PROXY": "127.0.0.1"}
        return subprocess.Popen(
            [sys.executable, "-c", text, *arguments],
            env=of_server | QUIET | url | variables,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return program


def until(happens: Callable[[], Any], seconds: float = 60) -> Any:
    """What comes, as soon as it is true; AssertionError where it does not come."""
    last = time.monotonic() + seconds
    while not (found := happens()):
        assert time.monotonic() < last, f"waited {seconds:.0f} s in vain"
        time.sleep(0.2)
    return found
