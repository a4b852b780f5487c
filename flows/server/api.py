"""The Prefect API that a command uses: the configured one, or a temporary one of its own that ends with it.

The temporary API writes into the same database that `make ui` shows, so its runs can be looked at later.
"""

import logging
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from swaymeter.data.errors import first_line
from swaymeter.flows.server.process import ANSWER_SECONDS, ServerError, api_child, wait_until_ready
from swaymeter.flows.server.settings import STOP_SECONDS, TEMPORARY, client_of, keep_quiet

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Starting:
    """A temporary API that need not answer yet: its process, its URL and its log."""

    server: subprocess.Popen[bytes]
    url: str
    log: IO[bytes]


@contextmanager
def temporary_api() -> Iterator[Starting]:
    """Starts a temporary API, which takes seconds, and stops it on leaving; Prefect is not imported."""
    with tempfile.TemporaryFile() as output, api_child(0, settings=TEMPORARY, log=output) as (server, url):
        yield Starting(server, url, output)


def is_named() -> bool:
    """Whether the environment names an API; a profile or a settings file may name one, too."""
    return bool(os.environ.get("PREFECT_API_URL"))


@contextmanager
def prefect_api(meanwhile: Iterator[object] | None = None, starting: Starting | None = None) -> Iterator[str]:
    """Give the URL of a Prefect API that answers, and point this process and its children to it.

    It is the configured one (environment or profile), or else a temporary one, which stops on leaving.

    Args:
        meanwhile: Its next item is taken while a temporary API does not answer: imports, which take seconds.
        starting: A temporary one that was started before, and is stopped by whoever did so.

    Raises:
        ServerError: The configured API does not answer, or the temporary one did not start.
    """
    keep_quiet()
    with ExitStack() as stack:
        if starting is None and not is_named():  # before Prefect is imported, which takes a second
            starting = stack.enter_context(temporary_api())
        try:
            from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, get_current_settings, temporary_settings

            url = get_current_settings().api.url or ""
        except ValueError as error:  # of a file that is not TOML, or has values that cannot be
            raise ServerError(
                f"Prefect's settings cannot be read ({first_line(error)}); correct profiles.toml in its folder "
                "(PREFECT_HOME, or ~/.prefect), or prefect.toml in this one, or move it away"
            ) from None
        if url:
            if starting is not None:  # in vain: a profile or a settings file names another
                starting.server.terminate()
            stack.close()
            _check(url)
        else:
            starting = starting or stack.enter_context(temporary_api())
            url = starting.url
            wait_until_ready(starting.server, url, starting.log, meanwhile)
            log.debug("temporary Prefect API at %s, process %d", url, starting.server.pid)
            stack.enter_context(client_of(url))
            # They tell a server that watches for crashed runs, which this one does not; a flow ends a second sooner.
            stack.enter_context(temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}))
        try:
            yield url
        finally:
            _send_logs_and_events()
            if starting is not None:
                starting.server.terminate()  # its end is waited for by the context that started it


def configured_api_answers() -> bool:
    """Whether the API to which this process is pointed answers."""
    from prefect.settings import get_current_settings

    return _why_not(get_current_settings().api.url or "") is None


def _why_not(url: str) -> object | None:
    """Why an API does not answer, None where it does."""
    try:
        with urlopen(f"{url.rstrip('/')}/health", timeout=ANSWER_SECONDS):
            return None
    except HTTPError as error:  # a server that requires a login answers, too; Prefect's client brings the login
        return None if error.code < 500 else error
    except (URLError, OSError, ValueError) as error:
        return getattr(error, "reason", error)


def _check(url: str) -> None:
    reason = _why_not(url)
    if reason is None:
        return
    raise ServerError(
        f"Prefect's API at {url} does not answer ({reason}). Start that server, correct PREFECT_API_URL (environment "
        "or Prefect profile: `prefect config view`), or unset it (`prefect config unset PREFECT_API_URL`): then every "
        "run starts a temporary API of its own."
    )


def _send_logs_and_events() -> None:
    # They go out in batches; the API or this process is about to stop, and Prefect would complain.
    if not configured_api_answers():
        return
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    EventsWorker.drain_all(timeout=STOP_SECONDS)
    APILogWorker.drain_all(timeout=STOP_SECONDS)
