"""Standard streams that end no work: what nobody reads any more, or a full disk does not take, is dropped."""

import errno
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, TextIO


class Lasting:
    """A stream that is written to as long as that works; lost: why it does no more.

    A character that the stream's encoding lacks is written as its number, such as \\u2264.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream: TextIO = stream
        self.lost: OSError | None = None
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")

    def write(self, text: str) -> int:
        """Writes the text, or drops it; how many characters it has."""
        self._unless_lost(self._stream.write, text)
        return len(text)

    def flush(self) -> None:
        """Writes what is held back, or drops it."""
        self._unless_lost(self._stream.flush)

    def _unless_lost(self, do: Callable[..., object], *arguments: str) -> None:
        if self.lost is not None:
            return
        try:
            do(*arguments)
        except OSError as error:
            self.lost = error
        except ValueError as error:  # it is closed
            self.lost = OSError(errno.EBADF, str(error))

    def __getattr__(self, name: str) -> Any:
        """What else a stream has."""
        return getattr(self._stream, name)


def keep_working() -> None:
    """From now on this process goes on when its terminal closes, or when its output can no longer be written."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # it was closed: the next file that is opened would be taken for it
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
    for name in ("stdout", "stderr"):
        setattr(sys, name, Lasting(getattr(sys, name) or open(os.devnull, "w", encoding="utf-8")))  # noqa: SIM115
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def lost_output() -> str:
    """Why standard output could not be written; empty where it was, or where its reader wanted no more of it."""
    sys.stdout.flush()
    error = getattr(sys.stdout, "lost", None)
    return "" if error is None or error.errno == errno.EPIPE else str(error.strerror)
