from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from data.sources.http.session import Service, Session
from tests.data.sources.http.asking import CONTACT, Clock, Open
from tests.data.sources.servers.faults import FaultServer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opened(tmp_path: Path, clock: Clock) -> Iterator[Open]:
    """Opens sessions on one cache, and closes them."""
    sessions: list[Session] = []

    def open_session(
        where: FaultServer | str,
        *,
        contact: str | None = CONTACT,
        offline: bool = False,
        not_before: datetime | None = None,
        **other: Any,
    ) -> Session:
        address = where if isinstance(where, str) else where.address
        service = Service(
            **{"name": "YAGO", "address": address, "requests_per_minute": 60_000, "timeout_s": 5, **other}
        )
        sessions.append(
            Session(
                service,
                contact=contact,
                cache=tmp_path / "answers",
                offline=offline,
                not_before=not_before,
                now=clock.now,
                sleep=clock.sleep,
            )
        )
        return sessions[-1]

    yield open_session
    for session in sessions:
        session.close()
