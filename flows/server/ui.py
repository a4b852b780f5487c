"""`make ui`: Prefect's server with its page, the deployments of prefect.yaml and a worker for them, until Ctrl-C."""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil  # type: ignore[import-untyped]

from swaymeter.data.errors import SwaymeterError
from swaymeter.flows.server.api import PARENT, STOP_SECONDS, ServerError, server
from swaymeter.flows.server.automations import register
from swaymeter.flows.server.settings import SERVER, client_of, keep_quiet

POOL = "swaymeter"
PREFECT = (sys.executable, "-P", "-m", "prefect")
WORKER = "from swaymeter.flows.server.api import end_with_parent; end_with_parent(); from prefect.cli import app; app()"

TRIES = "4"
"""How often a call is tried again while deployments are registered, half a minute in all: a server that has just
started answers 503 where its database is busy. Runs give up sooner."""


def serve(port: int) -> None:
    """Run the server on that port of 127.0.0.1, register the deployments and work on them until interrupted."""
    keep_quiet()
    page = f"http://127.0.0.1:{port}"
    settings = {**SERVER, "PREFECT_API_URL": f"{page}/api", "PREFECT_UI_API_URL": f"{page}/api", "PREFECT_UI_URL": page}
    print("starting Prefect's server", flush=True)
    with server(settings, None, port=port) as (process, url), client_of(url):
        print("registering the deployments", flush=True)
        with client_of(url, PREFECT_CLIENT_MAX_RETRIES=TRIES):
            _prefect("work-pool", "create", POOL, "--type", "process", "--overwrite")
            _prefect("deploy", "--all")
            register()
        with _worker() as worker:
            print(f"ready: {page}   (Ctrl-C stops the server and its worker)")
            print(f'for other terminals: export PREFECT_API_URL="{url}"', flush=True)
            while process.poll() is None and worker.poll() is None:
                time.sleep(0.5)
            raise ServerError("the server or its worker ended; see its last lines above")


@contextmanager
def _worker() -> Iterator[subprocess.Popen[bytes]]:
    """Prefect's worker, which on leaving ends with the runs that it has started, and alone where we are killed."""
    variables = {"SWAYMETER_HOME": os.environ.get("SWAYMETER_HOME", os.getcwd()), PARENT: str(os.getpid())}
    command = [sys.executable, "-P", "-c", WORKER, "worker", "start", "--pool", POOL, "--type", "process"]
    with subprocess.Popen(command, env={**os.environ, **variables}, start_new_session=True) as worker:
        try:
            yield worker
        finally:  # asked to end, a worker first waits for its runs
            if worker.poll() is None:
                for process in (*psutil.Process(worker.pid).children(recursive=True), worker):
                    process.terminate()
            try:
                worker.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                worker.kill()


def _prefect(*arguments: str) -> None:
    # Without SWAYMETER_HOME its name goes into the deployment, not its value: every worker fills in its own.
    environment = {name: value for name, value in os.environ.items() if name != "SWAYMETER_HOME"}
    command = [*PREFECT, "--no-prompt", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ServerError(f"`prefect {' '.join(arguments)}` failed:\n{done.stdout}{done.stderr}")


def main() -> None:
    """The command line behind `make ui`."""
    parser = argparse.ArgumentParser(prog="python -m swaymeter.flows.server.ui", description=__doc__)
    parser.add_argument("--port", type=int, default=4200)
    arguments = parser.parse_args()
    for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, signal.default_int_handler)
    try:
        serve(arguments.port)
    except KeyboardInterrupt:
        print("stopped", flush=True)
    except SwaymeterError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
