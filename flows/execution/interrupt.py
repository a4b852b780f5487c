"""The end of a command: a few seconds after Ctrl-C or SIGTERM, even if its threads still wait or compute.

Threads need no orderly end, because every written file is whole and a later run continues from the files. A second
Ctrl-C ends the process at once. Child processes end by themselves, because their parent is gone.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from swaymeter.data.sources.access import close_sessions

SECONDS = 3.0
"""Seconds from the signal to the end of the process, if a thread does not stop by itself."""
MESSAGE_SECONDS = 1.0
"""Upper bound on the seconds for writing GO_ON, because standard error may be a pipe without a reader."""
STOPPED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM
"""Exit codes after Ctrl-C and after SIGTERM."""
GO_ON = "stopped; what was computed is kept, run the same command again to go on"


def end_when_interrupted() -> None:
    """Make Ctrl-C raise KeyboardInterrupt in the main thread and, SECONDS later, end the process.

    A process that ignores Ctrl-C, such as a background job of a shell, continues to ignore it.
    """

    def handle_interrupt(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, lambda *_: os._exit(STOPPED))  # for a second Ctrl-C
        end_in_time(STOPPED)
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, handle_interrupt)
        # Within a callback of a weak reference, Python drops a KeyboardInterrupt and prints it as "unraisable". This
        # hook suppresses the text; the timer of `end_in_time` still ends the process.
        previous_hook, interrupt = sys.unraisablehook, KeyboardInterrupt
        sys.unraisablehook = lambda raised: None if raised.exc_type is interrupt else previous_hook(raised)


@contextmanager
def ending_at_sigterm() -> Iterator[None]:
    """Raise SystemExit in the main thread at SIGTERM, so that a run ends in order; Prefect does the same in a flow.

    In any other thread, and in a process with its own handler of SIGTERM, the context manager does nothing.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise SystemExit(TERMINATED)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def end_in_time(code: int) -> threading.Timer | None:
    """Wake threads that wait for services, and end this process SECONDS later.

    Args:
        code: The exit code.

    Returns:
        The timer that ends the process; its `cancel` keeps the process alive. None for a notebook or an interactive
        session, which does not end after Ctrl-C.
    """
    threading.Thread(target=close_sessions, daemon=True).start()  # in a thread, because closing may wait for a write
    if code == STOPPED and (hasattr(sys, "ps1") or "ipykernel" in sys.modules):
        return None
    timer = threading.Timer(SECONDS, _end, (code,))
    timer.daemon = True
    timer.start()
    return timer


def _end(code: int) -> None:
    thread = threading.Thread(target=_write_message, daemon=True)
    thread.start()
    thread.join(MESSAGE_SECONDS)
    os._exit(code)


def _write_message() -> None:
    with suppress(OSError):
        os.write(2, f"{GO_ON}\n".encode())  # sys.stderr may be locked by a thread whose write is blocked
