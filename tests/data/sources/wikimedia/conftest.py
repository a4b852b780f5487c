from collections.abc import Callable

import pytest

from swaymeter.data.sources.wikimedia.mediawiki import Wiki
from swaymeter.data.sources.wikimedia.wikidata import Wikidata
from swaymeter.data.sources.wikimedia.wikipedia import Wikipedia
from tests.data.sources.servers.faults import FaultServer
from tests.data.sources.sessions import Open

Asking = Callable[..., Wikipedia]
AskingItems = Callable[[FaultServer], Wikidata]


@pytest.fixture
def asking(opened: Open) -> Asking:
    """Wikipedias that ask a server through sessions on one cache."""
    return lambda server, **other: Wikipedia(Wiki(opened(server, **{"name": "Wikipedia", **other})))


@pytest.fixture
def asking_items(opened: Open) -> AskingItems:
    """Clients of a server that has items."""
    return lambda server: Wikidata(Wiki(opened(server, name="Wikidata", max_concurrency=3)))
