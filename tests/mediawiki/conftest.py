from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from swaymeter.data.sources.http.session import Service, Session
from swaymeter.data.sources.wikimedia.mediawiki import Wiki
from swaymeter.data.sources.wikimedia.wikipedia import Wikipedia
from tests.mediawiki.wiki_server import RunningWiki, a_wiki, is_installed

USERS = ("Alice", "Bob", "Carol")


@pytest.fixture(scope="session")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningWiki]:
    """A wiki for all tests; each has pages of its own."""
    if not is_installed():
        pytest.fail("no MediaWiki is installed here; `make test-mediawiki` installs Debian's, as root")
    with a_wiki(tmp_path_factory.mktemp("mediawiki"), USERS) as running:
        yield running


@pytest.fixture
def wikipedia(wiki: RunningWiki, tmp_path: Path) -> Iterator[Wikipedia]:
    """Our client of that wiki, with a cache of its own."""
    service = Service("The wiki", wiki.api, max_concurrency=3, requests_per_minute=60_000, cache_ttl_days=30)
    with closing(Session(service, contact="https://tests.invalid", cache=tmp_path)) as session:
        yield Wikipedia(Wiki(session))
