"""A run that meets a fault goes on or says what to do, and the next run ends like an undisturbed run.

The name of a test begins with its fault in docs/reliability.md, by which `-k` selects tests.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from unittest import mock
from urllib.parse import urlsplit

import psutil
import pytest

from swaymeter.flows.server import api, temporary
from swaymeter.flows.server.settings import QUIET, TEMPORARY_SERVER
from tests.docker.test_docker import free_port
from tests.end_to_end import worker_preload
from tests.end_to_end.test_deployment import Deployed, deployments
from tests.end_to_end.tiny_study import EVENT_SECONDS, ROOT, Command, TinyStudy, wait_until
from tests.faults.case import Case
from tests.faults.faulty_server import FAULTS, FOR_GOOD, IN_FLIGHT, Server
from tests.mounts import MIB, can_mount, mounted

MAX_KILLS = 5
SECONDS_TO_DIE = 30.0
SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}
needs_mounts = pytest.mark.skipif(not can_mount(), reason="mounting takes root")
with_served_study = pytest.mark.parametrize("case", ["served_study"], indirect=True)


@pytest.mark.parametrize(
    ("runner", "target"),
    [
        *((runner, target) for runner in ("threads", "processes", "dask") for target in SIGNALS),
        *((runner, target) for runner in ("processes", "dask") for target in ("all processes", "a worker")),
    ],
)
def test_kills_at_random_moments(
    case: Case, generator: random.Random, request: pytest.FixtureRequest, runner: str, target: str
) -> None:
    kills, case.command = 0, (*case.command, "--runner", runner)
    for _ in range(generator.randint(1, MAX_KILLS)):
        with case.start() as running:
            running.process.join(generator.uniform(0.0, case.seconds))
            processes = targets(case, generator, target, running)
            if running.poll() is not None or not processes:
                break
            for process in processes:
                with suppress(psutil.NoSuchProcess):
                    process.send_signal(SIGNALS.get(target, signal.SIGKILL))
            kills += 1
            if target == "a worker":
                case.check_end(running)
                continue
            running.process.join(SECONDS_TO_DIE)
            assert running.poll() is not None, f"the run survived the signal: {running.file.read_text()}"
            _, alive = psutil.wait_procs(case.study.processes(), timeout=SECONDS_TO_DIE)
            assert [process.cmdline() for process in alive] == []
            assert "Traceback" not in running.file.read_text()
    request.node.user_properties.append(("kills", kills))  # in the file of --junitxml
    case.complete()
    if not kills:
        pytest.skip("the run was over before the kill")


@pytest.mark.parametrize(
    ("case", "kind"),
    [
        *(("served_study", kind) for kind in FAULTS),
        *(("judged_audit", kind) for kind in FAULTS if kind != "slow"),  # a judge may be silent for long
    ],
    indirect=["case"],
)
def test_services_with_faulty_responses(case: Case, kind: str, generator: random.Random) -> None:
    name, fault = generator.choice([*FAULTS[kind].items()])
    fault_count = generator.choice((1, 3) if kind == "slow" else (1, 3, 9, FOR_GOOD))
    server = case.server.with_fault(generator, fault, fault_count)
    print(f"{name}: {fault_count} responses after {server.right_count}")
    with server.listening():
        with case.start() as running:
            case.check_end(running, server.host)
        if not server.reached.is_set():
            pytest.skip("the run was over before the fault")
        server.faults_left = 0
        case.complete()
    assert server.repeated == []


@with_served_study
def test_services_that_go_and_come_again(case: Case, generator: random.Random) -> None:
    server = case.server.with_fault(generator, FAULTS["broken"]["connection closed"])
    with ExitStack() as before, ExitStack() as after:
        before.enter_context(server.listening())
        with case.start() as running:
            wait_until(server.reached.is_set, running)
            before.close()
            server.faults_left = 0
            timer = threading.Timer(generator.choice((2.0, 6.0, 20.0)), after.enter_context, [server.listening()])
            timer.start()
            case.check_end(running, server.host)
        timer.join()
        case.complete()
    assert server.repeated == []


@with_served_study
def test_services_of_a_killed_run(case: Case, generator: random.Random) -> None:
    server = case.server.with_fault(generator, lambda right: right, 1)  # no fault, only a random moment
    with server.listening():
        with case.start() as running:
            wait_until(server.reached.is_set, running)
            running.process.kill()
        case.complete()
    assert len(server.repeated) <= IN_FLIGHT


def test_outages_of_a_scheduler(case: Case, generator: random.Random) -> None:
    port = free_port()
    case.command += ("--runner", "dask")
    with cluster(case, port) as processes, scoring(case, generator) as running:
        for process in processes[: generator.choice((1, 3))]:  # the scheduler alone, or also its two workers
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        with cluster(case, port):
            case.check_end(running, f"the Dask scheduler tcp://127.0.0.1:{port} ended during the run; start it and")
            case.complete()


@needs_mounts
def test_outages_of_a_full_disk(case: Case, generator: random.Random) -> None:
    with mounted(case.study.workspace, 64 * MIB, files=2_000) as workspace, case.start() as running:
        case.wait(running, generator.uniform(0.0, case.seconds))
        filling = workspace / "filling"
        filling.mkdir()
        with suppress(OSError):
            if generator.random() < 0.5:
                (filling / "bytes").write_bytes(bytes(64 * MIB))
            for number in count():
                (filling / str(number)).touch()
        case.check_end(running, "No space left on device")
        shutil.rmtree(filling)
        case.complete()


@needs_mounts
def test_outages_of_a_mounted_workspace(case: Case, generator: random.Random, tmp_path: Path) -> None:
    workspace, shared = case.study.workspace, tmp_path / "shared"
    mount, unmount = ["mount", "--bind", str(shared), str(workspace)], ["umount", "--lazy", str(workspace)]
    remount = threading.Timer(generator.choice((5.0, 60.0)), subprocess.run, (mount,), {"check": True})
    shared.mkdir()
    workspace.mkdir()
    subprocess.run(mount, check=True)
    try:
        with scoring(case, generator) as running:
            subprocess.run(unmount, check=True)
            remount.start()
            case.check_end(running, f"the workspace {workspace} has no workspace.json")
        remount.join()
        case.complete()
    finally:
        remount.cancel()
        subprocess.run(unmount, check=False)


@needs_mounts
def test_outages_of_a_full_folder_of_prefect(case: Case, generator: random.Random, tmp_path: Path) -> None:
    with mounted(tmp_path / "prefect", 64 * MIB) as home:
        shutil.copy(case.study.prefect_home / "prefect.db", home)  # creating its tables takes ten seconds
        with case.start(replace(case.study, prefect_home=home, api="")) as running:
            case.wait(running, generator.uniform(0.0, case.seconds))
            with suppress(OSError):
                (home / "filling").write_bytes(bytes(64 * MIB))
            case.check_end(running, "Prefect's API", str(home))
    case.complete()


@pytest.fixture
def slow_server(case: Case, generator: random.Random) -> Iterator[Server]:
    """The model server, which takes a second for each response from a random request on."""
    server = case.server.with_fault(generator, lambda right: replace(right, delay_s=1.0))
    with server.listening():
        yield server


@with_served_study
def test_operations_restart_prefects_server(
    case: Case, slow_server: Server, generator: random.Random, tmp_path: Path
) -> None:
    shutil.copy(case.study.prefect_home / "prefect.db", tmp_path)  # creating its tables takes ten seconds
    study = replace(case.study, prefect_home=tmp_path, api=f"http://127.0.0.1:{free_port()}/api")
    with prefect_server(study) as server, case.start(study) as running:
        wait_until(slow_server.reached.is_set, running)
        server.send_signal(generator.choice((signal.SIGTERM, signal.SIGKILL)))
        server.wait()
        time.sleep(generator.choice((0.0, 2.0, 10.0)))
        with prefect_server(study):
            slow_server.faults_left = 0
            case.check_end(running, f"Prefect's API at {study.api} failed in the middle of the run")
    case.complete()
    assert slow_server.repeated == []


@with_served_study
def test_operations_cancel_and_retry(case: Case, slow_server: Server, generator: random.Random, tmp_path: Path) -> None:
    with deployments(case.study, tmp_path / "worker.log") as deployed:
        run = deployed.start(case.study)
        assert slow_server.reached.wait(EVENT_SECONDS)
        time.sleep(generator.uniform(0.0, 2.0))
        set_state(deployed, run, type="CANCELLING")
        assert deployed.wait(run)["state_type"] == "CANCELLED"
        wait_for_worker(case)
        slow_server.faults_left = 0
        set_state(deployed, run, type="SCHEDULED", name="AwaitingRetry")
        assert deployed.wait(run, run_count=2)["state_type"] == "COMPLETED"
        wait_for_worker(case)
    case.complete()
    assert len(slow_server.repeated) <= IN_FLIGHT


@with_served_study
def test_operations_of_two_schedules(case: Case, slow_server: Server, tmp_path: Path) -> None:
    with deployments(case.study, tmp_path / "worker.log") as deployed:
        runs = [deployed.start(case.study), deployed.start(case.study)]
        assert slow_server.reached.wait(EVENT_SECONDS)
        slow_server.faults_left = 3
        assert [deployed.wait(run)["state_type"] for run in runs] == ["COMPLETED"] * 2
        wait_for_worker(case)
    case.complete()
    assert slow_server.repeated == []


def targets(case: Case, generator: random.Random, target: str, running: Command) -> list[psutil.Process]:
    """Return the processes that get the signal; none if the run is over or has no worker."""
    if target == "a worker":
        workers = [process for process in case.study.processes() if "spawn_main" in " ".join(process.cmdline())]
        return generator.sample(workers, min(1, len(workers)))
    with suppress(psutil.NoSuchProcess):
        run = psutil.Process(running.pid)
        return [*run.children(recursive=True), run] if target == "all processes" else [run]
    return []


@contextmanager
def scoring(case: Case, generator: random.Random) -> Iterator[Command]:
    """Start a run, and wait for its first chunk and then up to a second."""
    with case.start() as running:
        wait_until(lambda: any(case.study.workspace.glob("scores/*/*/*.parquet")), running)
        case.wait(running, generator.uniform(0.0, 1.0))
        yield running


@contextmanager
def cluster(case: Case, port: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start a Dask scheduler and two slow workers for the runs within the block."""
    address = f"tcp://127.0.0.1:{port}"
    environment = case.study.environment | {worker_preload.SLOW: "0.5", "OMP_NUM_THREADS": "1", "SWAYMETER_TEST": ""}
    worker = f"dask_worker {address} --nthreads 1 --memory-limit 0 --resources CPU=1"
    with ExitStack() as stack, mock.patch.dict(os.environ, {"DASK_SCHEDULER_ADDRESS": address}):
        yield [
            stack.enter_context(background(f"distributed.cli.{program} --no-dashboard", environment))
            for program in (f"dask_scheduler --host 127.0.0.1 --port {port}", worker, worker)
        ]


