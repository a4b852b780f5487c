"""Runs that are killed at random moments, up to five one after another."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

import psutil
import pytest

from tests.end_to_end.tiny_study import Command
from tests.faults.case import Case, Disturbance

MOST_KILLS = 5
SECONDS_TO_DIE = 30.0
SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}


@contextmanager
def killed(case: Case, runner: str, target: str) -> Iterator[None]:
    """Kill runs, or one of their workers."""
    case.options = ("--runner", runner)
    for _ in range(case.generator.randint(1, MOST_KILLS)):
        with case.start() as running:
            running.process.join(case.generator.uniform(0.0, case.undisturbed.seconds))
            processes = _targets(case, target, running)
            if running.poll() is not None or not processes:
                break
            for process in processes:
                with suppress(psutil.NoSuchProcess):
                    process.send_signal(SIGNALS.get(target, signal.SIGKILL))
            case.kills += 1
            if target == "a worker":
                case.check_end(running)
            else:
                _check_death(case, running)
    yield
    if not case.kills:
        pytest.skip("the run was over before the kill")


def _targets(case: Case, target: str, running: Command) -> list[psutil.Process]:
    if target == "a worker":
        workers = [process for process in case.study.processes() if "spawn_main" in " ".join(process.cmdline())]
        return case.generator.sample(workers, min(1, len(workers)))
    with suppress(psutil.NoSuchProcess):
        run = psutil.Process(running.pid)
        return [*run.children(recursive=True), run] if target == "all processes" else [run]
    return []


def _check_death(case: Case, running: Command) -> None:
    """Check that nothing of a killed run is left."""
    running.process.join(SECONDS_TO_DIE)
    assert running.poll() is not None, "the run survived the signal"
    _, alive = psutil.wait_procs(case.study.processes(), timeout=SECONDS_TO_DIE)
    assert [process.cmdline() for process in alive] == []
    assert "Traceback" not in running.file.read_text()


KILLS: dict[str, Disturbance] = {
    f"{target}, {runner}": partial(killed, runner=runner, target=target)
    for runner in ("threads", "processes", "dask")
    for target in (*SIGNALS, "all processes", "a worker")
    if runner != "threads" or target in SIGNALS  # threads have no further processes
}
