"""Child processes of ours: stopped with all that they started."""

import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from typing import IO
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from swaymeter.data.errors import SwaymeterError
from swaymeter.flows.server.settings import STOP_SECONDS

_log = logging.getLogger(__name__)

START_SECONDS = 120.0
ANSWER_SECONDS = 5.0
POLL_SECONDS = 0.05
_ERROR = re.compile(r"^[\w.]+(Error|Exception): .*", re.MULTILINE)
_REMEDIES = {
    r"TOMLDecode": "correct {home}/profiles.toml, or move it away",
    r"locate revision": "another Prefect wrote {home}/prefect.db: move it away, or name another PREFECT_HOME",
    r"read-?only|permission denied|unable to open": "its folder {home} cannot be written: name another as PREFECT_HOME",
    r"\bdisk\b|no space|database|sqlite|malformed": (
        "make room in its folder {home} where a disk is full, move prefect.db away where it is damaged"
    ),
}
"""What to do by what the log of a server says, the first that fits."""

STARTUP = Path(__file__).parent / "startup"
"""The folder of the module that Python imports when it starts."""


class ServerError(SwaymeterError):
    """Prefect's API does not answer, or could not be started."""


def led(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a Python process whose flow runs, and what else it starts, end with it where it leads them."""
    theirs = [environment["PYTHONPATH"]] if environment.get("PYTHONPATH") else []
    return {**environment, "PYTHONPATH": os.pathsep.join([str(STARTUP), *theirs])}


@contextmanager
def child(
    role: str, *options: str, settings: Mapping[str, str], log: IO[bytes] | None = None, pass_fds: tuple[int, ...] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """A process of `server.child` in that role; it stops on leaving, and when this process ends in any way."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "swaymeter.flows.server.child", role, "--parent", str(os.getpid()), *options],
        stdin=subprocess.PIPE,  # held open, never written to: its end tells the child that we are gone
        stdout=log,
        stderr=log,
        env=led({**os.environ, **settings}),
        pass_fds=pass_fds,
        start_new_session=True,  # Ctrl-C reaches us, and we still need the API to record that the run was cancelled
    )
    try:
        yield process
    finally:
        _stop(process)


@contextmanager
def api_child(
    port: int, *options: str, settings: Mapping[str, str], log: IO[bytes] | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Prefect's API as a child on that port of 127.0.0.1 (0: any free one), and its URL; it may not answer yet."""
    # The socket is bound here and handed down: nobody can take the port between choosing and using it.
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            raise ServerError(
                f"port {port} of 127.0.0.1 cannot be used: {error.strerror}; choose another: make ui PORT=4300"
            ) from error
        url, socket_of = f"http://127.0.0.1:{listener.getsockname()[1]}/api", listener.fileno()
        options = ("--socket", str(socket_of), *options)
        with child("api", *options, settings=settings, log=log, pass_fds=(socket_of,)) as server:
            listener.close()
            yield server, url


def wait_until_ready(
    server: subprocess.Popen[bytes], url: str, log: IO[bytes] | None = None, meanwhile: Iterator[object] | None = None
) -> None:
    """Return once the API answers; meanwhile: its next item is taken while it does not.

    ServerError, with the last error of its log, where it ended or did not answer in time.
    """
    answered, ended = threading.Event(), threading.Event()

    def ask() -> None:
        direct, deadline = build_opener(ProxyHandler({})), time.monotonic() + START_SECONDS
        while server.poll() is None and time.monotonic() < deadline and not answered.wait(POLL_SECONDS):
            # Not `health`: this one opens the database, which the first call of a run would wait for otherwise.
            with suppress(URLError, OSError, HTTPException), direct.open(f"{url}/ready", timeout=ANSWER_SECONDS):
                answered.set()
        ended.set()

    threading.Thread(target=ask, daemon=True).start()
    for _ in meanwhile or ():
        if ended.is_set():
            break
    ended.wait()
    if answered.is_set():
        return
    if server.poll() is not None:
        raise ServerError(f"Prefect's server ended with status {server.returncode}{_why(log)}")
    raise ServerError(f"Prefect's server did not answer within {START_SECONDS:.0f} s{_why(log)}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with whatever it started
        process.wait()
    if process.stdin:
        process.stdin.close()


def _why(log: IO[bytes] | None) -> str:
    """What the log of a server ends with, and what to do; all of the log is shown by `--traceback`."""
    home = Path(os.environ.get("PREFECT_HOME", "~/.prefect")).expanduser()  # a setting that Prefect may fail to read
    reason = ""
    if log is not None:
        log.seek(0)
        text = log.read().decode(errors="replace").strip()
        _log.debug("the log of Prefect's server:\n%s", text)
        *_, last = ("its log is empty", *text.splitlines()[-1:], *(error[0] for error in _ERROR.finditer(text)))
        reason = f" ({last})"
    remedies = (what for said, what in _REMEDIES.items() if re.search(said, reason, re.IGNORECASE))
    return f"{reason}; {next(remedies, '--traceback shows its whole log').format(home=home)}"
