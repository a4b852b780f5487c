"""Sessions that ask a server on 127.0.0.1 as fast as it answers, and a clock that need not be waited for."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from swaymeter.data.sources.http.session import Service, Session, close_sessions
from tests.data.sources.servers.faults import FaultServer, Say, serving

CONTACT = "tests@example.org"
Open = Callable[..., Session]


class Clock:
    """A clock that only goes on while somebody sleeps, besides the time that passes."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> float:
        return time.monotonic() + sum(self.slept)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@contextmanager
def asking(address: str, folder: Path, *, tries: int = 2, name: str = "The service") -> Iterator[Session]:
    """A session that need not wait; the folder is for kept answers."""
    clock = Clock()
    service = Service(name, address, requests_per_minute=60_000, timeout_s=5, tries=tries)
    with closing(Session(service, contact=CONTACT, cache=folder, now=clock.now, sleep=clock.sleep)) as session:
        yield session
    close_sessions()  # and the limiter


@contextmanager
def answering(folder: Path, *script: Say) -> Iterator[tuple[Session, FaultServer]]:
    """A session, and the server that it asks, which plays the script."""
    with serving(*script) as server, asking(server.address, folder) as session:
        yield session, server
