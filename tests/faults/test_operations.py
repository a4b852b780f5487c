"""What an operator does in the middle of a run: cancel and retry it, start another one, restart Prefect's server."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from swaymeter.flows.server.settings import QUIET, TEMPORARY
from swaymeter.flows.server.temporary import APP, PARENT
from tests.docker.test_docker import free_port
from tests.end_to_end.test_deployment import Deployed, deployments
from tests.end_to_end.tiny_study import MOST_SECONDS, ROOT, TinyStudy, until
from tests.faults.case import Case, as_in_a_terminal, process_group
from tests.faults.faulty_server import FOR_GOOD, IN_FLIGHT, Server, listening

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]
RESTART_SECONDS = (0.0, 2.0, 10.0)
Served = tuple[TinyStudy, Server, int]


@pytest.fixture
def slow(served_case: Case, served: Served) -> Iterator[Server]:
    """The model server, which takes a second for each response from a random request on."""
    _, usual, port = served
    first = served_case.generator.randrange(usual.probes, usual.requests - IN_FLIGHT)
    server = Server(lambda right: replace(right, delay_s=1.0), first, FOR_GOOD)
    with listening(server, port):
        yield server


@contextmanager
def deployed(case: Case) -> Iterator[Deployed]:
    """Give a server with the deployments and a worker, whose runs have left no process at the end."""
    with deployments(case.study, case.folder / "worker.log") as here:
        yield here
        _wait_for_worker(case)


def test_a_cancelled_run_completes_on_retry(draw: int, served_case: Case, slow: Server) -> None:
    with deployed(served_case) as here:
        run = here.start(served_case.study)
        assert slow.reached.wait(MOST_SECONDS)
        time.sleep(served_case.generator.uniform(0.0, 2.0))
        _set_state(here, run, type="CANCELLING")
        assert here.ended(run)["state_type"] == "CANCELLED"
        _wait_for_worker(served_case)
        slow.left = 0
        _set_state(here, run, type="SCHEDULED", name="AwaitingRetry")
        assert here.ended(run, run_count=2)["state_type"] == "COMPLETED"
    served_case.complete()
    assert len(slow.repeated) <= IN_FLIGHT


def test_two_schedules_share_a_workspace(draw: int, served_case: Case, slow: Server) -> None:
    with deployed(served_case) as here:
        runs = [here.start(served_case.study), here.start(served_case.study)]
        assert slow.reached.wait(MOST_SECONDS)
        slow.left = 3
        assert [here.ended(run)["state_type"] for run in runs] == ["COMPLETED"] * 2
    served_case.complete()
    assert slow.repeated == []


@contextmanager
def api_at(port: int, home: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a Prefect server at a port."""
    command = [sys.executable, "-P", "-m", "uvicorn", "--factory", APP, "--port", str(port), "--log-level", "error"]
    settings = {**QUIET, **TEMPORARY, "PREFECT_HOME": str(home), PARENT: str(os.getpid())}
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **settings}, start_new_session=True)
    with process_group(process):
        deadline = time.monotonic() + MOST_SECONDS
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{port}/api/ready", trust_env=False, timeout=60).raise_for_status()
                break
            except httpx.HTTPError:
                assert time.monotonic() < deadline, "Prefect's server does not start"
                time.sleep(0.2)
        yield process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_run_outlasts_a_restarted_api(number: signal.Signals, draw: int, served_case: Case, slow: Server) -> None:
    port, home = free_port(), served_case.folder / "prefect"
    home.mkdir()
    shutil.copy(served_case.study.prefect_home / "prefect.db", home)  # making its tables takes ten seconds
    study = replace(served_case.study, prefect_home=home, api=f"http://127.0.0.1:{port}/api")
    with api_at(port, home) as api, study.start("run", before=as_in_a_terminal) as running:
        until(slow.reached.is_set, running)
        api.send_signal(number)
        api.wait()
        time.sleep(served_case.generator.choice(RESTART_SECONDS))
        with api_at(port, home):
            slow.left = 0
            served_case.check_end(running, f"Prefect's API at {study.api} failed in the middle of the run")
    served_case.complete()
    assert slow.repeated == []


def _set_state(deployed: Deployed, run: str, **state: str) -> None:
    """Change the state of a flow run, as the buttons of Prefect's page do."""
    accepted = deployed.api.post(f"/flow_runs/{run}/set_state", json={"state": state}).raise_for_status().json()
    assert accepted["status"] == "ACCEPT", accepted


def _wait_for_worker(case: Case) -> None:
    """Wait until the worker is the only process of the study."""
    deadline = time.monotonic() + MOST_SECONDS
    while len(left := case.study.processes()) > 1:
        assert time.monotonic() < deadline, [process.cmdline() for process in left]
        time.sleep(0.1)
