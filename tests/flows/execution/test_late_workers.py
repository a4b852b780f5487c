"""Workers of another version, without the workspace, or dead: their steps go to other workers."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from swaymeter.flows.execution import dask as clusters
from swaymeter.flows.execution.dask import Cluster
from swaymeter.flows.execution.task import TRIES, Outcome
from swaymeter.flows.graph.graph import RunSettings, Step, StepId
from tests.end_to_end import worker_preload
from tests.end_to_end.tiny_study import ROOT
from tests.flows.execution.test_workers import one_worker


def wait_a_moment(step: Step, settings: RunSettings) -> None:
    time.sleep(0.2)


@contextmanager
def cluster_of_one(workspace: Path, resource: str = "CPU") -> Iterator[Cluster]:
    """Yield a cluster with one worker in this process, with the resource CPU or GPU."""
    with one_worker(**{resource: 1}) as address, Cluster(address, None, RunSettings(workspace)) as cluster:
        yield cluster


@contextmanager
def cluster_of_two(workspace: Path, cwd: Path, version: str = "") -> Iterator[Cluster]:
    """Yield a cluster with a worker in this process, and a worker in another process, which joins later.

    Args:
        workspace: The workspace of the run.
        cwd: The working directory of the other worker.
        version: The version of the package in the other worker; "" for the installed version.
    """
    with cluster_of_one(workspace) as cluster:
        assert cluster._address
        command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster._address, "--no-nanny"]
        worker = subprocess.Popen(
            [*command, "--nthreads", "1", "--resources", "CPU=1", "--preload", worker_preload.__name__],
            cwd=cwd,
            env=os.environ | {"PYTHONPATH": str(ROOT), worker_preload.VERSION: version},
            stderr=subprocess.DEVNULL,
        )
        try:
            yield cluster
        finally:
            worker.kill()
            worker.wait()


def wait_until(condition: Callable[[], bool], cluster: Cluster) -> None:
    """Wait until a condition is true, and update the workers meanwhile; AssertionError after a minute."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        cluster.capacities()
        time.sleep(0.1)


def scoring_step(number: int = 0, device: str = "cpu") -> Step:
    return Step(StepId("score", f"relation {number}", "m"), wait_a_moment, {}, {}, device=device)


