"""Prefect's API, or a worker, as a child process that ends with its parent, however the parent ends.

Prefect's own temporary server outlives a parent that is killed. This one watches its parent in two ways: a pipe whose
other end the parent holds (end of file comes at once, on every system), and the parent's process id (which changes
even where a forked sibling still holds the pipe). When the parent is gone, the child ends with all that it started.
The flow runs of a worker that is killed end in the same way: each watches the worker's process id.

    python -m swaymeter.flows.server.child api --parent PID --socket FD [--page]
    python -m swaymeter.flows.server.child worker --parent PID [options of `prefect worker start`]
"""

import argparse
import gc
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress

PARENT_CHECK_SECONDS = 0.5
COLLECT_SECONDS = 60
"""Between two collections of the server's garbage."""
LEADER = "SWAYMETER_LEADER"
"""The variable of the process with which its children end, as `startup/sitecustomize.py` sees to."""


def main() -> None:
    """Watch the parent, then become the API or the worker."""
    arguments = argparse.ArgumentParser(prog="swaymeter.flows.server.child", description=__doc__, allow_abbrev=False)
    arguments.add_argument("role", choices=["api", "worker"])
    arguments.add_argument("--parent", type=int, required=True)
    arguments.add_argument("--socket", type=int)
    arguments.add_argument("--page", action="store_true", help="serve the page and run schedules and automations, too")
    known, rest = arguments.parse_known_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is started with it ignored
    threading.Thread(target=end_with, args=(known.parent, sys.stdin.fileno()), daemon=True).start()
    if known.role == "worker":
        _work(rest)
    else:
        _serve(known.socket, known.page)


def end_with(parent: int, pipe: int | None = None) -> None:
    """Ends this process with all that it started once the parent is gone, or the other end of the pipe is closed."""
    while os.getppid() == parent:
        readable, _, _ = select.select([pipe] if pipe is not None else [], [], [], PARENT_CHECK_SECONDS)
        if readable and not os.read(readable[0], 1):
            break
    for process in [*_descendants(), os.getpid()]:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def _descendants() -> list[int]:
    # A worker's flow runs lead process groups of their own, so killing the worker's group would miss them.
    try:
        table = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=False).stdout
    except OSError:
        return []
    rows = [(int(process), int(parent)) for process, parent in map(str.split, table.splitlines())]
    family = [os.getpid()]
    for ancestor in family:
        family += [process for process, parent in rows if parent == ancestor]
    return family[1:]


def _serve(descriptor: int, page: bool) -> None:
    gc.disable()  # a third of the imports' time goes into collections that find nothing
    import uvicorn
    from filelock import FileLock
    from prefect.server.api.server import create_app
    from prefect.settings import get_current_settings

    class OneAtATime(uvicorn.Server):
        """Two servers that both found a new database would both create its tables."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            with FileLock(get_current_settings().home / "swaymeter-server.lock"):
                await super().startup(sockets)

    async def collect() -> None:
        """Collects garbage between two requests, in this thread.

        Left to itself, a collection begins in any thread, also in that of a database connection that holds the lock:
        a few runs in a hundred then stood still until the lock's timeout, a minute.
        """
        gc.collect()

    app = create_app(ephemeral=not page, final=True)
    gc.freeze()
    # log_config: leave alone what Prefect has set up. Graceful shutdown: a page left open keeps nothing alive.
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="on", timeout_graceful_shutdown=2,
        callback_notify=collect, timeout_notify=COLLECT_SECONDS,
    )  # fmt: skip
    OneAtATime(config).run(sockets=[socket.socket(fileno=descriptor)])


def lead() -> None:
    """Lets the processes that this one starts end with it: a flow run holds the lock of its workspace."""
    os.environ[LEADER] = str(os.getpid())


def _work(options: list[str]) -> None:
    lead()
    from prefect.cli import app

    sys.argv = ["prefect", "worker", "start", *options]
    app()


if __name__ == "__main__":
    main()
