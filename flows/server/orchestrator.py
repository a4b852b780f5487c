"""Which Prefect API a command talks to: the configured one, or a temporary one of its own that ends with it.

The temporary API writes into the same database that `make ui` shows, so its runs can be looked at later. Prefect is
imported inside functions: `quiet` must have spoken before Prefect is read for the first time.
"""

import argparse
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, build_opener, urlopen

from data.errors import SwaymeterError

logger = logging.getLogger(__name__)

POOL = "swaymeter"
START_SECONDS = 120.0
ANSWER_SECONDS = 5.0
POLL_SECONDS = 0.05
STOP_SECONDS = 10.0

QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    # The handler, not the logger: what a run logs still reaches the API, where the UI shows it.
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    # Warnings of our own packages belong to the run that met them; outside a run there is nothing to belong to.
    "PREFECT_LOGGING_EXTRA_LOGGERS": "data,tasks,reports,flows",
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
}

# A child's errors go into a file or to the terminal, so they may be said; another run may hold the database for long.
CHILD = {
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "ERROR",
    "PREFECT_SERVER_LOGGING_LEVEL": "ERROR",
    "PREFECT_SERVER_DATABASE_TIMEOUT": "60",
}

# One run has no use for the page, for schedules, or for automations that would start other runs.
TEMPORARY = {
    **CHILD,
    "PREFECT_UI_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_SCHEDULER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_LATE_RUNS_ENABLED": "false",
}


class OrchestratorError(SwaymeterError):
    """Prefect's API does not answer, or could not be started."""


def quiet() -> None:
    """Keep Prefect off the terminal and off the network; what the environment says already stays as it is.

    A run's logs still go to the API. Call it before Prefect is imported.
    """
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)


@contextmanager
def orchestrator(meanwhile: Callable[[], object] | None = None) -> Iterator[str]:
    """Give a Prefect API that answers, and point this process and its children to it.

    Args:
        meanwhile: called while a temporary API starts; a place for slow imports.

    Yields:
        The API's URL: the configured one (environment or profile), or that of a temporary API, which stops on leaving.

    Raises:
        OrchestratorError: the configured API does not answer, or the temporary one did not start.
    """
    quiet()
    from prefect.settings import get_current_settings

    settings = get_current_settings()
    if settings.api.url:
        _check(settings.api.url)
        if meanwhile:
            meanwhile()
        try:
            yield settings.api.url
        finally:
            _send_what_is_left()
        return
    with _temporary_api(meanwhile) as url, _environment(_pointing_to(url)), _no_heartbeats():
        try:
            yield url
        finally:
            _send_what_is_left()


def serve(port: int) -> None:
    """Run Prefect's server with its page, register prefect.yaml's deployments, and work on them until interrupted.

    Args:
        port: the TCP port on 127.0.0.1.

    Raises:
        OrchestratorError: the port is taken, or the server did not start.
    """
    quiet()
    page_settings = {
        **CHILD,
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",  # whatever else is configured
        "PREFECT_UI_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_UI_URL": f"http://127.0.0.1:{port}",
    }
    _say("starting Prefect's server")
    with (
        _api(port, page_settings, ["--page"], None) as (server, url),
        _environment(_pointing_to(url)),
    ):
        _wait_for(server, url, None)
        _say("registering the deployments")
        _prefect("work-pool", "create", POOL, "--type", "process", "--overwrite")
        _prefect("deploy", "--all")
        home = {"SWAYMETER_HOME": os.environ.get("SWAYMETER_HOME", os.getcwd())}
        with _child(["worker", "--pool", POOL, "--type", "process"], home) as worker:
            _say(f"ready: {url.removesuffix('/api')}   (Ctrl-C stops the server and its worker)")
            _say(f'for other terminals: export PREFECT_API_URL="{url}"')
            while server.poll() is None and worker.poll() is None:
                time.sleep(0.5)
            raise OrchestratorError("the server or its worker ended; its last words are above")


def main() -> None:
    """The command line behind `make ui`."""
    parser = argparse.ArgumentParser(prog="python -m flows.server.orchestrator", description=serve.__doc__)
    parser.add_argument("--port", type=int, default=4200)
    arguments = parser.parse_args()
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.default_int_handler)
    try:
        serve(arguments.port)
    except KeyboardInterrupt:
        _say("stopped")
    except SwaymeterError as error:
        sys.exit(f"error: {error}")


# ---- the configured API ----------------------------------------------------------------------------------------------


