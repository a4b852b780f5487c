"""The Prefect API of a command: the configured API, or a temporary one that ends with the command.

The temporary API (temporary.py) writes into the database of `make ui`, so that runs can be viewed later.
"""

import logging
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import IO

from filelock import FileLock

from swaymeter.data.errors import SwaymeterError, first_line
from swaymeter.flows.server.settings import CLIENT, TEMPORARY_SERVER, keep_quiet, using_api
from swaymeter.flows.server.temporary import STOP_SECONDS, server_process

_log = logging.getLogger(__name__)

START_SECONDS, ANSWER_SECONDS = 120.0, 5.0
"""Upper bounds on the seconds until a server has started, and until a server has answered a request."""
REMEDIES = "free disk space, or set PREFECT_HOME to a folder that can be written"
_ERROR = re.compile(r"^[\w.]+(?:Error|Exception): .*", re.MULTILINE)
"""Last line of a traceback in a log, such as \"OSError: No space left on device\"."""


class ServerError(SwaymeterError):
    """Prefect's API does not answer, or could not be started."""


@contextmanager
def prefect_api(*modules: str) -> Iterator[str]:
    """Yield the URL of a running Prefect API, which this process and its children use within the block.

    The environment or a profile configures an API; otherwise a temporary API starts, and ends with the block.

    Args:
        *modules: Modules that this process imports while a temporary API starts.

    Raises:
        ServerError: The configured API does not answer, or the temporary API did not start.
    """
    keep_quiet()
    try:
        with redirect_stderr(StringIO()):  # Swaymeter's error replaces Prefect's warning
            from prefect.settings import get_current_settings

            url, home = get_current_settings().api.url or "", get_current_settings().home
    except ValueError as error:  # a file is not TOML, or has invalid values
        raise ServerError(
            f"Prefect's settings cannot be read ({first_line(error)}); correct profiles.toml in Prefect's folder "
            "(PREFECT_HOME, or ~/.prefect), or prefect.toml in the current folder"
        ) from None
    with ExitStack() as stack:
        if not url:
            log = stack.enter_context(tempfile.TemporaryFile())
            try:  # with a lock, because two starting servers would both create the tables of a new database
                home.mkdir(parents=True, exist_ok=True)
                lock = FileLock(home / "swaymeter-server.lock").acquire()
            except OSError as error:
                raise ServerError(f"Prefect's folder {home} cannot be written ({error.strerror}); {REMEDIES}") from None
            with lock:
                _, url = stack.enter_context(running_server(TEMPORARY_SERVER, log, *modules))
            stack.enter_context(using_api(url, **CLIENT))
        elif reason := _connection_error(url):
            raise ServerError(
                f"Prefect's API at {url} does not answer ({reason}); start that server, correct PREFECT_API_URL "
                "(environment or Prefect profile: `prefect config view`), or unset PREFECT_API_URL (`prefect config "
                "unset PREFECT_API_URL`), so that every run starts a temporary API of its own"
            )
        try:
            yield url
        finally:  # send the last logs and events while the API answers; otherwise Prefect would print errors
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
def running_server(
    settings: Mapping[str, str], log: IO[bytes] | None, *modules: str
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Start a temporary server, wait until it answers, and yield its process and its URL.

    Args:
        settings: Settings of the server, as environment variables.
        log: The file for the server's output.
        *modules: Modules that this process imports while the server starts.

    Raises:
        ServerError: The server ended, or does not answer; the message has the last error of its log.
    """
    with server_process(settings, log) as (process, url):
        for name in modules:
            import_module(name)
        deadline = time.monotonic() + START_SECONDS
        while _connection_error(url, "ready", START_SECONDS):  # unlike `health`, `ready` opens the database
            if process.poll() is not None or time.monotonic() > deadline:
                raise ServerError(_start_error(process, log))
            time.sleep(0.1)
        yield process, url


def _start_error(process: subprocess.Popen[bytes], log: IO[bytes] | None) -> str:
    log_text = ""
    if log:
        log.seek(0)
        log_text = log.read().decode(errors="replace").strip()
    _log.debug("the log of Prefect's server:\n%s", log_text)
    last_error = ["its log is empty", *log_text.splitlines()[-1:], *_ERROR.findall(log_text)][-1]
    code = process.poll()
    failure = f"did not answer within {START_SECONDS:.0f} s" if code is None else f"ended with status {code}"
    home = Path(os.environ.get("PREFECT_HOME", "~/.prefect")).expanduser()
    return (
        f"Prefect's server {failure} ({last_error}); --traceback shows its log. If its database is damaged, or from "
        f"another version of Prefect, move {home}/prefect.db away; otherwise {REMEDIES}"
    )
