from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.sources.http.session import Service, Session, close_sessions
from tests.data.sources.servers.faults import FaultServer
from tests.data.sources.sessions import CONTACT, Clock, Open


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opened(tmp_path: Path, clock: Clock) -> Iterator[Open]:
    """Yield a function that opens sessions with one cache, and close the sessions after the test."""
    sessions: list[Session] = []

    def open_session(target: FaultServer | str, **options: Any) -> Session:
        arguments = {name: options.pop(name) for name in ("offline", "rerun") if name in options}
        contact = options.pop("contact", CONTACT)
        address = target if isinstance(target, str) else target.address
        limits = {"name": "YAGO", "requests_per_minute": 60_000, "timeout_s": 5, **options}
        session = Session(
            Service(address=address, **limits),
            contact=contact,
            cache=tmp_path / "answers",
            now=clock.now,
            sleep=clock.sleep,
            **arguments,
        )
        sessions.append(session)
        return session

    yield open_session
    for session in sessions:
        session.close()
    close_sessions()  # closes the rate limiters, too
