import asyncio
import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import dask
import distributed
import pytest
from distributed.comm import connect

from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.execution.dask import KEY_PLACEHOLDER, SCHEDULER_PLACEHOLDER, Cluster, Jobs
from swaymeter.flows.graph.graph import RunSettings, Step, StepId
from tests.flows.conftest import Command
from tests.flows.small_study import small_study, write_study


def nothing(step: Step, settings: RunSettings) -> None:
    """A step that does nothing."""


def test_dry_run_prints_script_of_job(tmp_path: Path, swaymeter: Command) -> None:
    study = write_study(tmp_path, small_study(tmp_path))
    options = "--gpus 2 --cores 6 --memory 64GiB --walltime 08:00:00 --partition gpu --account lab"
    ended = swaymeter("cluster", "slurm", study, *options.split(), "--dry-run")
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    asked = ["--gres=gpu:2", "--cpus-per-task=6", "--mem=64G", "-t 08:00:00", "-p gpu", "-A lab"]
    assert {f"#SBATCH {one}" for one in asked} <= {*lines}
    assert lines[-2] == "export OMP_NUM_THREADS=6"
    assert lines[-1].startswith(f"{sys.executable} -m distributed.cli.dask_worker {SCHEDULER_PLACEHOLDER} ")
    assert " --memory-limit 0 --resources GPU=1 --protocol tls:// " in lines[-1]
    key = tmp_path / "workspace" / KEY_PLACEHOLDER
    assert lines[-1].endswith(f" --tls-ca-file {key} --tls-cert {key} --tls-key {key}")
    assert "--nthreads 1 " in lines[-1]


@pytest.mark.parametrize(("device", "mark"), [("cpu", "CPU=1"), ("auto", "GPU=1")])
def test_models_of_processors_take_no_gpu(device: str, mark: str, tmp_path: Path, swaymeter: Command) -> None:
    study = small_study(tmp_path)
    study["models"][0]["device"] = device
    ended = swaymeter("cluster", "slurm", write_study(tmp_path, study), "--dry-run")
    assert f"--resources {mark}" in ended.out
    assert ("--gres" in ended.out) == (mark == "GPU=1")


SBATCH = """#!/bin/sh
cp "$1" "$0.job"
setsid sh "$0.job" >"$0.log" 2>&1 & echo $! >> "$0.pids"
echo "Submitted batch job $!"
"""
"""Runs a job at once, as a process of this machine."""


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The commands of SLURM that submit and cancel jobs."""
    for name, content in (("sbatch", SBATCH), ("scancel", '#!/bin/sh\nkill -- "-$1"\n')):
        program = tmp_path / name
        program.write_text(content)
        program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with dask.config.set({"jobqueue.slurm.interface": "lo"}):
        yield
    for file in tmp_path.glob("sbatch.pids"):
        for process in file.read_text().split():
            with suppress(ProcessLookupError):
                os.killpg(int(process), signal.SIGKILL)


@pytest.mark.usefixtures("slurm")
def test_only_holders_of_the_key_reach_the_jobs(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "workspace")
    with workspace.lock(), Jobs("small", workspace.root, gpus=0).started(1):
        keys = [*workspace.root.glob(".dask-jobqueue.*")]
        assert [key.stat().st_mode & 0o077 for key in keys] == [0, 0, 0]
        with Cluster(os.environ["DASK_SCHEDULER_ADDRESS"], None, RunSettings(workspace.root)) as cluster:
            (worker,) = cluster._client.scheduler_info(n_workers=-1)["workers"].values()
            address = cluster._client.scheduler.address
            assert address.startswith("tls://127.0.0.1:")
            assert cluster.compute_step(
                Step(StepId("score", "capital", "m"), nothing, {}, {}, device="cpu"), cluster._settings
            )
            page = (
                f"http://127.0.0.1:{cluster._client.scheduler_info()['services']['dashboard']}/info/main/workers.html"
            )
            with pytest.raises(HTTPError, match="404"):
                urlopen(page, timeout=5)
        another = distributed.Security.temporary().get_connection_args("client")
        plain = address.replace("tls", "tcp")
        for there, arguments in ((address, another), (plain, {"require_encryption": False})):
            with pytest.raises(OSError, match=r"certificate|closed|reset"):
                asyncio.run(connect(there, timeout=3, **arguments))
    assert (worker["resources"], worker["nthreads"], worker["memory_limit"]) == ({"CPU": 1}, 1, 0)
    gc.collect()
    assert not any(key.exists() for key in keys)


@pytest.mark.usefixtures("slurm")
def test_nothing_is_submitted_for_what_is_refused(tmp_path: Path, swaymeter: Command) -> None:
    study = small_study(tmp_path)
    study["contexts"] |= {"per_query": {"contexts": 256, "relevant": 8}}
    ended = swaymeter("cluster", "slurm", write_study(tmp_path, study))
    assert ended.code == 2
    assert "contexts.per_query" in ended.err
    assert not (tmp_path / "sbatch.pids").exists()
