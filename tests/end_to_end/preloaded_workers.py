"""Preloaded by Dask workers: variables say whether they are slow, kill themselves, or are of another version."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

SLOW = "SWAYMETER_TEST_SLOW"
"""The seconds before a chunk is stored, so that there is a middle of a step."""
KILLED = "SWAYMETER_TEST_KILLED"
"""A file that the one worker makes which dies before its second chunk is stored."""
VERSION = "SWAYMETER_TEST_VERSION"


def dask_setup(worker: Any) -> None:
    """What a Dask worker calls that is told to preload this module."""
    from swaymeter.flows.execution import dask
    from swaymeter.tasks.measures import stored_chunks
    from tests.end_to_end.preloaded import in_small_chunks

    in_small_chunks()
    store, seen = stored_chunks._store, 0

    def store_later(*arguments: Any) -> None:
        nonlocal seen
        seen += 1
        time.sleep(float(os.environ.get(SLOW, "0")))
        if seen == 2 and KILLED in os.environ:
            with suppress(FileExistsError):
                Path(os.environ[KILLED]).touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)
        store(*arguments)

    stored_chunks._store = store_later
    if version := os.environ.get(VERSION):
        dask.package_version = lambda: version
