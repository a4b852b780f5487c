"""Dask workers that SLURM starts, one for each job, through dask-jobqueue; the workers end with the run.

Scheduler and workers speak TLS, because a cluster has many users. The key is the key of Dask's configuration, or a key
for the run, which lies in files of the workspace that only the user can read.
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

from swaymeter.data.errors import UsageError, WorkspaceError, first_line
from swaymeter.flows.execution.workers.dask_local import NO_PAGES

PLACEHOLDER = "tls://SCHEDULER:8786"
"""A placeholder for the scheduler's address before the start of the scheduler."""

KEY = ".dask-jobqueue.worker.KEY"
"""A placeholder for the files of the cluster's key, which are written at the start of the cluster."""

SCHEDULER = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
"""Options of the scheduler: no page, because the page would be unencrypted."""


@dataclass(frozen=True)
class Jobs:
    """Resources of each SLURM job; a job is one worker.

    `folder` is a folder that all nodes share, with the files of the cluster's key while the jobs run. `gpus` is 0 for a
    worker that computes on processors.
    """

    name: str
    folder: Path
    gpus: int = 1
    cores: int = 4
    memory: str = "32GB"
    walltime: str = "24:00:00"
    partition: str | None = None
    account: str | None = None

    def script(self) -> str:
        """Return the job script for sbatch, with a placeholder for the scheduler's address."""
        slurm, written = _jobqueue().slurm, str(self.folder / KEY)
        key = {"tls_ca_file": written, "tls_worker_cert": written, "tls_worker_key": written}
        security = _configured() or import_module("distributed").Security(**key)
        job = slurm.SLURMJob(PLACEHOLDER, name=self.name, protocol="tls://", security=security, **self._options())
        return str(job.job_script())

    @contextmanager
    def started(self, workers: int) -> Iterator[None]:
        """Start a scheduler in this process, submit jobs, and enter the block once the first job has begun.

        Runs with the runner dask use the scheduler within the block.
        """
        if shutil.which("sbatch") is None:
            raise UsageError("sbatch was not found; run this on a machine that submits jobs, or look at --dry-run")
        security = _configured() or import_module("distributed").Security.temporary()
        tls = {
            "require-encryption": True,
            "tls.ca-file": security.tls_ca_file,
            "tls.client.cert": security.tls_client_cert,
            "tls.client.key": security.tls_client_key,
        }
        try:
            with import_module("dask").config.set(NO_PAGES):
                cluster = _jobqueue().SLURMCluster(
                    scheduler_options=SCHEDULER,
                    protocol="tls://",
                    security=security,
                    shared_temp_directory=str(self.folder),
                    **self._options(),
                )
        except OSError as error:
            reason = f"the folder {self.folder} that jobs share cannot be written ({first_line(error)})"
            raise WorkspaceError(f"{reason}; choose another --workspace") from None
        client_settings = {f"distributed.comm.{key}": setting for key, setting in tls.items()}
        with cluster, import_module("dask").config.set(client_settings):
            cluster.scale(jobs=workers)
            cluster.wait_for_workers(1)
            os.environ["DASK_SCHEDULER_ADDRESS"] = cluster.scheduler_address
            try:
                yield
            finally:
                del os.environ["DASK_SCHEDULER_ADDRESS"]

    def _options(self) -> dict[str, Any]:
        mark = "GPU" if self.gpus else "CPU"
        return {
            "job_name": self.name,
            "queue": self.partition,
            "account": self.account,
            "walltime": self.walltime,
            "job_cpu": self.cores,
            "memory": self.memory,
            "python": sys.executable,
            "cores": 1,
            "processes": 1,  # one worker process in a job, which computes one step at a time
            "worker_extra_args": ["--memory-limit", "0", "--resources", f"{mark}=1"],  # the last limit counts
            "job_script_prologue": [f"export OMP_NUM_THREADS={self.cores}"],
            "job_extra_directives": [f"--gres=gpu:{self.gpus}"] if self.gpus else [],
        }


def _configured() -> Any:
    """Return the TLS settings of Dask's configuration; None without a certificate."""
    security = import_module("distributed").Security()
    return security if security.tls_ca_file else None


def _jobqueue() -> Any:
    if find_spec("dask_jobqueue") is None:
        raise UsageError(
            'a cluster of SLURM needs dask-jobqueue, which is not installed: pip install "swaymeter[dask]"'
        )
    return import_module("dask_jobqueue")
