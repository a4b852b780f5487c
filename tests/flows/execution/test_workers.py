import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.request import urlopen

import psutil
import pytest

from swaymeter.data.errors import UsageError, WorkFailed
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.config.sections import ModelPart
from swaymeter.flows.execution import dask as clusters
from swaymeter.flows.execution.dask import Cluster, package_version
from swaymeter.flows.execution.task import INTERRUPTED, TRIES, Outcome, attempt
from swaymeter.flows.graph.graph import RunSettings, Step, StepId
from swaymeter.tasks.measures.stored_chunks import Cost


def do_nothing(step: Step, settings: RunSettings) -> None:
    pass


def step(device: str = "auto") -> Step:
    return Step(StepId("score", "capital", "persuasion"), do_nothing, {}, {}, device=device)


def move_workspace(step: Step, settings: RunSettings) -> None:
    settings.workspace.rename(settings.workspace.with_name("away"))


def test_a_missing_workspace_is_named_and_not_created(tmp_path: Path) -> None:
    settings = RunSettings(tmp_path / "study")
    with Workspace(settings.workspace).lock():
        pass
    for computed in (replace(step(), function=move_workspace), step()):
        outcome = attempt(computed, settings)
        assert outcome.may_pass
        assert str(outcome.failed).startswith(f"the workspace {settings.workspace} has no workspace.json, ")
        assert not settings.workspace.exists()
    settings.workspace.with_name("away").rename(settings.workspace)
    assert attempt(step(), settings) == Outcome()


