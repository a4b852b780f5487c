"""The temporary API ends with the command that started it, and prints nothing."""

import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from swaymeter.flows.server.api import _connection_error
from tests.flows.conftest import unconfigured_environment

Start = Callable[..., subprocess.Popen[str]]

FLOW = """
import logging
from swaymeter.flows.server.api import prefect_api
with prefect_api() as url:
    from prefect import flow, get_run_logger, task
    from prefect.cache_policies import NO_CACHE

    @task(cache_policy=NO_CACHE)
    def double(number: int) -> int:
        get_run_logger().info("doubling")
        logging.getLogger("swaymeter.scratch").warning("a warning of our own")
        return 2 * number

    @flow
    def scratch() -> int:
        return sum(future.result() for future in [double.submit(number) for number in range(12)])

    print(scratch())
"""

WAITING = """
import time
from swaymeter.flows.server.api import prefect_api
with prefect_api() as url:
    print(url, flush=True)
    time.sleep(120)
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return environment variables with a home of Prefect for this module, whose tables are created once."""
    return unconfigured_environment(tmp_path_factory.mktemp("prefect"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a user's folder; its modules have names of our folders or of the standard library, and raise errors."""
    folder = tmp_path_factory.mktemp("user")
    for name in ("data", "flows", "reports", "tasks", "queue"):
        (folder / f"{name}.py").write_text(f"raise RuntimeError('the module {name} of the user')")
    return folder


@pytest.fixture(scope="module")
def start(environment: dict[str, str], folder: Path) -> Start:
    """Return a function that starts Python in the user's folder, with further environment variables."""

    def start(*arguments: str, cwd: Path = folder, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-P", *arguments],
            cwd=cwd,
            env=environment | variables,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return start


@pytest.fixture
def waiting(start: Start) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Yield a command within `prefect_api()`, and the URL of the API."""
    with start("-c", WAITING) as command:
        assert command.stdout
        try:
            yield command, command.stdout.readline().strip()
        finally:
            command.kill()


def test_runs_at_once_share_a_new_database(start: Start, environment: dict[str, str]) -> None:
    runs = [start("-c", FLOW) for _ in range(2)]
    # Each run doubles 0 to 11 in 12 task runs, and prints the sum.
    assert [(*run.communicate(timeout=120), run.returncode) for run in runs] == [("132\n", "", 0)] * 2
    with closing(sqlite3.connect(Path(environment["PREFECT_HOME"], "prefect.db"))) as database:
        assert database.execute("SELECT state_name FROM flow_run").fetchall() == [("Completed",)] * 2
        assert database.execute("SELECT state_name FROM task_run").fetchall() == [("Completed",)] * 24
        logs = {message for (message,) in database.execute("SELECT message FROM log")}
    assert {"doubling", "a warning of our own"} <= logs


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_command_leaves_no_process(number: signal.Signals, waiting: tuple[subprocess.Popen[str], str]) -> None:
    command, url = waiting
    assert url.startswith("http://127.0.0.1:")
    children = psutil.Process(command.pid).children(recursive=True)
    assert children
    command.send_signal(number)
    command.wait(5)
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []


OWN_SERVER_OF_PREFECT = """
import time
from prefect.server.api.server import SubprocessASGIServer
server = SubprocessASGIServer()
server.start(timeout=120)
print(server.server_process.pid, flush=True)
time.sleep(120)
"""


def test_prefects_own_server_outlives_a_kill(start: Start, tmp_path: Path) -> None:
    """This fault of Prefect is the reason for flows/server/temporary.py."""
    with start("-c", OWN_SERVER_OF_PREFECT, cwd=tmp_path) as command:
        assert command.stdout
        server = psutil.Process(int(command.stdout.readline()))
        try:
            command.kill()
            command.wait()
            time.sleep(3)
            assert server.is_running()
        finally:
            server.kill()


def test_configured_api_that_does_not_answer_is_named(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as pool:
        reason = pool.submit(_connection_error, f"http://127.0.0.1:{server.getsockname()[1]}/api")
        with server.accept()[0] as connection:
            connection.sendall(b"SSH-2.0\r\n")
        assert "SSH-2.0" in reason.result()
    url = "http://127.0.0.1:1/api"
    _, errors = start("-c", FLOW, PREFECT_API_URL=url).communicate(timeout=60)
    assert f"ServerError: Prefect's API at {url} does not answer" in errors
    assert "unset PREFECT_API_URL" in errors


@pytest.mark.parametrize(
    ("home", "file", "content", "message"),
    [
        (".", "profiles.toml", 'active = "x', "correct profiles.toml in Prefect's folder"),
        (".", "prefect.toml", "[server", "or prefect.toml in the current folder"),
        (".", "prefect.db", "not a database " * 100, "file is not a database"),
        (".", "prefect.db", "", "Can't locate revision"),
        ("file/home", "file", "", "file/home cannot be written (Not a directory); free disk space"),
    ],
)
def test_unusable_files_of_prefect_are_named(
    home: str, file: str, content: str, message: str, start: Start, tmp_path: Path
) -> None:
    (tmp_path / file).write_text(content)
    if file == "prefect.db" and not content:  # a database with tables of an unknown version of Prefect
        with closing(sqlite3.connect(tmp_path / file)) as database:
            database.execute("CREATE TABLE alembic_version AS SELECT 'ffffffffffff' AS version_num")
            database.commit()
    _, errors = start("-c", FLOW, cwd=tmp_path, PREFECT_HOME=str(tmp_path / home)).communicate(timeout=120)
    assert message in errors.splitlines()[-1]
    assert "UserWarning" not in errors
    assert "Failed to initialize" not in errors
    assert f"move {tmp_path}/prefect.db away" in errors or file != "prefect.db"
