"""A study that is killed at random moments and run again ends as an undisturbed one."""

import json
import signal
from contextlib import suppress

import psutil
import pytest

from tests.end_to_end import preloaded_workers
from tests.end_to_end.tiny_study import Command, TinyStudy
from tests.faults.case import LONGEST_SECONDS, Case, as_in_a_terminal

pytestmark = pytest.mark.faults
MOST_KILLS = 5
SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}


@pytest.mark.parametrize("target", [*SIGNALS, "all processes", "a worker"])
@pytest.mark.parametrize("runner", ["threads", "processes", "dask"])
def test_killed_runs_end_as_undisturbed(
    runner: str,
    target: str,
    draw: int,
    case: Case,
    finished: tuple[TinyStudy, float],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PRELOAD", json.dumps([preloaded_workers.__name__]))  # equal chunks
    if runner == "threads" and target not in SIGNALS:
        pytest.skip("threads have no further processes")
    options, kills = ("--runner", runner), 0
    for _ in range(case.generator.randint(1, MOST_KILLS)):
        with case.study.start("run", *options, before=as_in_a_terminal) as running:
            running.process.join(case.generator.uniform(0.0, finished[1]))
            if running.poll() is not None or not _kill(case, target, running):
                break
            kills += 1
            if target == "a worker":
                case.check_end(running)
            else:
                _check_death(case, running)
    request.node.user_properties.append(("kills", kills))  # in the file of --junitxml
    case.complete(*options)
    if not kills:
        pytest.skip("the run was over before the kill")


def _kill(case: Case, target: str, running: Command) -> bool:
    """Send a signal to the target and return False if it has no process."""
    processes = []
    with suppress(psutil.NoSuchProcess):
        run = psutil.Process(running.pid)
        processes = [*run.children(recursive=True), run] if target == "all processes" else [run]
        if target == "a worker":
            workers = [one for one in case.study.processes() if "spawn_main" in " ".join(one.cmdline())]
            processes = [case.generator.choice(workers)] if workers else []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(SIGNALS.get(target, signal.SIGKILL))
    return bool(processes)


def _check_death(case: Case, running: Command) -> None:
    """Check that nothing of a killed run is left."""
    running.process.join(LONGEST_SECONDS)
    assert running.poll() is not None, "the run survived the signal"
    _, alive = psutil.wait_procs(case.study.processes(), timeout=30)
    assert [process.cmdline() for process in alive] == []
    assert "Traceback" not in running.file.read_text()
