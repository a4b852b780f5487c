"""Preload module of Dask workers, in which environment variables cause delays, a kill or another version."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

SLOW = "SWAYMETER_TEST_SLOW"
"""Delay in seconds before each chunk is stored, so that tests can disturb a worker in the middle of a step."""
KILLED = "SWAYMETER_TEST_KILLED"
"""File that the first worker creates before its second chunk is stored, just before it kills itself."""
VERSION = "SWAYMETER_TEST_VERSION"
"""Version that the worker reports in place of the installed version."""


def dask_setup(worker: Any) -> None:
    """Change a worker; Dask calls this function of preload modules."""
    from swaymeter.flows.execution import dask
    from swaymeter.tasks.measures import stored_chunks
    from tests.end_to_end.forked_programs import use_small_chunks

    use_small_chunks()
    store, count = stored_chunks._store, 0

    def store_later(*arguments: Any) -> None:
        nonlocal count
        count += 1
        time.sleep(float(os.environ.get(SLOW, "0")))
        if count == 2 and KILLED in os.environ:
            with suppress(FileExistsError):
                Path(os.environ[KILLED]).touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)
        store(*arguments)

    stored_chunks._store = store_later
    if version := os.environ.get(VERSION):
        dask.package_version = lambda: version
