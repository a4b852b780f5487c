from collections.abc import Callable
from typing import Any

import pytest

from swaymeter.data.sources.wikimedia.mediawiki import Wiki
from swaymeter.data.sources.wikimedia.wikipedia import Wikipedia
from tests.data.sources.servers.faults import FaultServer
from tests.data.sources.sessions import Open

Asking = Callable[..., Wikipedia]


@pytest.fixture
def asking(opened: Open) -> Asking:
    """Wikipedias that ask a server through sessions on one cache."""

    def ask(where: FaultServer | str, **other: Any) -> Wikipedia:
        return Wikipedia(Wiki(opened(where, **{"name": "Wikipedia", **other})))

    return ask
