"""The Prefect API of a command: the configured API, or a temporary one that ends with the command.

The temporary API is Prefect's server with two additions: it ends with its parent in any case, even after a kill, and it
never deadlocks at its database. It writes into the database of `make ui`, so that runs can be viewed later.
"""

import asyncio
import gc
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import IO, Any

from filelock import FileLock

from swaymeter.data.errors import SwaymeterError, first_line
from swaymeter.flows.server.settings import CLIENT, TEMPORARY, client_of, keep_quiet

_log = logging.getLogger(__name__)

START_SECONDS, STOP_SECONDS, ANSWER_SECONDS = 120.0, 10.0, 5.0
"""Limits of the seconds for the start and the end of a server, and for an answer."""
PARENT_CHECK_SECONDS = 0.5
APP = "swaymeter.flows.server.temporary:app"
PARENT = "SWAYMETER_PARENT"
"""Environment variable with the number of the process that starts a server; the server ends with that process."""
COLLECT_SECONDS = 60
"""Seconds between two garbage collections of the server."""
REMEDIES = "free disk space, or set PREFECT_HOME to a folder that can be written"
_ERROR = re.compile(r"^[\w.]+(?:Error|Exception): .*", re.MULTILINE)
"""Last line of a traceback in a log, such as \"OSError: No space left on device\"."""


class ServerError(SwaymeterError):
    """Prefect's API does not answer, or could not be started."""


@contextmanager
def prefect_api(*modules: str) -> Iterator[str]:
    """Yield the URL of a running Prefect API, and point this process and its children to it.

    The API is the configured one (environment or profile) or, without one, a temporary API that ends with the block.

    Args:
        *modules: Modules to import during the start of a temporary API.

    Raises:
        ServerError: The configured API does not answer, or the temporary one did not start.
    """
    keep_quiet()
    try:
        with redirect_stderr(StringIO()):  # Swaymeter's error replaces Prefect's warning
            from prefect.settings import get_current_settings

            url, home = get_current_settings().api.url or "", get_current_settings().home
    except ValueError as error:  # a file is not TOML, or has invalid values
        raise ServerError(
            f"Prefect's settings cannot be read ({first_line(error)}); correct profiles.toml in its folder "
            "(PREFECT_HOME, or ~/.prefect), or prefect.toml in the current folder"
        ) from None
    with ExitStack() as stack:
        if not url:
            log = stack.enter_context(tempfile.TemporaryFile())
            try:  # with a lock, because two processes would create the tables of a new database twice
                home.mkdir(parents=True, exist_ok=True)
                lock = FileLock(home / "swaymeter-server.lock").acquire()
            except OSError as error:
                raise ServerError(f"Prefect's folder {home} cannot be written ({error.strerror}); {REMEDIES}") from None
            with lock:
                _, url = stack.enter_context(server(TEMPORARY, log, *modules))
            stack.enter_context(client_of(url, **CLIENT))
        elif reason := _connection_error(url):
            raise ServerError(
                f"Prefect's API at {url} does not answer ({reason}). Start that server, correct PREFECT_API_URL "
                "(environment or Prefect profile: `prefect config view`), or unset it (`prefect config unset "
                "PREFECT_API_URL`): then every run starts a temporary API of its own."
            )
        try:
            yield url
        finally:  # send the last logs and events while the API answers, or Prefect prints errors about them
            if current_api_answers():
                from prefect.events.worker import EventsWorker
                from prefect.logging.handlers import APILogWorker

                EventsWorker.drain_all(timeout=STOP_SECONDS)
                APILogWorker.drain_all(timeout=STOP_SECONDS)


def current_api_answers() -> bool:
    """Return True if the API of this process answers."""
    from prefect.settings import get_current_settings

    return not _connection_error(get_current_settings().api.url or "")


def _connection_error(url: str, path: str = "health", seconds: float | None = None) -> str:
    """Return the reason why an API does not answer; "" if it answers."""
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import urlopen

    try:
        with urlopen(f"{url.rstrip('/')}/{path}", timeout=seconds or ANSWER_SECONDS):
            return ""
    except HTTPError as error:  # a status below 500, such as 401 before Prefect's client logs in, is an answer
        return "" if error.code < 500 else str(error)
    except (OSError, ValueError, HTTPException) as error:  # HTTPException: the answer is not HTTP
        return first_line(getattr(error, "reason", error)) or type(error).__name__


@contextmanager
def server(
    settings: Mapping[str, str], log: IO[bytes] | None, *modules: str
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Start Prefect's server as a child process on a free port of 127.0.0.1, and yield the process and its URL.

    Args:
        settings: Settings of the server, as environment variables.
        log: The file for the server's output.
        *modules: Modules to import during the start.

    Raises:
        ServerError: The server ended, or does not answer; the message has the last error of its log.
    """
    listener = socket.create_server(("127.0.0.1", 0))  # the child inherits it, so that the port stays reserved
    with listener:
        url, handle = f"http://127.0.0.1:{listener.getsockname()[1]}/api", listener.fileno()
        process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "uvicorn",
                "--factory",
                APP,
                "--fd",
                str(handle),
                "--log-level",
                "error",
                "--timeout-graceful-shutdown",
                "2",
            ],
            env={**os.environ, **settings, PARENT: str(os.getpid())},
            pass_fds=[handle],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C must not reach the server, which has to record that the run was cancelled
        )
    try:
        for name in modules:
            import_module(name)
        deadline = time.monotonic() + START_SECONDS
        while _connection_error(url, "ready", START_SECONDS):  # unlike `health`, `ready` opens the database
            if process.poll() is not None or time.monotonic() > deadline:
                raise ServerError(_server_error(process, log))
            time.sleep(0.1)
        yield process, url
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _server_error(process: subprocess.Popen[bytes], log: IO[bytes] | None) -> str:
    """Return a message about a server that does not start, with the last error or line of its log."""
    log_text = ""
    if log:
        log.seek(0)
        log_text = log.read().decode(errors="replace").strip()
    _log.debug("the log of Prefect's server:\n%s", log_text)
    last_error = ["its log is empty", *log_text.splitlines()[-1:], *_ERROR.findall(log_text)][-1]
    code = process.poll()
    ended = f"did not answer within {START_SECONDS:.0f} s" if code is None else f"ended with status {code}"
    home = Path(os.environ.get("PREFECT_HOME", "~/.prefect")).expanduser()
    return (
        f"Prefect's server {ended} ({last_error}); --traceback shows its log. If a database from another version of "
        f"Prefect or a damaged one is the reason, move {home}/prefect.db away; otherwise {REMEDIES}"
    )


def app() -> Any:
    """Return the server's application, which ends with its parent and collects garbage in a separate thread.

    Python's automatic collection can begin in the thread of a database connection that holds the lock. A few runs in a
    hundred then stopped for a minute, until the timeout of the lock.
    """
    end_with_parent()
    gc.disable()
    loop = asyncio.get_running_loop()

    def collect() -> None:
        gc.collect()
        loop.call_later(COLLECT_SECONDS, collect)

    from prefect.server.api.server import create_app

    loop.call_later(COLLECT_SECONDS, collect)
    return create_app(final=True)


def end_with_parent() -> None:
    """Make this process end with the process in the variable `PARENT`."""
    threading.Thread(target=_end_with, args=(int(os.environ[PARENT]),), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)