@contextmanager
def prefect_server(study: TinyStudy) -> Iterator[subprocess.Popen[bytes]]:
    """Start a Prefect server at the address of a study."""
    settings = {
        **QUIET,
        **TEMPORARY_SERVER,
        "PREFECT_HOME": str(study.prefect_home),
        temporary.PARENT: str(os.getpid()),
    }
    command = f"uvicorn --factory {temporary.APP} --port {urlsplit(study.api).port} --log-level error"
    with background(command, os.environ | settings) as process:
        while api._connection_error(study.api, "ready", EVENT_SECONDS):
            time.sleep(0.2)
        yield process


@contextmanager
def background(module_and_arguments: str, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Python module and its children beside the block."""
    command = [sys.executable, "-P", "-m", *module_and_arguments.split()]
    with subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def set_state(deployed: Deployed, run: str, **state: str) -> None:
    """Change the state of a flow run, as the buttons of Prefect's page do."""
    accepted = deployed.api.post(f"/flow_runs/{run}/set_state", json={"state": state}).raise_for_status().json()
    assert accepted["status"] == "ACCEPT", accepted


def wait_for_worker(case: Case) -> None:
    """Wait until the worker is the only process of the study."""
    deadline = time.monotonic() + EVENT_SECONDS
    while len(left := case.study.processes()) > 1:
        assert time.monotonic() < deadline, [process.cmdline() for process in left]
        time.sleep(0.1)
