import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from flows.execution.workers.slurm import PLACEHOLDER, Jobs
from tests.flows.conftest import Command
from tests.flows.small_study import small_study, write_study


def test_a_dry_run_prints_the_script_of_a_job(tmp_path: Path, swaymeter: Command) -> None:
    study = write_study(tmp_path, small_study(tmp_path))
    options = "--gpus 2 --cores 6 --memory 64GiB --walltime 08:00:00 --partition gpu --account lab"
    ended = swaymeter("cluster", "slurm", study, *options.split(), "--dry-run")
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    asked = ["--gres=gpu:2", "--cpus-per-task=6", "--mem=64G", "-t 08:00:00", "-p gpu", "-A lab"]
    assert {f"#SBATCH {one}" for one in asked} <= {*lines}
    assert lines[-2] == "export OMP_NUM_THREADS=6"
    assert lines[-1].startswith(f"{sys.executable} -m distributed.cli.dask_worker {PLACEHOLDER} ")
    assert lines[-1].endswith(" --memory-limit 0 --resources GPU=1")
    assert "--nthreads 1 " in lines[-1]


@pytest.mark.parametrize(("device", "mark"), [("cpu", "CPU=1"), ("auto", "GPU=1")])
def test_models_of_processors_take_no_gpu(device: str, mark: str, tmp_path: Path, swaymeter: Command) -> None:
    study = small_study(tmp_path)
    study["models"][0]["device"] = device
    ended = swaymeter("cluster", "slurm", write_study(tmp_path, study), "--dry-run")
    assert f"--resources {mark}" in ended.out
    assert ("--gres" in ended.out) == (mark == "GPU=1")


def test_the_command_of_a_script_starts_a_worker() -> None:
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=0, host="127.0.0.1", protocol="tcp://", dashboard_address="127.0.0.1:0"
        ) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):
        command = Jobs("small", gpus=0).script().splitlines()[-1].replace(PLACEHOLDER, local.scheduler_address)
        with subprocess.Popen(shlex.split(command), stderr=subprocess.PIPE, text=True) as process:
            try:
                client.wait_for_workers(1, timeout=60)
                (worker,) = client.scheduler_info(n_workers=-1)["workers"].values()
            finally:
                process.terminate()
                message = process.communicate(timeout=30)[1]
    assert (worker["resources"], worker["nthreads"], worker["memory_limit"]) == ({"CPU": 1}, 1, 0), message
    assert re.match("small", str(worker["id"]))
