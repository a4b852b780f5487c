"""Runs that lose what they need: a Dask scheduler, the disk's space, a mounted folder."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import count
from unittest import mock

from tests.docker.test_docker import free_port
from tests.end_to_end import preloaded_workers
from tests.end_to_end.tiny_study import ROOT, Command, until
from tests.faults.case import Case, Disturbance
from tests.mounts import MIB, can_mount, mounted


@contextmanager
def _cluster(case: Case, port: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start a Dask scheduler and two slow workers, which runs within the block use."""
    address, case.options = f"tcp://127.0.0.1:{port}", ("--runner", "dask")
    environment = case.study.environment | {preloaded_workers.SLOW: "0.5", "OMP_NUM_THREADS": "1", "SWAYMETER_TEST": ""}
    worker = ("dask_worker", address, "--nthreads", "1", "--memory-limit", "0", "--resources", "CPU=1")
    with ExitStack() as stack, (case.folder / "dask.log").open("ab") as log:
        processes = []
        for program, *options in ("dask_scheduler", "--host", "127.0.0.1", "--port", str(port)), worker, worker:
            command = [sys.executable, "-m", f"distributed.cli.{program}", *options, "--no-dashboard"]
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
            )
            stack.callback(kill_group, process)
            processes.append(process)
        with mock.patch.dict(os.environ, {"DASK_SCHEDULER_ADDRESS": address}):
            yield processes


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process of a session of its own, and its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def _scoring(case: Case) -> Iterator[Command]:
    """Start a run, and wait for its first chunk and up to a second."""
    with case.start() as running:
        until(lambda: any(case.study.workspace.glob("scores/*/*/*.parquet")), running)
        case.wait(running, 1.0)
        yield running


@contextmanager
def scheduler_restarted(case: Case) -> Iterator[None]:
    """Kill the scheduler, alone or with its workers, and start them again within the run."""
    port = free_port()
    with _cluster(case, port) as processes, _scoring(case) as running:
        for process in processes[: case.generator.choice((1, 3))]:
            kill_group(process)
        with _cluster(case, port):
            case.check_end(running, f"the Dask scheduler tcp://127.0.0.1:{port} ended in the middle; start it and")
            yield


@contextmanager
def full_disk(case: Case) -> Iterator[None]:
    """Fill the workspace's file system, which has room for 64 MiB and 2,000 files, with bytes or with files."""
    with mounted(case.study.workspace, 64 * MIB, files=2_000) as workspace, case.start() as running:
        case.wait(running, case.undisturbed.seconds)
        filling = workspace / "filling"
        filling.mkdir()
        with suppress(OSError):
            if case.generator.random() < 0.5:
                (filling / "bytes").write_bytes(bytes(64 * MIB))
            for number in count():
                (filling / str(number)).touch()
        case.check_end(running, "No space left on device")
        shutil.rmtree(filling)
        yield


@contextmanager
def full_folder_of_prefect(case: Case) -> Iterator[None]:
    """Fill the file system of the run's own Prefect server."""
    with mounted(case.folder / "prefect", 64 * MIB) as home:
        shutil.copy(case.study.prefect_home / "prefect.db", home)  # making its tables takes ten seconds
        with case.start(replace(case.study, prefect_home=home, api="")) as running:
            case.wait(running, case.undisturbed.seconds)
            with suppress(OSError):
                (home / "filling").write_bytes(bytes(64 * MIB))
            case.check_end(running, "Prefect's API", str(home))
    yield


@contextmanager
def unmounted_workspace(case: Case) -> Iterator[None]:
    """Unmount the workspace while the run scores, and mount it again later."""
    workspace, shared = case.study.workspace, case.folder / "shared"
    shared.mkdir()
    workspace.mkdir()
    mount = ["mount", "--bind", str(shared), str(workspace)]
    later = threading.Timer(case.generator.choice((5.0, 60.0)), subprocess.run, (mount,), {"check": True})
    subprocess.run(mount, check=True)
    try:
        with _scoring(case) as running:
            subprocess.run(["umount", "--lazy", str(workspace)], check=True)
            later.start()
            case.check_end(running, f"the workspace {workspace} has no workspace.json")
        later.join()
        yield
    finally:
        later.cancel()
        while subprocess.run(["umount", "--lazy", str(workspace)], capture_output=True, check=False).returncode == 0:
            pass  # once for each mount


OUTAGES: dict[str, Disturbance] = {
    "scheduler restarted": scheduler_restarted,
}
if can_mount():  # takes root
    OUTAGES |= {
        "disk full": full_disk,
        "folder of Prefect full": full_folder_of_prefect,
        "workspace unmounted": unmounted_workspace,
    }
