import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.errors import ServiceError
from swaymeter.data.sources.http.session import Service, Session, close_sessions, shared_session
from tests.data.sources.servers.faults import FaultServer, says, serving
from tests.data.sources.sessions import CONTACT

AGAIN = frozenset({"of today"})


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with serving(says([1])) as server:
        yield server
    close_sessions()


def session_of(server: FaultServer, cache: Path, **other: Any) -> Session:
    limits = {"requests_per_minute": other.pop("requests_per_minute", 60_000)}
    return shared_session(Service("YAGO", server.address, **limits), contact=CONTACT, cache=cache, **other)


def test_equal_arguments_share_one_session(server: FaultServer, tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        sessions = set(pool.map(lambda _: session_of(server, tmp_path), range(32)))
    assert len(sessions) == 1
    different = [
        session_of(server, tmp_path / "other"),
        session_of(server, tmp_path, offline=True),
        session_of(server, tmp_path, reruns=AGAIN),
        session_of(server, tmp_path, requests_per_minute=6_000),
    ]
    assert len({*sessions, *different}) == 5


@pytest.mark.parametrize("close", [close_sessions, None])
def test_a_closed_session_is_opened_anew(close: Any, server: FaultServer, tmp_path: Path) -> None:
    first = session_of(server, tmp_path)
    (close or first.close)()
    assert first.is_closed
    with pytest.raises(ServiceError, match="closed"):
        first.ask({})
    assert session_of(server, tmp_path).ask({}).content == [1]


def test_requests_per_minute_hold_over_all_sessions_of_an_address(server: FaultServer, tmp_path: Path) -> None:
    several = [session_of(server, tmp_path / str(number), requests_per_minute=1_200) for number in range(2)]
    several.append(session_of(server, tmp_path, reruns=AGAIN, requests_per_minute=1_200))
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda session: [session.ask({"q": str(number)}) for number in range(4)], several))
    times = sorted(asked.at for asked in server.asked)
    assert len(times) == 12
    assert times[-1] - times[0] > 11 * 0.05 * 0.9  # three that did not know of each other would take a third of it


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_opens_its_own(server: FaultServer, tmp_path: Path) -> None:
    parents = session_of(server, tmp_path)
    child = os.fork()
    if child == 0:
        os._exit(session_of(server, tmp_path) is parents)
    assert os.waitpid(child, 0)[1] == 0
    assert session_of(server, tmp_path) is parents
