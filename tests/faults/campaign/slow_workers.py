"""Preloaded by a Dask worker that takes a while for each chunk, so that there is a middle of a step."""

import time
from typing import Any

SECONDS = 0.5
"""Before a chunk is stored."""


def dask_setup(worker: Any) -> None:
    """What a Dask worker calls that is told to preload this module."""
    from swaymeter.tasks.measures import run
    from tests.end_to_end.preloaded import in_small_chunks

    in_small_chunks()
    store = run._store

    def store_later(*arguments: Any) -> None:
        time.sleep(SECONDS)
        store(*arguments)

    run._store = store_later
