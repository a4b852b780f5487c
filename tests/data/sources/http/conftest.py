from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.sources.http.session import Service, Session
from tests.data.sources.http.asking import CONTACT, Clock, Open
from tests.data.sources.servers.faults import FaultServer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opened(tmp_path: Path, clock: Clock) -> Iterator[Open]:
    """Opens sessions on one cache, and closes them."""
    sessions: list[Session] = []

    def open_session(where: FaultServer | str, **other: Any) -> Session:
        arguments = {name: other.pop(name) for name in ("offline", "reruns") if name in other}
        contact = other.pop("contact", CONTACT)
        address = where if isinstance(where, str) else where.address
        limits = {"name": "YAGO", "requests_per_minute": 60_000, "timeout_s": 5, **other}
        session = Session(
            Service(address=address, **limits), contact=contact, cache=tmp_path / "answers", now=clock.now,
            sleep=clock.sleep, **arguments,
        )  # fmt: skip
        sessions.append(session)
        return session

    yield open_session
    for session in sessions:
        session.close()
