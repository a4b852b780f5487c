"""Sessions whose waits take no time, because they only put a clock forward."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from swaymeter.data.sources.http.session import Service, Session, close_sessions
from tests.data.sources.servers.faults import FaultServer, ServedResponse, serving

CONTACT = "tests@example.org"
Open = Callable[..., Session]


class Clock:
    """The real clock, which a sleep puts forward at once; `slept` has the seconds of each sleep."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> float:
        return time.monotonic() + sum(self.slept)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def new_session(
    address: str,
    folder: Path,
    clock: Clock,
    *,
    contact: str | None = CONTACT,
    offline: bool = False,
    rerun: int = 0,
    **service: Any,
) -> Session:
    """Return a session whose waits put the clock forward; `folder` has its cached responses, `service` its options."""
    limits = {"requests_per_minute": 60_000, "timeout_s": 5, **service}
    options: dict[str, Any] = {"contact": contact, "offline": offline, "rerun": rerun}
    return Session(Service(address=address, **limits), cache=folder, now=clock.now, sleep=clock.sleep, **options)


@contextmanager
def session_at(address: str, folder: Path, name: str = "The service") -> Iterator[Session]:
    """Open a session that sends a request at most twice."""
    with closing(new_session(address, folder, Clock(), name=name, tries=2)) as session:
        yield session
    close_sessions()  # closes the rate limiters, too


@contextmanager
def session_with_server(folder: Path, *script: ServedResponse) -> Iterator[tuple[Session, FaultServer]]:
    """Run a server that plays the script, and open a session with it."""
    with serving(*script) as server, session_at(server.address, folder) as session:
        yield session, server
