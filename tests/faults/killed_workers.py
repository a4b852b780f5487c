"""Dask workers that kill themselves with SIGKILL in the middle of a step, so many times in all.

Each worker dies before it stores the second chunk that it has computed, unless enough have died by then.
"""

import os
import signal
from pathlib import Path
from typing import Any

FOLDER, MOST = "SWAYMETER_TEST_KILLED", 2
"""The variable that names the folder with a file for each that died, and how many do."""


def dask_setup(worker: Any) -> None:
    """What a Dask worker calls that is told to preload this module."""
    from swaymeter.tasks.measures import run
    from tests.end_to_end.preloaded import in_small_chunks

    in_small_chunks()
    store, seen = run._store, 0

    def perhaps_die(*arguments: Any) -> None:
        nonlocal seen
        seen += 1
        if seen == 2 and _may_die():
            os.kill(os.getpid(), signal.SIGKILL)
        store(*arguments)

    run._store = perhaps_die


def _may_die() -> bool:
    for number in range(MOST):
        try:
            (Path(os.environ[FOLDER]) / str(number)).touch(exist_ok=False)
        except FileExistsError:
            continue
        return True
    return False
