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
SECONDS_OF_A_CALLBACK = 0.02
"""After which whatever cannot be interrupted is over, most likely."""


def end_when_interrupted(end: Callable[[], None]) -> None:
    """From now on Ctrl-C raises KeyboardInterrupt in the main thread and, SECONDS later, calls `end` in another one.

    A process that ignores Ctrl-C, as a shell's background job does, goes on ignoring it.
    """
    print_what_is_lost = sys.unraisablehook

    def interrupted(number: int, frame: FrameType | None) -> None:
        threading.Thread(target=_end_in_time, args=(end,), daemon=True).start()
        interrupt()

    def interrupt(*_: object) -> None:
        signal.signal(signal.SIGINT, lambda *_: os._exit(128 + signal.SIGINT))
        raise KeyboardInterrupt

    def lost(what: "sys.UnraisableHookArgs") -> None:
        """Interrupts once more: Python was in a callback, such as that of a weak reference, which raises nothing."""
        if what.exc_type is not KeyboardInterrupt:
            print_what_is_lost(what)
            return
        signal.signal(signal.SIGINT, interrupt)
        threading.Timer(SECONDS_OF_A_CALLBACK, signal.pthread_kill, (threading.get_ident(), signal.SIGINT)).start()

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupted)
        sys.unraisablehook = lost


def _end_in_time(end: Callable[[], None]) -> None:
    threading.Thread(target=close_sessions, daemon=True).start()  # it may have to wait for a write that is under way
    time.sleep(SECONDS)
    end()
