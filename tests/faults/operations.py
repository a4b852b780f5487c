"""Operators who cancel and retry a run, start another one, or restart Prefect's server."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from swaymeter.flows.server import temporary
from swaymeter.flows.server.settings import QUIET, TEMPORARY
from tests.docker.test_docker import free_port
from tests.end_to_end.test_deployment import Deployed, deployments
from tests.end_to_end.tiny_study import MOST_SECONDS, ROOT, until
from tests.faults.case import Case, Disturbance
from tests.faults.faulty_server import IN_FLIGHT, Server
from tests.faults.outages import kill_group


@contextmanager
def beside_a_slow_server(case: Case, operate: Callable[[Case, Server], None], repeated: int = 0) -> Iterator[None]:
    """Operate on a run whose model takes a second for each response from a random request on.

    Args:
        case: the case.
        operate: the operation, which makes the server fast again.
        repeated: number of right responses that may be requested again.
    """
    server = case.undisturbed.server.with_fault(case.generator, lambda right: replace(right, delay_s=1.0))
    with server.listening():
        operate(case, server)
        yield
    assert len(server.repeated) <= repeated


@contextmanager
def _deployed(case: Case) -> Iterator[Deployed]:
    """Give a server with the deployments and a worker, whose runs have left no process at the end."""
    with deployments(case.study, case.folder / "worker.log") as deployed:
        yield deployed
        _wait_for_worker(case)


def _wait_for_worker(case: Case) -> None:
    """Wait until the worker is the only process of the study."""
    deadline = time.monotonic() + MOST_SECONDS
    while len(left := case.study.processes()) > 1:
        assert time.monotonic() < deadline, [process.cmdline() for process in left]
        time.sleep(0.1)


def _set_state(deployed: Deployed, run: str, **state: str) -> None:
    """Change the state of a flow run, as the buttons of Prefect's page do."""
    accepted = deployed.api.post(f"/flow_runs/{run}/set_state", json={"state": state}).raise_for_status().json()
    assert accepted["status"] == "ACCEPT", accepted


def cancel_and_retry(case: Case, server: Server) -> None:
    """Cancel the run on Prefect's page, and retry it there."""
    with _deployed(case) as deployed:
        run = deployed.start(case.study)
        assert server.reached.wait(MOST_SECONDS)
        time.sleep(case.generator.uniform(0.0, 2.0))
        _set_state(deployed, run, type="CANCELLING")
        assert deployed.ended(run)["state_type"] == "CANCELLED"
        _wait_for_worker(case)
        server.left = 0
        _set_state(deployed, run, type="SCHEDULED", name="AwaitingRetry")
        assert deployed.ended(run, run_count=2)["state_type"] == "COMPLETED"


def run_twice(case: Case, server: Server) -> None:
    """Start two runs of a deployment at once."""
    with _deployed(case) as deployed:
        runs = [deployed.start(case.study), deployed.start(case.study)]
        assert server.reached.wait(MOST_SECONDS)
        server.left = 3
        assert [deployed.ended(run)["state_type"] for run in runs] == ["COMPLETED"] * 2


def restart_api(case: Case, server: Server) -> None:
    """End Prefect's server, and start it again within the run."""
    port, home = free_port(), case.folder / "prefect"
    home.mkdir()
    shutil.copy(case.study.prefect_home / "prefect.db", home)  # making its tables takes ten seconds
    url = f"http://127.0.0.1:{port}/api"
    with _api_at(port, home) as api, case.start(replace(case.study, prefect_home=home, api=url)) as running:
        until(server.reached.is_set, running)
        api.send_signal(case.generator.choice((signal.SIGTERM, signal.SIGKILL)))
        api.wait()
        time.sleep(case.generator.choice((0.0, 2.0, 10.0)))
        with _api_at(port, home):
            server.left = 0
            case.check_end(running, f"Prefect's API at {url} failed in the middle of the run")


@contextmanager
def _api_at(port: int, home: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a Prefect server at a port."""
    command = [sys.executable, "-P", "-m", "uvicorn", "--factory", temporary.APP]
    settings = {**QUIET, **TEMPORARY, "PREFECT_HOME": str(home), temporary.PARENT: str(os.getpid())}
    process = subprocess.Popen(
        [*command, "--port", str(port), "--log-level", "error"],
        cwd=ROOT,
        env={**os.environ, **settings},
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + MOST_SECONDS
        while temporary._connection_error(f"http://127.0.0.1:{port}/api", "ready", MOST_SECONDS):
            assert time.monotonic() < deadline, "Prefect's server does not start"
            time.sleep(0.2)
        yield process
    finally:
        kill_group(process)


OPERATIONS: dict[str, Disturbance] = {
    "cancelled and retried": partial(beside_a_slow_server, operate=cancel_and_retry, repeated=IN_FLIGHT),
    "two schedules": partial(beside_a_slow_server, operate=run_twice),
    "API restarted": partial(beside_a_slow_server, operate=restart_api),
}
