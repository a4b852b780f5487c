"""Ctrl-C: the first one ends the command within seconds, whatever its threads wait for or compute.

A thread cannot be stopped from outside, and need not be: what it has written is whole, and a later run goes on there.
So a command that is interrupted wakes what waits for services, gives all else a few seconds to come to an end, and then
ends the process. A second Ctrl-C ends it at once. Children of ours notice that their parent is gone.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType

from swaymeter.data.sources.access import close_sessions

SECONDS = 4.0
"""From Ctrl-C to the end, where a thread does not stop by itself."""


def end_when_interrupted(end: Callable[[], None]) -> None:
    """From now on Ctrl-C raises KeyboardInterrupt in the main thread and, SECONDS later, calls `end` in another one.

    A process that ignores Ctrl-C, as a shell's background job does, goes on ignoring it.
    """

    def interrupted(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, lambda *_: os._exit(128 + signal.SIGINT))
        threading.Thread(target=_end_in_time, args=(end,), daemon=True).start()
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupted)
        show, lost = sys.unraisablehook, KeyboardInterrupt  # in a callback of a weak reference; the end comes anyhow
        sys.unraisablehook = lambda raised: None if raised.exc_type is lost else show(raised)


def _end_in_time(end: Callable[[], None]) -> None:
    threading.Thread(target=close_sessions, daemon=True).start()  # it may have to wait for a write that is under way
    time.sleep(SECONDS)
    end()
