"""Waiting for what a process does."""

import time
from collections.abc import Callable

from tests.end_to_end.tiny_study import Command

MOST_SECONDS = 90


def until(reached: Callable[[], bool], command: Command) -> None:
    """Returns when it is so; AssertionError where the process ends before, or a minute and a half has passed."""
    last = time.monotonic() + MOST_SECONDS
    while not reached():
        assert command.poll() is None, command.ended().said
        assert time.monotonic() < last
        time.sleep(0.02)
