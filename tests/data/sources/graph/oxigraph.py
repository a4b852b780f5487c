"""A real SPARQL server on 127.0.0.1: the command of the package oxigraph."""

import socket
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests

COMMAND = Path(sysconfig.get_path("scripts")) / "oxigraph"
STARTS_WITHIN_S = 60.0


@contextmanager
def served(turtle: Path, *, timeout_s: int = 60) -> Iterator[str]:
    """Serves a Turtle file, read only; gives the address that answers queries. timeout_s: what a query may take."""
    with tempfile.TemporaryDirectory(prefix="oxigraph-") as folder:
        store = Path(folder) / "store"
        log = (Path(folder) / "log").open("w+b")
        loaded = subprocess.run(
            [COMMAND, "load", "--location", store, "--file", turtle], stdout=log, stderr=log, check=False
        )
        log.seek(0)
        said = log.read().decode(errors="replace")
        # It ends with 0 also where it could not read the file.
        assert loaded.returncode == 0, said
        assert "rror" not in said, said
        port = _free_port()
        command = [COMMAND, "serve-read-only", "--location", store, "--bind", f"127.0.0.1:{port}"]
        with subprocess.Popen([*command, "--timeout-s", str(timeout_s)], stdout=log, stderr=log) as server:
            try:
                _wait_for(port, server, log.name)
                yield f"http://127.0.0.1:{port}/query"
            finally:
                server.kill()
                log.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[bytes], log: str) -> None:
    last = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < last:
        assert server.poll() is None, Path(log).read_text(errors="replace")
        try:
            requests.get(f"http://127.0.0.1:{port}/query", params={"query": "ASK {}"}, timeout=5).raise_for_status()
            return
        except requests.ConnectionError:
            time.sleep(0.05)
    raise AssertionError(f"the server did not answer within {STARTS_WITHIN_S:g} s")
