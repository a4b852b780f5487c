"""Standard streams that end no work, and hold none up: what nobody takes is dropped.

What is written waits in a queue for whoever reads it, so that a pager that shows the first page, or a terminal that is
stopped, stops no step. What nobody reads any more, or a full disk does not take, is dropped.
"""

import atexit
import errno
import os
import signal
import sys
import threading
from queue import Full, Queue
from typing import Any, TextIO

MOST_WAITING = 10_000
"""Texts that wait for a reader."""
SECONDS_OF_PATIENCE = 5.0
"""For so long a reader who has read nothing is waited for, once so many texts wait for it."""
UNREAD = "nobody read it"


class Lasting:
    """A stream that is written to as long as that works; lost: why it does no more.

    A character that the stream's encoding lacks is written as its number, such as \\u2264.
    """

    def __init__(self, stream: TextIO, writer: "Writer") -> None:
        self._stream, self._writer = stream, writer
        self.lost: OSError | None = None
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")

    def write(self, text: str) -> int:
        """Has the text written soon, or drops it; how many characters it has."""
        if not isinstance(text, str):  # by this click finds out what a stream takes
            raise TypeError(f"a stream of text takes no {type(text).__name__}")
        if self.lost is None and not self._writer.take(self, text):
            self.lost = OSError(errno.EAGAIN, UNREAD)
        return len(text)

    def flush(self) -> None:
        """Nothing is held back: a text is written as soon as those before it are."""

    def finish(self) -> None:
        """Waits until all is written, of the other stream, too."""
        self._writer.finish()

    def written(self, text: str) -> None:
        """Writes the text now, or drops it."""
        if self.lost is not None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except Exception as error:  # of a closed one a ValueError; none may end the thread that is waited for
            self.lost = error if isinstance(error, OSError) else OSError(errno.EBADF, str(error))

    def __getattr__(self, name: str) -> Any:
        """What else a stream has."""
        return getattr(self._stream, name)


class Writer:
    """Writes the texts of all streams, in their order, in a thread of its own."""

    def __init__(self) -> None:
        self._waiting = Queue[tuple[Lasting, str]](MOST_WAITING)
        threading.Thread(target=self._write, daemon=True).start()

    def take(self, stream: Lasting, text: str) -> bool:
        """Whether there is room for the text, or there is some within SECONDS_OF_PATIENCE."""
        try:
            self._waiting.put((stream, text), timeout=SECONDS_OF_PATIENCE)
        except Full:
            return False
        return True

    def _write(self) -> None:
        while True:
            stream, text = self._waiting.get()
            try:
                stream.written(text)
            finally:
                self._waiting.task_done()

    def finish(self) -> None:
        """Waits until all is written."""
        self._waiting.join()


def keep_working() -> None:
    """From now on this process goes on when its terminal closes, or when its output can no longer be written."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # it was closed: the next file that is opened would be taken for it
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 - for as long as the process lives
    writer = Writer()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name) or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        setattr(sys, name, Lasting(stream, writer))
    atexit.register(finish_output)  # also of a traceback
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def finish_output() -> None:
    """Waits until all is written, however long its reader takes."""
    getattr(sys.stdout, "finish", sys.stdout.flush)()


def lost_output() -> str:
    """Why standard output could not be written; empty where it was, or where its reader wanted no more of it."""
    finish_output()
    error = getattr(sys.stdout, "lost", None)
    return "" if error is None or error.errno == errno.EPIPE else str(error.strerror)
