from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from swaymeter.data.errors import UsageError, WorkFailed
from swaymeter.flows.execution.workers import elsewhere, processes
from swaymeter.flows.execution.workers.cluster import Cluster
from swaymeter.flows.execution.workers.elsewhere import attempt_elsewhere, here
from swaymeter.flows.execution.workers.workers import TRIES
from swaymeter.flows.graph.step import Run, Step, StepId
from swaymeter.flows.study.sections.model import ModelPart
from swaymeter.tasks.models import size

STEP = StepId("score", "capital", "persuasion")


def nothing(step: Step, run: Run) -> None:
    """A step that does nothing."""


def step(device: str = "auto") -> Step:
    return Step(STEP, nothing, {}, {}, device=device)


@pytest.mark.parametrize(
    ("gpus", "asked", "expected"),
    [
        (["0", "1", "2"], None, ["0", "1", "2"]),
        (["4", "GPU-7"], 3, ["4", "GPU-7", "4"]),
        ([], None, [None, None]),
        ([], 1, [None]),
    ],
)
def test_each_worker_process_has_its_gpu(
    gpus: list[str], asked: int | None, expected: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "visible_gpus", lambda: gpus)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(8))
    found = processes.environments(asked)
    assert [one.get("CUDA_VISIBLE_DEVICES") for one in found] == expected
    assert {one["OMP_NUM_THREADS"] for one in found} == {str(8 // len(expected))}


@pytest.mark.parametrize(
    ("device", "gpus", "place"),
    [("cuda:1", 0, "GPU"), ("balanced", 1, "GPU"), ("auto", 1, "GPU"), ("auto", 0, "CPU"), ("cpu", 1, "CPU"),
     ("", 1, "compute")],
)  # fmt: skip
def test_a_step_takes_a_worker_of_its_device(device: str, gpus: int, place: str, tmp_path: Path) -> None:
    cluster = Cluster("tcp://127.0.0.1:1", None, Run(tmp_path))
    there = {"GPU": {"tcp://gpu:1"} if gpus else set[str](), "CPU": {"tcp://cpu:1"}}
    cluster._seen = {mark for mark in there if there[mark]}
    cluster._roster = SimpleNamespace(fitting=there.__getitem__, has=cluster._seen.__contains__)
    assert cluster.place(step(device)) == place
    if place == "GPU" and not gpus:
        assert "no worker of the cluster has the resource GPU" in str(
            cluster.compute(step(device), cluster._run).failed
        )


def test_a_worker_that_does_not_fit_is_refused_by_name(tmp_path: Path) -> None:
    found = attempt_elsewhere(step(), Run(tmp_path), "0.0.1", "tcp://gpu-7:40000")
    assert found.failed is not None
    assert found.failed.startswith(
        f"worker tcp://gpu-7:40000 cannot be used: it has swaymeter {here()}, and the run has"
    )
    assert not found.may_pass
    found = attempt_elsewhere(step(), Run(tmp_path / "away"), here(), "process 1")
    assert found.failed is not None
    assert f"the workspace {tmp_path / 'away'} is away" in found.failed


def test_a_worker_keeps_its_model_until_another_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forgotten: list[str] = []
    (tmp_path / "workspace.json").touch()
    for model in ("a", "a", "b", "b", "a"):
        monkeypatch.setattr(elsewhere, "forget_models", lambda model=model: forgotten.append(model))
        asked = Step(StepId("score", "capital", "persuasion", model=model), nothing, {}, {}, device="cpu")
        assert elsewhere.attempt_elsewhere(asked, Run(tmp_path), here(), "process 1").failed is None
    assert forgotten == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("resources", "wrong"), [({}, "it has no resource"), ({"CPU": 1}, "it does not see the workspace")]
)
def test_a_cluster_whose_workers_do_not_fit_is_refused(resources: Any, wrong: str, tmp_path: Path) -> None:
    import distributed

    alone = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(host="127.0.0.1", protocol="tcp://", resources=resources, **alone) as local:
        cluster = Cluster(local.scheduler_address, None, Run(tmp_path))
        with pytest.raises(UsageError, match=f"worker [^ ]+ cannot be used: {wrong}"), cluster:
            pass


@pytest.mark.parametrize(
    ("memory", "device", "refusal"),
    [(0, "cuda", "this machine has no CUDA"), (27e10, "auto", "in bfloat16 has 281 GB"), (29e10, "auto", "")],
)
def test_a_model_that_no_worker_can_hold_is_refused_first(
    memory: float, device: str, refusal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import distributed
    import torch

    monkeypatch.setattr(size, "parameters_of", lambda name: 140_500_000_000)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(memory))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda number: SimpleNamespace(total_memory=memory))
    (tmp_path / "workspace.json").touch()
    asked = {3: ModelPart(name="large", device=device), 4: ModelPart(name="large", device="cpu")}
    alone = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(host="127.0.0.1", protocol="tcp://", resources={"GPU": 1}, **alone) as local:
        cluster = Cluster(local.scheduler_address, None, Run(tmp_path), asked=asked)
        refused = pytest.raises(UsageError, match=rf"models\.3: no worker .* can hold it; tcp://[^ ]+: .*{refusal}")
        with refused if refusal else nullcontext(), cluster:
            pass


def test_a_scheduler_that_is_not_there_is_named(tmp_path: Path) -> None:
    import dask

    cluster = Cluster("tcp://127.0.0.1:9", None, Run(tmp_path))
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "100ms"}),
        pytest.raises(UsageError, match=r"the Dask cluster at tcp://127\.0\.0\.1:9 cannot be used"),
        cluster,
    ):
        pass


@pytest.mark.parametrize("deaths", [1, TRIES])
def test_workers_that_die_while_they_start_are_started_anew(
    deaths: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    import dask

    for number in range(deaths):
        (tmp_path / f"death-{number}").touch()
    dying = tmp_path / "dying.py"
    dying.write_text(f"""
import os, pathlib, signal
for death in pathlib.Path({str(tmp_path)!r}).glob("death-*"):
    death.unlink()
    os.kill(os.getpid(), signal.SIGKILL)
""")
    (tmp_path / "workspace.json").touch()
    cluster = Cluster(None, 1, Run(tmp_path))
    refused = pytest.raises(WorkFailed, match=r"the workers of Dask do not start on this machine: .*--runner processes")
    ends = refused if deaths == TRIES else nullcontext()
    with dask.config.set({"distributed.worker.preload": [str(dying)]}), ends, cluster:
        assert len(cluster._client.scheduler_info()["workers"]) == 1
    assert caplog.text.count("the workers of Dask did not start") == deaths
