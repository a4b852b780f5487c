from collections.abc import Callable
from typing import Any

import pytest

from data.sources.mediawiki import Wiki
from data.sources.wikipedia import Wikipedia
from tests.data.sources.servers.faults import FaultServer
from tests.data.sources.session.asking import Open
from tests.data.sources.session.conftest import clock, opened

__all__ = ["asking", "clock", "opened"]
Asking = Callable[..., Wikipedia]


@pytest.fixture
def asking(opened: Open) -> Asking:
    """Wikipedias that ask a server through sessions on one cache."""

    def ask(where: FaultServer | str, **other: Any) -> Wikipedia:
        return Wikipedia(Wiki(opened(where, **{"name": "Wikipedia", **other})))

    return ask
