"""A Dask cluster of worker processes on this machine, which ends with this process."""

import logging
import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from swaymeter.data.errors import WorkFailed, first_line
from swaymeter.flows.execution.threads import usable_processors
from swaymeter.flows.execution.workers.base import TRIES

log = logging.getLogger(__name__)

MARKS = ("GPU", "CPU")
"""The resources of workers."""

LOCALHOST = "127.0.0.1"

WITHOUT_GPU = 2
"""Default number of worker processes on a machine without a GPU."""

NO_PAGES: Mapping[str, list[str]] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
"""Routes of Dask's pages: none, because the pages are unencrypted and visible to other users of this machine."""

DASK_SETTINGS = {
    # By default a worker looks a hundred times a second where its thread is, which takes a tenth of a processor.
    "distributed.worker.profile.enabled": False,
    # A worker whose run was killed, or whose neighbour was, would write tracebacks of its connections.
    "distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED": "critical",
    **NO_PAGES,
}


def local_cluster(workers: int | None) -> Any:
    """Return a cluster with this number of workers, or one for each GPU; WorkFailed if the workers do not start."""
    settings = environments(workers)
    for tries in range(1, TRIES + 1):
        try:
            return _started(settings)
        except RuntimeError as error:  # one worker that was killed while it started ends them all
            reason = first_line(error.__cause__ or error)
            log.warning("the workers of Dask did not start: %s (try %d of %d)", reason, tries, TRIES)
    raise WorkFailed(
        f"the workers of Dask do not start on this machine: {reason}; use fewer workers, or --runner threads"
    )


def _started(settings: list[dict[str, str]]) -> Any:
    distributed = import_module("distributed")
    # Workers execute any code that they receive, so connections of other users of the machine must be refused.
    listening = {
        "host": LOCALHOST,
        "protocol": "tls://",
        "security": distributed.Security.temporary(),
        "dashboard_address": f"{LOCALHOST}:0",
    }

    def options(variables: Mapping[str, str]) -> dict[str, Any]:
        marks = MARKS if "CUDA_VISIBLE_DEVICES" in variables else ("CPU",)
        return {
            **listening,
            "nthreads": 1,
            "resources": dict.fromkeys(marks, 1),
            "env": variables,
            "memory_limit": None,
            "silence_logs": logging.ERROR,
        }

    workers = {n: {"cls": distributed.Nanny, "options": options(variables)} for n, variables in enumerate(settings)}
    scheduler = {"cls": distributed.Scheduler, "options": {**listening, "port": 0}}
    with import_module("dask").config.set(DASK_SETTINGS):
        return distributed.SpecCluster(
            workers=workers, scheduler=scheduler, security=listening["security"], silence_logs=logging.ERROR
        )


def environments(workers: int | None) -> list[dict[str, str]]:
    """Return the variables of each worker process of this machine: its GPU, or its share of the processors."""
    gpus = visible_gpus()
    count = workers or len(gpus) or WITHOUT_GPU
    threads = str(max(1, usable_processors() // count))
    own_gpus = [{"CUDA_VISIBLE_DEVICES": gpus[number % len(gpus)]} if gpus else {} for number in range(count)]
    return [{"OMP_NUM_THREADS": threads, **gpu} for gpu in own_gpus]


def visible_gpus() -> list[str]:
    """Return the GPUs that this process may use, in the notation of CUDA_VISIBLE_DEVICES."""
    import torch

    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return named.split(",")[:count] if named else [str(number) for number in range(count)]
