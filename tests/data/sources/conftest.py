from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.sources.graph.dump import Dump, shared_dump
from swaymeter.data.sources.graph.sparql import Endpoint
from swaymeter.data.sources.http.session import Service, Session, close_sessions
from tests.data.sources.graph.sparql_server import endpoint_at, served
from tests.data.sources.graph.yago_graph import write_graph
from tests.data.sources.servers.faults import FaultServer
from tests.data.sources.sessions import CONTACT, Clock, Open


@pytest.fixture(scope="session")
def turtle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Turtle file of the graph."""
    file = tmp_path_factory.mktemp("graph") / "yago.ttl"
    write_graph(file)
    return file


@pytest.fixture(scope="session")
def dump(turtle: Path, tmp_path_factory: pytest.TempPathFactory) -> Dump:
    """Return the graph in the embedded store."""
    return shared_dump([turtle], tmp_path_factory.mktemp("graphs"))


@pytest.fixture
def endpoint(turtle: Path, tmp_path: Path) -> Iterator[Endpoint]:
    """Yield an endpoint that queries a server of the graph, with an empty cache."""
    with served(turtle) as server, endpoint_at(server.address, tmp_path / "kept") as endpoint:
        yield endpoint


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
