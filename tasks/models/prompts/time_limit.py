"""A limit of time and memory for code of others that runs in this process: the programs that chat templates are."""

import ctypes
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_raise_in_thread = ctypes.pythonapi.PyThreadState_SetAsyncExc


MOST_BYTES = 1 << 30
"""Memory that the process may take on meanwhile, where /proc says how much it has."""
_LOOK_SECONDS = 0.05


class _Late(Exception):
    """Raised in the middle of what takes too long, or too much."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """TimeoutError where the block takes longer, MemoryError where it fills the memory.

    It is stopped between two steps of Python code, in any thread.
    """
    thread, lock, is_over = ctypes.c_ulong(threading.get_ident()), threading.Lock(), threading.Event()
    until, before, is_full = time.monotonic() + seconds, _resident_bytes(), False

    def watch() -> None:
        nonlocal is_full
        while not is_over.wait(min(_LOOK_SECONDS, max(0.0, until - time.monotonic()))):
            is_full = _resident_bytes() - before > MOST_BYTES
            if is_full or time.monotonic() >= until:
                with lock:
                    if not is_over.is_set():
                        _raise_in_thread(thread, ctypes.py_object(_Late))
                return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    except _Late:
        if is_full:
            raise MemoryError(f"it takes more than {MOST_BYTES >> 20:,} MiB of memory") from None
        raise TimeoutError(f"it does not end within {seconds:g} s") from None
    finally:
        with lock:
            is_over.set()
            _raise_in_thread(thread, None)  # what was not raised yet must not be raised later


def _resident_bytes() -> int:
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
