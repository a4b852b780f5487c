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


def do_nothing(step: Step, settings: RunSettings) -> None:
    pass


def test_dry_run_prints_script_of_job(tmp_path: Path, swaymeter: Command) -> None:
    study = write_study(tmp_path, small_study(tmp_path))
    options = "--gpus 2 --cores 6 --memory 64GiB --walltime 08:00:00 --partition gpu --account lab"
    result = swaymeter("cluster", "slurm", study, *options.split(), "--dry-run")
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    expected = ["--gres=gpu:2", "--cpus-per-task=6", "--mem=64G", "-t 08:00:00", "-p gpu", "-A lab"]
    assert {f"#SBATCH {option}" for option in expected} <= {*lines}
    assert lines[-2] == "export OMP_NUM_THREADS=6"
    assert lines[-1].startswith(f"{sys.executable} -m distributed.cli.dask_worker {SCHEDULER_PLACEHOLDER} ")
    assert " --memory-limit 0 --resources GPU=1 --protocol tls:// " in lines[-1]
    key = tmp_path / "workspace" / KEY_PLACEHOLDER
    assert lines[-1].endswith(f" --tls-ca-file {key} --tls-cert {key} --tls-key {key}")
    assert "--nthreads 1 " in lines[-1]


@pytest.mark.parametrize(("device", "resource"), [("cpu", "CPU=1"), ("auto", "GPU=1")])
def test_models_on_the_cpu_take_no_gpu(device: str, resource: str, tmp_path: Path, swaymeter: Command) -> None:
    study = small_study(tmp_path)
    study["models"][0]["device"] = device
    result = swaymeter("cluster", "slurm", write_study(tmp_path, study), "--dry-run")
    assert f"--resources {resource}" in result.out
    assert ("--gres" in result.out) == (resource == "GPU=1")


SBATCH = """#!/bin/sh
cp "$1" "$0.job"
setsid sh "$0.job" >"$0.log" 2>&1 & echo $! >> "$0.pids"
echo "Submitted batch job $!"
"""
"""A script in place of sbatch, which runs the job at once, as a process of this machine."""


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put scripts in place of the commands of SLURM that submit and cancel jobs."""
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
                Step(StepId("score", "capital", "m"), do_nothing, {}, {}, device="cpu"), cluster._settings
            )
            page = (
                f"http://127.0.0.1:{cluster._client.scheduler_info()['services']['dashboard']}/info/main/workers.html"
            )
            with pytest.raises(HTTPError, match="404"):  # Dask's pages, which need no key, are off
                urlopen(page, timeout=5)
        other_key = distributed.Security.temporary().get_connection_args("client")
        unencrypted = address.replace("tls", "tcp")
        for target, arguments in ((address, other_key), (unencrypted, {"require_encryption": False})):
            with pytest.raises(OSError, match=r"certificate|closed|reset"):
                asyncio.run(connect(target, timeout=3, **arguments))
    assert (worker["resources"], worker["nthreads"], worker["memory_limit"]) == ({"CPU": 1}, 1, 0)
    gc.collect()  # the files of the keys are deleted with their objects
    assert not any(key.exists() for key in keys)


@pytest.mark.usefixtures("slurm")
def test_a_refused_study_submits_no_job(tmp_path: Path, swaymeter: Command) -> None:
    study = small_study(tmp_path)
    study["contexts"] |= {"per_query": {"contexts": 256, "relevant": 8}}
    result = swaymeter("cluster", "slurm", write_study(tmp_path, study))
    assert result.code == 2
    assert "contexts.per_query" in result.err
    assert not (tmp_path / "sbatch.pids").exists()
