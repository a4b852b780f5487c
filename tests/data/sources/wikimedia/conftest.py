from collections.abc import Callable

import pytest

from swaymeter.data.sources.wikimedia.mediawiki import Wiki
from swaymeter.data.sources.wikimedia.wikidata import Wikidata
from swaymeter.data.sources.wikimedia.wikipedia import Wikipedia
from tests.data.sources.servers.faults import FaultServer
from tests.data.sources.sessions import Open

OpenWikipedia = Callable[..., Wikipedia]
OpenWikidata = Callable[[FaultServer], Wikidata]


@pytest.fixture
def open_wikipedia(opened: Open) -> OpenWikipedia:
    """Return the function that opens a client of a server; all clients have one cache."""
    return lambda server, **other: Wikipedia(Wiki(opened(server, **{"name": "Wikipedia", **other})))


@pytest.fixture
def open_wikidata(opened: Open) -> OpenWikidata:
    return lambda server: Wikidata(Wiki(opened(server, name="Wikidata", max_concurrency=3)))
