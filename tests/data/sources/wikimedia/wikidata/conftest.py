from collections.abc import Callable

import pytest

from data.sources.wikimedia.mediawiki import Wiki
from data.sources.wikimedia.wikidata import Wikidata
from tests.data.sources.http.asking import Open
from tests.data.sources.http.conftest import clock, opened
from tests.data.sources.servers.faults import FaultServer

__all__ = ["asking", "clock", "opened"]
Asking = Callable[[FaultServer], Wikidata]


@pytest.fixture
def asking(opened: Open) -> Asking:
    """Opens clients of servers."""
    return lambda server: Wikidata(Wiki(opened(server, name="Wikidata", max_concurrency=3)))
