"""Ctrl-C and SIGTERM: the first one ends a command within seconds, whatever its threads wait for or compute.

A thread cannot be stopped from outside, and need not be: what it has written is whole, and a later run goes on there.
So what is told to end wakes what waits for services, gives all else a few seconds to come to an end, and then ends the
process. A second Ctrl-C ends it at once. Children of ours notice that their parent is gone.
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
"""From the signal to the end, where a thread does not stop by itself."""
SECONDS_TO_SAY = 1.0
"""For so long the end waits for somebody who does not read what is said."""
STOPPED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM
"""The exit codes of what Ctrl-C, and of what SIGTERM has ended."""
GO_ON = "stopped; what was computed is kept, run the same command again to go on"


def end_when_interrupted() -> None:
    """From now on Ctrl-C raises KeyboardInterrupt in the main thread and, SECONDS later, ends the process.

    A process that ignores Ctrl-C, as a shell's background job does, goes on ignoring it.
    """

    def interrupted(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, lambda *_: os._exit(STOPPED))
        end_in_time(STOPPED)
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupted)
        # In a callback of a weak reference; the end comes anyhow.
        show, interrupt = sys.unraisablehook, KeyboardInterrupt
        sys.unraisablehook = lambda raised: None if raised.exc_type is interrupt else show(raised)


@contextmanager
def ending_at_sigterm() -> Iterator[None]:
    """Raise SystemExit in the main thread at SIGTERM, as Prefect does in a flow, so that a run ends in order.

    Other threads, and a process with a handler of its own, are left alone.
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

    A notebook or an interactive session is not ended by Ctrl-C: its person goes on there.

    Args:
        code: The exit code.

    Returns:
        The timer of the end, which can be cancelled; None without an end.
    """
    threading.Thread(target=close_sessions, daemon=True).start()  # it may have to wait for a write that is under way
    if code == STOPPED and (hasattr(sys, "ps1") or "ipykernel" in sys.modules):
        return None
    timer = threading.Timer(SECONDS, _end, (code,))
    timer.daemon = True
    timer.start()
    return timer


def _end(code: int) -> None:
    saying = threading.Thread(target=_say, daemon=True)
    saying.start()
    saying.join(SECONDS_TO_SAY)
    os._exit(code)


def _say() -> None:
    with suppress(OSError):
        os.write(2, f"{GO_ON}\n".encode())  # standard error itself: what waits for its reader would hold this up
