"""Sessions that ask a server on 127.0.0.1 as fast as it answers, for tests of the clients of small services."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from swaymeter.data.sources.http.session import Service, Session
from tests.data.sources.http.asking import CONTACT, Clock
from tests.data.sources.servers.faults import FaultServer, Say, serving


@contextmanager
def asking(address: str, folder: Path, *, tries: int = 2) -> Iterator[Session]:
    """A session that need not wait; the folder is for kept answers."""
    clock = Clock()
    service = Service("The service", address, requests_per_minute=60_000, timeout_s=5, tries=tries)
    with closing(Session(service, contact=CONTACT, cache=folder, now=clock.now, sleep=clock.sleep)) as session:
        yield session


@contextmanager
def answering(folder: Path, *script: Say) -> Iterator[tuple[Session, FaultServer]]:
    """A session, and the server that it asks, which plays the script."""
    with serving(*script) as server, asking(server.address, folder) as session:
        yield session, server