@pytest.mark.parametrize(
    ("gpus", "workers", "expected"),
    [
        (["0", "1", "2"], None, ["0", "1", "2"]),
        (["4", "GPU-7"], 3, ["4", "GPU-7", "4"]),
        ([], None, [None, None]),
        ([], 1, [None]),
    ],
)
def test_each_worker_process_has_its_gpu(
    gpus: list[str], workers: int | None, expected: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "visible_gpus", lambda: gpus)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(8))
    environments = clusters.environments(workers)
    assert [variables.get("CUDA_VISIBLE_DEVICES") for variables in environments] == expected
    assert {variables["OMP_NUM_THREADS"] for variables in environments} == {str(8 // len(expected))}


@pytest.mark.parametrize(
    ("device", "gpus", "queue"),
    [
        ("cuda:1", 0, "GPU"),
        ("balanced", 1, "GPU"),
        ("auto", 1, "GPU"),
        ("auto", 0, "CPU"),
        ("cpu", 1, "CPU"),
        ("", 1, "compute"),
    ],
)
def test_a_step_takes_a_worker_of_its_device(device: str, gpus: int, queue: str, tmp_path: Path) -> None:
    cluster = Cluster("tcp://127.0.0.1:1", None, RunSettings(tmp_path))
    cluster._resources = {"tcp://cpu:1": {"CPU"}} | ({"tcp://gpu:1": {"GPU"}} if gpus else {})
    cluster._seen_resources = {"CPU", "GPU"} if gpus else {"CPU"}
    assert cluster.queue(step(device)) == queue
    if queue == "GPU" and not gpus:
        assert "no worker of the cluster has the resource GPU" in str(
            cluster.compute_step(step(device), cluster._settings).failed
        )


def test_worker_keeps_its_model_until_another_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forgotten: list[str] = []
    (tmp_path / "workspace.json").touch()
    for model in ("a", "a", "b", "b", "a"):
        monkeypatch.setattr(clusters, "forget_models", lambda model=model: forgotten.append(model))
        scoring_step = Step(StepId("score", "capital", "persuasion", model=model), do_nothing, {}, {}, device="cpu")
        assert clusters.attempt_in_worker(scoring_step, RunSettings(tmp_path), package_version()).failed is None
    assert forgotten == ["a", "b", "a"]


def test_a_worker_has_one_step_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that kills its worker then ends no other step."""
    cluster, running, maxima = Cluster("tcp://127.0.0.1:1", None, RunSettings(tmp_path)), [], []
    cluster._resources = {"tcp://cpu:1": {"CPU"}, "tcp://cpu:2": {"CPU"}}
    cluster._client, cluster._updated_at = SimpleNamespace(status="running"), time.monotonic() + 60

    def compute(worker: str, *rest: object) -> Outcome:
        running.append(worker)
        maxima.append(max(map(running.count, running)))
        time.sleep(0.05)
        running.remove(worker)
        return Outcome()

    monkeypatch.setattr(cluster, "_compute_on", compute)
    with ThreadPoolExecutor(6) as pool:
        calls = [pool.submit(cluster._compute_on_free_worker, step(), cluster._settings, "CPU", "") for _ in range(6)]
        assert [call.result(30) for call in calls] == [Outcome()] * 6
    assert maxima == [1] * 6


@contextmanager
def one_worker(**resources: int) -> Iterator[str]:
    """Yield the address of a cluster with one worker in this process."""
    import distributed

    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(host="127.0.0.1", protocol="tcp://", resources=resources, **options) as local:
        yield local.scheduler_address


@pytest.mark.parametrize(
    ("resources", "wrong"), [({}, "it has no resource"), ({"CPU": 1}, "it cannot see the workspace")]
)
def test_cluster_whose_workers_do_not_fit_is_refused(resources: Any, wrong: str, tmp_path: Path) -> None:
    refused = pytest.raises(UsageError, match=f"worker [^ ]+ cannot be used: {wrong}")
    with one_worker(**resources) as address, refused, Cluster(address, None, RunSettings(tmp_path)):
        pass


@pytest.mark.parametrize("refusal", ["it has too little memory", None])
def test_a_model_too_large_for_workers_is_refused(
    refusal: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "misfits_of_models", lambda models: [refusal] * len(models))
    (tmp_path / "workspace.json").touch()
    models = {3: ModelPart(name="large"), 4: ModelPart(name="large", device="cpu")}
    message = rf"models\.3: no worker .* can hold the model; .* worker tcp://[^ ]+ reports: {refusal}"
    refused = pytest.raises(UsageError, match=message)
    expectation = refused if refusal else nullcontext()
    with one_worker(GPU=1) as address, expectation, Cluster(address, None, RunSettings(tmp_path), models=models):
        pass


def test_a_lost_scheduler_raises_nothing_at_exit(tmp_path: Path) -> None:
    def fail() -> None:
        raise OSError("the connection was closed")

    cluster = Cluster("tcp://127.0.0.1:1", None, RunSettings(tmp_path))
    cluster._opened = ExitStack()
    cluster._opened.callback(fail)
    cluster.__exit__()


def test_an_unreachable_scheduler_is_named(tmp_path: Path) -> None:
    import dask

    cluster = Cluster("tcp://127.0.0.1:9", None, RunSettings(tmp_path))
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "100ms"}),
        pytest.raises(UsageError, match=r"the Dask cluster at tcp://127\.0\.0\.1:9 cannot be used"),
        cluster,
    ):
        pass


@pytest.mark.parametrize("deaths", [1, TRIES])
def test_workers_that_die_at_start_are_restarted(deaths: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import dask

    dying = tmp_path / "dying.py"
    dying.write_text(f"""
import os, pathlib, signal
death = pathlib.Path({str(tmp_path)!r}, "death")
if death.stat().st_size < {deaths}:
    death.write_text(death.read_text() + ".")
    os.kill(os.getpid(), signal.SIGKILL)
""")
    (tmp_path / "death").touch()
    (tmp_path / "workspace.json").touch()
    cluster = Cluster(None, 1, RunSettings(tmp_path))
    refused = pytest.raises(WorkFailed, match=r"the workers of Dask do not start on this machine: .*--runner threads")
    expectation = refused if deaths == TRIES else nullcontext()
    with dask.config.set({"distributed.worker.preload": [str(dying)]}), expectation, cluster:
        assert len(cluster._client.scheduler_info()["workers"]) == 1
    assert caplog.text.count("the workers of Dask did not start") == deaths


def record_gpu(step: Step, settings: RunSettings) -> Cost:
    """Record the GPU of the worker; the first `step.arguments` runs kill the worker instead."""
    deaths = [*settings.workspace.glob(f"{step.id.subject}.died.*")]
    if len(deaths) < step.arguments:
        (settings.workspace / f"{step.id.subject}.died.{len(deaths)}").touch()
        time.sleep(0.2)  # until the scheduler knows that the step has begun
        os.kill(os.getpid(), signal.SIGKILL)
    (settings.workspace / f"{step.id.subject} began").write_text(os.environ["CUDA_VISIBLE_DEVICES"])
    while step.id.subject in "ab" and not all((settings.workspace / f"{name} began").exists() for name in "ab"):
        time.sleep(0.01)  # until the other worker has begun its step
    return Cost(prompts=1)


def contents_of(settings: RunSettings, pattern: str) -> set[str]:
    return {file.read_text() for file in settings.workspace.glob(pattern)}


def open_ports(page: str) -> Iterator[int]:
    """Yield the ports of this process and its children at which anybody can read a page of Dask."""
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        for port in (socket.laddr.port for socket in process.net_connections("tcp") if socket.status == "LISTEN"):
            with suppress(OSError), urlopen(f"http://127.0.0.1:{port}/{page}", timeout=5):
                yield port


def test_local_workers_have_their_gpus_and_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "visible_gpus", lambda: ["0", "7"])
    monkeypatch.setattr(clusters, "SECONDS_BETWEEN_UPDATES", 0.1)
    settings = RunSettings(tmp_path)
    with Workspace(tmp_path).lock(), Cluster(None, None, settings) as cluster:
        ports = [*open_ports("metrics"), *open_ports("info/main/workers.html")]
        assert not ports
        a, b, *others = [
            replace(step("cuda"), id=StepId("score", name, "persuasion"), function=record_gpu, arguments=0)
            for name in "abcd"
        ]
        with ThreadPoolExecutor() as pool:
            outcomes = [*pool.map(cluster.compute_step, (a, b), [settings] * 2)]
        assert [(outcome.failed, outcome.cost) for outcome in outcomes] == [(None, Cost(prompts=1))] * 2
        assert contents_of(settings, "[ab] began") == {"0", "7"}
        assert Workspace(settings.workspace).failure_reason(str(a.id), "") is None
        with ThreadPoolExecutor() as pool:
            steps = [replace(other, arguments=deaths) for other, deaths in zip(others, (1, 99), strict=True)]
            failure_after_1, failure_after_99 = (
                outcome.failed for outcome in pool.map(cluster.compute_step, steps, [settings] * 2)
            )
        assert failure_after_1 is None
        assert str(failure_after_99).startswith("the worker of the step ended 4 times without an error")
        assert Workspace(settings.workspace).failure_reason(str(others[1].id), "") == failure_after_99
        cluster.abandon()
        assert cluster.compute_step(a, settings) == INTERRUPTED
    # No process of a worker is left.
    assert not [child for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())]
