from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.sources.http.session import Session, close_sessions
from tests.data.sources.servers.faults import FaultServer
from tests.data.sources.sessions import Clock, Open, new_session


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_session(tmp_path: Path, clock: Clock) -> Iterator[Open]:
    """Yield a function that opens sessions with one cache, and close the sessions after the test."""
    with ExitStack() as sessions:

        def open_at(target: FaultServer | str, **options: Any) -> Session:
            address = target if isinstance(target, str) else target.address
            session = new_session(address, tmp_path / "cache", clock, **{"name": "YAGO", **options})
            return sessions.enter_context(closing(session))

        yield open_at
    close_sessions()  # closes the rate limiters, too
