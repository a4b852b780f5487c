"""A worker of another version that joins in the middle is refused by name, and the steps go to the others."""

import logging
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from flows.execution.workers.cluster import Cluster
from flows.graph.step import Run, Step, StepId


def wait_a_moment(step: Step, run: Run) -> None:
    """A step that takes a moment."""
    time.sleep(0.2)


def test_a_late_worker_of_another_version_gets_no_steps(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import distributed

    (tmp_path / "workspace.json").touch()
    alone = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(host="127.0.0.1", protocol="tcp://", resources={"CPU": 1}, **alone) as local,
        Cluster(local.scheduler_address, None, Run(tmp_path)) as cluster,
    ):
        command = [sys.executable, "-m", "distributed.cli.dask_worker", local.scheduler_address, "--no-nanny"]
        options = ["--nthreads", "1", "--resources", "CPU=1", "--preload", "tests.faults.other_version"]
        with subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL) as late:
            try:
                deadline, steps = time.monotonic() + 60, [f"relation {number}" for number in range(4)]
                while "cannot be used" not in caplog.text and time.monotonic() < deadline:
                    cluster.at_once()
                    time.sleep(0.1)
                outcomes = []
                threads = [
                    threading.Thread(
                        target=lambda one=one: outcomes.append(
                            cluster.compute(
                                Step(StepId("score", one, "m"), wait_a_moment, {}, {}, device="cpu"), cluster._run
                            )
                        )
                    )
                    for one in steps
                ]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join(60)
            finally:
                late.kill()
    assert [outcome.failed for outcome in outcomes] == [None] * len(steps)
    (refusal,) = [one for one in caplog.records if one.levelno == logging.WARNING and "cannot be used" in one.message]
    assert "it has swaymeter 0.0.1, and the run has" in refusal.getMessage()
