"""A time limit for code of others that runs in this process: the programs that chat templates are."""

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_raise_in_thread = ctypes.pythonapi.PyThreadState_SetAsyncExc


class _Late(Exception):
    """Raised in the middle of what takes too long."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """TimeoutError where the block takes longer; it is stopped between two steps of Python code, in any thread."""
    thread, lock, is_over = ctypes.c_ulong(threading.get_ident()), threading.Lock(), False

    def stop() -> None:
        with lock:
            if not is_over:
                _raise_in_thread(thread, ctypes.py_object(_Late))

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    except _Late:
        raise TimeoutError(f"it does not end within {seconds:g} s") from None
    finally:
        with lock:
            is_over = True
            _raise_in_thread(thread, None)  # what was not raised yet must not be raised later
        timer.cancel()
