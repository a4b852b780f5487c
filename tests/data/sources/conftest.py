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
    """The file of the graph in YAGO's words."""
    file = tmp_path_factory.mktemp("graph") / "yago.ttl"
    write_graph(file)
    return file


@pytest.fixture(scope="session")
def dump(turtle: Path, tmp_path_factory: pytest.TempPathFactory) -> Dump:
    """The graph in the embedded store."""
    return shared_dump([turtle], tmp_path_factory.mktemp("graphs"))


@pytest.fixture
def endpoint(turtle: Path, tmp_path: Path) -> Iterator[Endpoint]:
    """A service that holds the graph, with cached responses of its own."""
    with served(turtle) as server, endpoint_at(server.address, tmp_path / "kept") as endpoint:
        yield endpoint


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opened(tmp_path: Path, clock: Clock) -> Iterator[Open]:
    """Opens sessions on one cache, and closes them."""
    sessions: list[Session] = []

    def open_session(where: FaultServer | str, **other: Any) -> Session:
        arguments = {name: other.pop(name) for name in ("offline", "rerun") if name in other}
        contact = other.pop("contact", CONTACT)
        address = where if isinstance(where, str) else where.address
        limits = {"name": "YAGO", "requests_per_minute": 60_000, "timeout_s": 5, **other}
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
    close_sessions()  # and the limiters