def failures(cluster: Cluster, steps: int, device: str = "cpu") -> list[str | None]:
    """Compute several steps at once, and return the reason of each failure; None for a step without failure."""
    outcomes = []

    def compute(number: int) -> None:
        step = scoring_step(number, device)
        outcomes.append(cluster.compute_step(step, cluster._settings))

    threads = [threading.Thread(target=compute, args=(number,), daemon=True) for number in range(steps)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return [outcome.failed for outcome in outcomes]


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the warnings about workers, without warnings about steps that start again."""
    messages = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    return [message for message in messages if message.startswith("worker ")]


def test_late_worker_of_another_version_gets_no_steps(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "workspace.json").touch()
    with cluster_of_two(tmp_path, tmp_path, "0.0.1") as cluster:
        wait_until(lambda: cluster.capacities()["CPU"] == 2, cluster)
        assert failures(cluster, 4) == [None] * 4
    (refusal,) = warnings(caplog)
    assert "it has swaymeter 0.0.1, and the run has" in refusal


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Update the workers, and use refused workers again, within a second."""
    monkeypatch.setattr(clusters, "SECONDS_REFUSED", 0.5)
    monkeypatch.setattr(clusters, "SECONDS_BETWEEN_UPDATES", 0.1)


@pytest.mark.usefixtures("impatient")
def test_worker_that_loses_folder_gets_no_steps(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # Each worker looks for the path "space" in its own working directory.
    shared, link = Path("space"), tmp_path / "other" / "space"
    for folder in (shared, link.parent):
        folder.mkdir()
    (shared / "workspace.json").touch()
    link.symlink_to(shared.absolute())
    with cluster_of_two(shared, link.parent) as cluster:
        wait_until(lambda: cluster.capacities()["CPU"] == 2, cluster)
        link.unlink()
        assert failures(cluster, 6) == [None] * 6
        link.symlink_to(shared.absolute())
        wait_until(lambda: cluster.capacities()["CPU"] == 2, cluster)
        assert failures(cluster, 6) == [None] * 6
        refusal, returned = warnings(caplog)
        (shared / "workspace.json").unlink()
        for _ in range(2):  # at first, both workers refuse the steps; later, no worker is left that might do so
            assert [reason and "has no workspace.json" in reason for reason in failures(cluster, 2)] == [True] * 2
    assert "it cannot see the workspace space; use a --workspace that all workers see" in refusal
    assert refusal.endswith("; the run goes on without this worker")
    assert returned.endswith(" can be used again")


@pytest.mark.usefixtures("impatient")
def test_a_step_waits_for_a_refused_gpu_worker(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "workspace.json").touch()
    with cluster_of_one(tmp_path, "GPU") as cluster:
        (worker,) = cluster._usable_workers("GPU")
        cluster._record_fit(worker, Outcome(failed="it is away", is_misfit=True))
        assert not cluster._usable_workers("GPU")
        assert cluster.queue(scoring_step(device="auto")) == "GPU"
        assert failures(cluster, 1, "auto") == [None]
    assert [message.partition(": ")[2] for message in warnings(caplog)] == [
        "it is away; the run waits for a worker that can be used",
        "",  # the worker can be used again
    ]


@pytest.mark.usefixtures("impatient")
def test_a_step_ends_after_its_last_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def attempt_as_misfit(step: Step, settings: RunSettings, *others: str) -> Outcome:
        tries.append(step)
        assert len(tries) <= TRIES
        return Outcome(failed="away", may_pass=True, is_misfit=True)

    monkeypatch.setattr(clusters, "attempt_in_worker", attempt_as_misfit)
    (tmp_path / "workspace.json").touch()
    with cluster_of_one(tmp_path) as cluster:
        assert failures(cluster, 1) == ["away"]
    assert len(tries) == TRIES


@pytest.mark.usefixtures("impatient")
def test_a_result_lost_with_its_worker_is_recomputed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    (tmp_path / "workspace.json").touch()
    fetch = Cluster._fetch_outcome
    with cluster_of_two(tmp_path, tmp_path) as cluster:
        wait_until(lambda: cluster.capacities()["CPU"] == 2, cluster)
        processes = cluster._client.run(os.getpid)
        ((address, process),) = [item for item in processes.items() if item[1] != os.getpid()]
        killed = []

        def kill_and_fetch(cluster: Cluster, future: distributed.Future) -> Outcome | None:
            if not killed and address in cluster._client.who_has([future])[future.key]:
                killed.append(address)
                os.kill(process, signal.SIGKILL)
                wait_until(lambda: address not in cluster._usable_workers("CPU"), cluster)
            return fetch(cluster, future)

        monkeypatch.setattr(Cluster, "_fetch_outcome", kill_and_fetch)
        assert failures(cluster, 2) == [None] * 2
        assert killed


@pytest.mark.usefixtures("impatient")
def test_a_step_fails_if_its_client_closes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    (tmp_path / "workspace.json").touch()
    submit = distributed.Client.submit

    def close_and_submit(client: distributed.Client, *arguments: Any, **options: Any) -> Any:
        client.sync(client._close)
        client.status = "closing"  # the client has cancelled its futures, and still accepts steps
        try:
            return submit(client, *arguments, **options)
        finally:
            client.status = "closed"

    monkeypatch.setattr(distributed.Client, "submit", close_and_submit)
    with cluster_of_one(tmp_path) as cluster:
        (failure,) = failures(cluster, 1)
    assert failure
    assert "ended during the run; start it and its workers again" in failure


@pytest.mark.usefixtures("impatient")
def test_a_run_without_workers_warns_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "workspace.json").touch()
    monkeypatch.setattr(clusters, "SECONDS_WITHOUT_WORKER", 0.2)
    with cluster_of_one(tmp_path) as cluster:
        usable_workers, arrival = cluster._usable_workers, time.monotonic() + 1
        monkeypatch.setattr(
            cluster, "_usable_workers", lambda name: usable_workers(name) if time.monotonic() > arrival else set()
        )
        assert failures(cluster, 2) == [None] * 2
    assert caplog.text.count("no worker with the resource CPU is left") == 1