def _check(url: str) -> None:
    try:
        with urlopen(f"{url.rstrip('/')}/health", timeout=ANSWER_SECONDS):
            return
    except HTTPError as error:
        if error.code < 500:  # a server that wants a login answers, too; Prefect's client brings the login
            return
        reason: object = error
    except (URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
    raise OrchestratorError(
        f"Prefect's API at {url} does not answer ({reason}). Start that server, correct PREFECT_API_URL (environment "
        "or Prefect profile: `prefect config view`), or unset it (`prefect config unset PREFECT_API_URL`): then every "
        "run starts a temporary API of its own."
    )


# ---- children --------------------------------------------------------------------------------------------------------


@contextmanager
def _temporary_api(meanwhile: Callable[[], object] | None) -> Iterator[str]:
    with tempfile.TemporaryFile() as log, _api(0, TEMPORARY, [], log) as (server, url):
        if meanwhile:
            meanwhile()
        _wait_for(server, url, log)
        logger.debug("temporary Prefect API at %s, process %d", url, server.pid)
        yield url


@contextmanager
def _api(
    port: int, settings: Mapping[str, str], options: list[str], log: IO[bytes] | None
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    # The socket is bound here and handed down: nobody can take the port between choosing and using it.
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            raise OrchestratorError(f"port {port} of 127.0.0.1 cannot be used: {error.strerror}") from error
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/api"
        descriptor = listener.fileno()
        child = _child(["api", "--socket", str(descriptor), *options], settings, log, pass_fds=(descriptor,))
        with child as server:
            listener.close()
            yield server, url


@contextmanager
def _child(
    arguments: list[str], settings: Mapping[str, str], log: IO[bytes] | None = None, pass_fds: tuple[int, ...] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    role, *options = arguments
    process = subprocess.Popen(
        [sys.executable, "-m", "flows.server.local_server", role, "--parent", str(os.getpid()), *options],
        stdin=subprocess.PIPE,  # held open, never written to: its end tells the child that we are gone
        stdout=log,
        stderr=log,
        env={**os.environ, "PYTHONPATH": _python_path(), **settings},
        pass_fds=pass_fds,
        start_new_session=True,  # Ctrl-C reaches us, and we still need the API to record that the run was cancelled
    )
    try:
        yield process
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with whatever it started
        process.wait()
    if process.stdin:
        process.stdin.close()


def _wait_for(server: subprocess.Popen[bytes], url: str, log: IO[bytes] | None) -> None:
    direct = build_opener(ProxyHandler({}))
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with suppress(URLError, OSError), direct.open(f"{url}/health", timeout=ANSWER_SECONDS):
            return
        if server.poll() is not None:
            raise OrchestratorError(f"Prefect's server ended with status {server.returncode}.{_tail(log)}")
        time.sleep(POLL_SECONDS)
    raise OrchestratorError(f"Prefect's server did not answer within {START_SECONDS:.0f} s.{_tail(log)}")


def _tail(log: IO[bytes] | None, lines: int = 15) -> str:
    if log is None:
        return ""
    log.seek(0)
    said = log.read().decode(errors="replace").strip().splitlines()[-lines:]
    return " Its last words:\n" + "\n".join(said) if said else " It said nothing."


def _python_path() -> str:
    here = str(Path(__file__).resolve().parent.parent.parent)
    return os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])


def _prefect(*arguments: str) -> None:
    # Without SWAYMETER_HOME its name goes into the deployment, not its value: every worker fills in its own.
    environment = {name: value for name, value in os.environ.items() if name != "SWAYMETER_HOME"}
    command = [sys.executable, "-m", "prefect", "--no-prompt", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OrchestratorError(f"`prefect {' '.join(arguments)}` failed:\n{done.stdout}{done.stderr}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


# ---- this process ----------------------------------------------------------------------------------------------------


def _pointing_to(url: str) -> dict[str, str]:
    local = ",".join(filter(None, [os.environ.get("NO_PROXY") or os.environ.get("no_proxy"), "127.0.0.1"]))
    return {"PREFECT_API_URL": url, "NO_PROXY": local, "no_proxy": local}


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    # The environment and not `temporary_settings`: worker threads and child processes must see it, too.
    from prefect.context import refresh_global_settings_context

    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    refresh_global_settings_context()
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        refresh_global_settings_context()


def _no_heartbeats() -> AbstractContextManager[object]:
    # They tell a server that watches for crashed runs, which a temporary one does not; each flow ends a second sooner.
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

    return temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None})


def _send_what_is_left() -> None:
    # Logs and events go out in batches; the API or this process is about to stop, and Prefect would complain.
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    EventsWorker.drain_all(timeout=STOP_SECONDS)
    APILogWorker.drain_all(timeout=STOP_SECONDS)


if __name__ == "__main__":
    main()
