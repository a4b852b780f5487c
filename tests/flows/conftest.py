"""Fixtures that run commands within a test, and a server of Prefect for the session."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from prefect.client.base import PrefectHttpxSyncClient

from swaymeter.flows.cli import main as cli
from swaymeter.flows.server.api import running_server
from swaymeter.flows.server.settings import QUIET, SERVER
from tests.flows.graph.toy import Toy

Command = Callable[..., "CommandResult"]


@dataclass(frozen=True)
class CommandResult:
    """The result of a command.

    Attributes:
        code: The exit code.
        out: The text on standard output.
        err: The text on standard error.
    """

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The error message; AssertionError if there is a traceback, or anything else on standard error."""
        assert "Traceback" not in self.out + self.err
        assert self.err.startswith("error  ")
        assert self.err.count("\n") == 1
        return self.err.removeprefix("error  ").rstrip("\n")


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sync no files to the disk, because the files of tests need not survive a power cut."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture
def swaymeter(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs a command within the test; changes of the environment are undone."""
    # set before the deletion, so that monkeypatch also undoes what a command sets
    for name in ("HF_HUB_OFFLINE", "FORCE_COLOR", "GITHUB_ACTIONS"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "dumb")

    def run(*arguments: str) -> CommandResult:
        monkeypatch.setattr(sys, "argv", ["swaymeter", *arguments])
        code = cli.run_command()  # main would end the process, and the tests with it
        printed = capsys.readouterr()
        return CommandResult(code, printed.out, printed.err)

    return run


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path / "workspace")


def unconfigured_environment(home: Path) -> dict[str, str]:
    """Return environment variables with a home of Prefect, without its other settings, and without NO_PROXY."""
    prefixes = ("PREFECT_", "NO_PROXY", "no_proxy")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
    return variables | {"PREFECT_HOME": str(home)}


@pytest.fixture(scope="session")
def server_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment variables of the server and its clients."""
    return unconfigured_environment(tmp_path_factory.mktemp("prefect"))


@pytest.fixture(scope="session")
def server_client(
    server_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """Yield a client of a server with page, schedules and automations.

    The automations look for missing events every second.
    """
    quick = {"PREFECT_SERVER_EVENTS_PROACTIVE_GRANULARITY": "PT1S", "PREFECT_SERVER_REGISTER_BLOCKS_ON_START": "false"}
    settings = {**QUIET, **SERVER, **server_environment, **quick}
    log = tmp_path_factory.mktemp("server") / "log"
    with (
        log.open("w+b") as log_file,
        running_server(settings, log_file) as (_, url),
        # Like Prefect's page, this client repeats a request if a busy server answers 503.
        PrefectHttpxSyncClient(base_url=url, trust_env=False, timeout=30) as client,
    ):
        yield client


@pytest.fixture
def program(server_environment: dict[str, str], server_client: httpx.Client) -> Callable[..., subprocess.Popen[str]]:
    """Return a function that starts a Python program with arguments; the program uses the server of the session."""

    def start(text: str, *arguments: str, **variables: str) -> subprocess.Popen[str]:
        api = {"PREFECT_API_URL": str(server_client.base_url).rstrip("/"), "NO_PROXY": "127.0.0.1"}
        return subprocess.Popen(
            [sys.executable, "-c", text, *arguments],
            env=server_environment | QUIET | api | variables,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return start
