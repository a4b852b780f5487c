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
def open_wikipedia(open_session: Open) -> OpenWikipedia:
    """Return the function that opens a client of a server; all clients have one cache."""
    return lambda server, **other: Wikipedia(Wiki(open_session(server, **{"name": "Wikipedia", **other})))


@pytest.fixture
def open_wikidata(open_session: Open) -> OpenWikidata:
    return lambda server: Wikidata(Wiki(open_session(server, name="Wikidata", max_concurrency=3)))
