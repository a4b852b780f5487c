"""Dask workers that SLURM starts, one a job, through dask-jobqueue: they end with the run.

They and their scheduler speak TLS, with a key in a file that only the user can read: a cluster has many users.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from swaymeter.data.errors import UsageError
from swaymeter.flows.execution.workers.encryption import configuration, written

PLACEHOLDER = "tls://SCHEDULER:8786"
"""Stands for the scheduler's address, which is known once it runs."""

SCHEDULER = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
"""Its page is not encrypted."""


@dataclass(frozen=True)
class Jobs:
    """What each of the jobs asks SLURM for; a job is one worker.

    key: the file of the cluster's key and certificate, in a folder that all nodes share; there while the jobs run.
    gpus: 0 for a worker that computes on processors.
    """

    name: str
    key: Path
    gpus: int = 1
    cores: int = 4
    memory: str = "32GB"
    walltime: str = "24:00:00"
    partition: str | None = None
    account: str | None = None

    def script(self) -> str:
        """The job script as sbatch gets it, but for the address of the scheduler."""
        slurm = _jobqueue().slurm
        with self._encrypted() as security:
            job = slurm.SLURMJob(PLACEHOLDER, name=self.name, protocol="tls://", security=security, **self._options())
        return str(job.job_script())

    @contextmanager
    def started(self, workers: int) -> Iterator[None]:
        """A scheduler in this process and so many jobs, once the first has begun; runs of the runner dask use them."""
        if shutil.which("sbatch") is None:
            raise UsageError("sbatch was not found; run this on a machine that submits jobs, or look at --dry-run")
        jobqueue, before = _jobqueue(), os.environ.get("DASK_SCHEDULER_ADDRESS")
        with (
            written(self.key),
            self._encrypted() as security,
            jobqueue.SLURMCluster(scheduler_options=SCHEDULER, security=security, **self._options()) as cluster,
        ):
            cluster.scale(jobs=workers)
            cluster.wait_for_workers(1)
            os.environ["DASK_SCHEDULER_ADDRESS"] = cluster.scheduler_address
            try:
                yield
            finally:
                del os.environ["DASK_SCHEDULER_ADDRESS"]
                if before is not None:
                    os.environ["DASK_SCHEDULER_ADDRESS"] = before

    @contextmanager
    def _encrypted(self) -> Iterator[Any]:
        """What Dask knows of TLS, also for a client in this process meanwhile."""
        with import_module("dask").config.set(configuration(self.key)):
            yield import_module("distributed").Security()

    def _options(self) -> dict[str, Any]:
        mark = "GPU" if self.gpus else "CPU"
        return {
            "job_name": self.name,
            "queue": self.partition,
            "account": self.account,
            "walltime": self.walltime,
            "job_cpu": self.cores,
            "cores": 1,  # of Dask's own count: a worker computes a step at a time
            "processes": 1,
            "memory": self.memory,
            "python": sys.executable,
            "worker_extra_args": ["--memory-limit", "0", "--resources", f"{mark}=1"],  # the last limit counts
            "job_script_prologue": [f"export OMP_NUM_THREADS={self.cores}"],
            "job_extra_directives": [f"--gres=gpu:{self.gpus}"] if self.gpus else [],
        }


def _jobqueue() -> Any:
    if find_spec("dask_jobqueue") is None:
        raise UsageError(
            'a cluster of SLURM needs dask-jobqueue, which is not installed: pip install "swaymeter[dask]"'
        )
    return import_module("dask_jobqueue")
