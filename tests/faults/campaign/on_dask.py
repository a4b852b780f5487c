"""The scheduler of a Dask cluster, its workers, or the run that uses them, are killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from unittest import mock

import psutil

from tests.docker.test_docker import free_port
from tests.end_to_end.tiny_study import MOST_SECONDS, ROOT, Command, until
from tests.faults import preloaded_workers
from tests.faults.campaign.case import BrokenError, Case, group


@contextmanager
def cluster(case: Case, workers: int, port: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """The processes of a cluster, a scheduler and slow workers; runs of the block use it."""
    address = f"tcp://127.0.0.1:{port}"
    preload = {"DASK_DISTRIBUTED__WORKER__PRELOAD": json.dumps([preloaded_workers.__name__]), "OMP_NUM_THREADS": "1"}
    environment = case.study.environment | preload | {preloaded_workers.SLOW: "0.5", "SWAYMETER_TEST": ""}
    with ExitStack() as stack:
        log = stack.enter_context((case.folder / "dask.log").open("ab"))

        def start(program: str, *options: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", f"distributed.cli.{program}", *options, "--no-dashboard"]
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True
            )
            return stack.enter_context(group(process))

        scheduler = start("dask_scheduler", "--host", "127.0.0.1", "--port", str(port))
        options = ("--nthreads", "1", "--memory-limit", "0", "--resources", "CPU=1")
        nannies = [start("dask_worker", address, *options) for _ in range(workers)]
        with mock.patch.dict(os.environ, {"DASK_SCHEDULER_ADDRESS": address}):
            yield [scheduler, *nannies]


def scheduler_killed(case: Case) -> str:
    """The scheduler is killed, and nobody starts another."""
    port = free_port()
    sentence = f"the Dask scheduler tcp://127.0.0.1:{port} ended in the middle; start it and its workers again"
    with cluster(case, 2, port) as processes, case.study.start("run", "--runner", "dask") as running:
        until(case.has_begun_scoring, running)
        case.happened_to_scoring(running)
        processes[0].kill()
        outcome = case.outcome(running, sentence)
    with cluster(case, 2, port):
        case.complete("--runner", "dask")
    return outcome


def scheduler_started_again(case: Case) -> str:
    """The scheduler and its workers are killed, and somebody starts them again within seconds."""
    port = free_port()
    with cluster(case, 2, port) as processes, case.study.start("run", "--runner", "dask") as running:
        until(case.has_begun_scoring, running)
        case.happened_to_scoring(running)
        for process in processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        time.sleep(3)
        with cluster(case, 2, port):
            outcome = case.outcome(running)
            case.complete("--runner", "dask")
    return outcome


def workers_killed(case: Case, workers: int) -> str:
    """Three workers are killed one after another; a step fails after four."""
    with cluster(case, workers, free_port()) as (_, *nannies):
        with case.study.start("run", "--runner", "dask") as running:
            until(case.has_begun_scoring, running)
            for _ in range(3):
                _kill_one(case, nannies, running)
                time.sleep(case.generator.uniform(0.2, 2.0))
            outcome = case.outcome(running)
        case.complete("--runner", "dask")
    return outcome


def _kill_one(case: Case, nannies: list[subprocess.Popen[bytes]], running: Command) -> None:
    """Kills a worker, once one is there again; NotHitError where the run has no use for it any more."""
    deadline = time.monotonic() + MOST_SECONDS
    while time.monotonic() < deadline:
        case.happened_to_scoring(running)
        with suppress(psutil.NoSuchProcess):
            below = [one for nanny in nannies for one in psutil.Process(nanny.pid).children(recursive=True)]
            if alive := [one for one in below if "spawn_main" in " ".join(one.cmdline())]:
                case.generator.choice(alive).kill()
                return
        time.sleep(0.05)
    raise BrokenError("HUNG", f"no worker is there again after {MOST_SECONDS} s")


def conductor_killed(case: Case) -> str:
    """A run is killed and another one begun, while the workers of the first may still be at work."""
    with cluster(case, 2, free_port()):
        with case.study.start("run", "--runner", "dask") as running:
            until(case.has_begun_scoring, running)
            case.happened_to_scoring(running)
            running.process.kill()
        with case.study.start("run", "--runner", "dask") as running:
            outcome = case.outcome(running)
        case.complete("--runner", "dask")
    return outcome
