"""Workers that do not fit get no steps, which go to the others: of another version, or without the shared folder."""

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flows.execution.workers import roster
from flows.execution.workers.cluster import Cluster
from flows.graph.step import Run, Step, StepId
from tests.end_to_end.tiny_study import ROOT


def wait_a_moment(step: Step, run: Run) -> None:
    """A step that takes a moment."""
    time.sleep(0.2)


@contextmanager
def cluster_of_two(workspace: Path, cwd: Path, *options: str) -> Iterator[Cluster]:
    """A cluster of a worker of this process and, soon, of one that runs in another folder, with further options."""
    import distributed

    alone = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(host="127.0.0.1", protocol="tcp://", resources={"CPU": 1}, **alone) as local,
        Cluster(local.scheduler_address, None, Run(workspace)) as cluster,
    ):
        command = [sys.executable, "-m", "distributed.cli.dask_worker", local.scheduler_address, "--no-nanny"]
        worker = subprocess.Popen(
            [*command, "--nthreads", "1", "--resources", "CPU=1", *options],
            cwd=cwd, env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            yield cluster
        finally:
            worker.kill()
            worker.wait()


def until(reached: Callable[[], bool], cluster: Cluster) -> None:
    """Returns when it is so, or a minute has passed; meanwhile the cluster is looked at."""
    deadline = time.monotonic() + 60
    while not reached() and time.monotonic() < deadline:
        cluster.at_once()
        time.sleep(0.1)


def failures(cluster: Cluster, steps: int) -> list[str | None]:
    """Why each of several steps at once failed; None for one that did not."""
    outcomes = []

    def compute(number: int) -> None:
        step = Step(StepId("score", f"relation {number}", "m"), wait_a_moment, {}, {}, device="cpu")
        outcomes.append(cluster.compute(step, cluster._run))

    threads = [threading.Thread(target=compute, args=(number,)) for number in range(steps)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return [outcome.failed for outcome in outcomes]


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING and "worker" in one.message]


def test_a_late_worker_of_another_version_gets_no_steps(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "workspace.json").touch()
    with cluster_of_two(tmp_path, tmp_path, "--preload", "tests.faults.other_version") as cluster:
        until(lambda: "cannot be used" in caplog.text, cluster)
        assert failures(cluster, 4) == [None] * 4
    (refusal,) = warnings(caplog)
    assert "it has swaymeter 0.0.1, and the run has" in refusal


def test_a_worker_that_loses_the_folder_gets_no_steps(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roster, "SECONDS_REFUSED", 0.5)
    monkeypatch.setattr(roster, "SECONDS_BETWEEN_LOOKS", 0.1)
    monkeypatch.chdir(tmp_path)
    shared, its = Path("space"), tmp_path / "its" / "space"  # one path, in the folder in which each runs
    for folder in (shared, its.parent):
        folder.mkdir()
    (shared / "workspace.json").touch()
    its.symlink_to(shared.absolute())
    with cluster_of_two(shared, its.parent) as cluster:
        until(lambda: cluster.at_once()["CPU"] == 4, cluster)
        its.unlink()
        assert failures(cluster, 6) == [None] * 6
        its.symlink_to(shared.absolute())
        until(lambda: cluster.at_once()["CPU"] == 4, cluster)
    refusal, returned = warnings(caplog)
    assert "it does not see the workspace space; put it in a folder that all workers share" in refusal
    assert refusal.endswith("; the run goes on without it")
    assert returned.endswith(" can be used again")
