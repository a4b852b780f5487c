from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from data.sources.http.session import Service, Session
from data.sources.wikimedia.mediawiki import Wiki
from data.sources.wikimedia.wikidata import Wikidata
from tests.data.sources.servers.faults import FaultServer

Asking = Callable[[FaultServer], Wikidata]


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Asking]:
    """Opens clients of servers, each with kept answers of its own, and closes them."""
    with ExitStack() as opened:
        number = 0

        def ask(server: FaultServer) -> Wikidata:
            nonlocal number
            number += 1
            service = Service("Wikidata", server.address, max_concurrency=3, requests_per_minute=60_000, timeout_s=5)
            session = Session(service, contact="tests@example.org", cache=tmp_path / str(number))
            return Wikidata(Wiki(opened.enter_context(session)))

        yield ask
