"""A temporary server of Prefect that ends with its parent and never deadlocks at its database.

If the parent is killed, the server ends, too; Prefect's own temporary server would live on.
"""

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

STOP_SECONDS = 10.0
"""Seconds that a server may take to end before it is killed."""
PARENT_CHECK_SECONDS = 0.5
"""Seconds between two checks that the parent is alive."""
APP = "swaymeter.flows.server.temporary:app"
UVICORN_OPTIONS = "--log-level error --timeout-graceful-shutdown 2"
PARENT = "SWAYMETER_PARENT"
"""Environment variable with the id of the process that starts a server; the server ends with this process."""
COLLECT_SECONDS = 60
"""Seconds between two garbage collections of the server."""


@contextmanager
def server_process(settings: Mapping[str, str], log: IO[bytes] | None) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Start Prefect's server as a child process on a free port of 127.0.0.1, and yield the process and its URL.

    Args:
        settings: Settings of the server, as environment variables.
        log: The file for the server's output.
    """
    listener = socket.create_server(("127.0.0.1", 0))  # the child inherits the socket, so the port stays reserved
    with listener:
        url, handle = f"http://127.0.0.1:{listener.getsockname()[1]}/api", listener.fileno()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", *f"uvicorn --factory {APP} --fd {handle} {UVICORN_OPTIONS}".split()],
            env={**os.environ, **settings, PARENT: str(os.getpid())},
            pass_fds=[handle],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C must not reach the server, which has to record that the run was cancelled
        )
    try:
        yield process, url
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def app() -> Any:
    """Return the server's application, which ends with its parent and collects garbage only in its event loop.

    Python's automatic garbage collection can begin in the thread of a database connection that holds the database's
    lock. With automatic collection, a few runs in a hundred stopped for a minute, until the timeout of the lock.
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
    """Make this process end when its parent ends. The environment variable `PARENT` has the parent's process id."""
    threading.Thread(target=_end_with, args=(int(os.environ[PARENT]),), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:  # a process gets another parent when its parent ends
        time.sleep(PARENT_CHECK_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)
