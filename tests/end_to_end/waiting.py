"""Waiting for what a process does."""

import subprocess
import time
from collections.abc import Callable

MOST_SECONDS = 90


def until(reached: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Returns when it is so; AssertionError where the process ends before, or a minute and a half has passed."""
    last = time.monotonic() + MOST_SECONDS
    while not reached():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < last
        time.sleep(0.02)
