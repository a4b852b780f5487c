"""The temporary API lives as long as the command that started it, not longer, and says nothing on the terminal."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]

FLOW = """
import logging
from flows.server.orchestrator import orchestrator, quiet
quiet()
with orchestrator() as url:
    from prefect import flow, get_run_logger, task
    from prefect.cache_policies import NO_CACHE
    from prefect.client.orchestration import get_client

    @task(cache_policy=NO_CACHE)
    def double(number: int) -> int:
        get_run_logger().info("doubling")
        logging.getLogger("data.scratch").warning("a warning of our own")
        return 2 * number

    @flow
    def scratch() -> int:
        return sum(future.result() for future in [double.submit(1), double.submit(2)])

    print(scratch())
"""

HISTORY = """
from flows.server.orchestrator import orchestrator, quiet
quiet()
with orchestrator() as url:
    from prefect.client.orchestration import get_client
    with get_client(sync_client=True) as client:
        print(*sorted(run.state_name for run in client.read_flow_runs()))
        print(*sorted(run.state_name for run in client.read_task_runs()))
        print(*sorted({log["message"] for log in client.request("POST", "/logs/filter", json={}).json()}), sep="|")
"""

WAITING = """
import time
from flows.server.orchestrator import orchestrator, quiet
quiet()
with orchestrator() as url:
    print(url, flush=True)
    time.sleep(120)
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A Prefect home of this module's own, with nothing configured: its tables are created once."""
    foreign = ("PREFECT_", "NO_PROXY", "no_proxy")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return plain | {"PREFECT_HOME": str(tmp_path_factory.mktemp("prefect")), "PYTHONPATH": str(ROOT)}


@pytest.fixture
def waiting(environment: dict[str, str]) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """A command inside its `orchestrator()`, and the processes that it started."""
    with subprocess.Popen(
        [sys.executable, "-c", WAITING], env=environment, stdout=subprocess.PIPE, text=True
    ) as command:
        assert command.stdout
        assert command.stdout.readline().startswith("http://127.0.0.1:")
        children = psutil.Process(command.pid).children(recursive=True)
        try:
            yield command, children
        finally:
            command.kill()


def start(code: str, environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_runs_at_once_share_a_new_database_and_print_only_their_own(environment: dict[str, str]) -> None:
    runs = [start(FLOW, environment) for _ in range(2)]
    said = [run.communicate(timeout=120) for run in runs]
    assert said == [("6\n", "")] * 2
    assert [run.returncode for run in runs] == [0, 0]

    history, errors = start(HISTORY, environment).communicate(timeout=120)
    assert errors == ""
    flow_runs, task_runs, logs = history.splitlines()
    assert flow_runs.split() == ["Completed"] * 2
    assert task_runs.split() == ["Completed"] * 4
    assert {"doubling", "a warning of our own"} <= set(logs.split("|"))


def test_a_killed_command_leaves_no_process(
    waiting: tuple[subprocess.Popen[str], list[psutil.Process]],
) -> None:
    command, children = waiting
    assert children
    command.send_signal(signal.SIGKILL)
    command.wait(5)
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []


def test_an_interrupted_command_leaves_no_process(
    waiting: tuple[subprocess.Popen[str], list[psutil.Process]],
) -> None:
    command, children = waiting
    command.send_signal(signal.SIGTERM)
    command.wait(5)
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []


def test_a_configured_api_that_is_dead_is_named_at_once(environment: dict[str, str]) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/api"
        began = time.monotonic()
        _, errors = start(FLOW, environment | {"PREFECT_API_URL": url}).communicate(timeout=60)
    assert time.monotonic() - began < 20
    assert f"OrchestratorError: Prefect's API at {url} does not answer" in errors
    assert "unset it" in errors


def test_a_server_that_cannot_start_gives_its_last_words(environment: dict[str, str], tmp_path: Path) -> None:
    broken = tmp_path / "prefect.db"
    broken.write_text("this is no database " * 100)
    url = f"sqlite+aiosqlite:///{broken}"
    _, errors = start(FLOW, environment | {"PREFECT_SERVER_DATABASE_CONNECTION_URL": url}).communicate(timeout=120)
    assert "OrchestratorError: Prefect's server ended with status" in errors
    assert "file is not a database" in errors
