"""A wait for an event of another process."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(condition: Callable[[], T], seconds: float = 60) -> T:
    """Wait until a condition is true, and return its value; AssertionError after these seconds."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s in vain"
        time.sleep(0.1)
    return value
