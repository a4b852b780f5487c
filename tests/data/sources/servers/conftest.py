from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.contexts.wikidata.questions import Clients
from tests.data.sources.servers import wiki_world
from tests.data.sources.servers.wiki_world import Served, World, serving_world
from tests.data.sources.servers.wiki_world.asking import asking_world


@pytest.fixture(scope="package")
def world() -> World:
    """The world, which no test may change."""
    return wiki_world.world()


@pytest.fixture(scope="package")
def open_world(world: World) -> Iterator[Served]:
    """The world on a server."""
    with serving_world(world) as served:
        yield served


@pytest.fixture
def clients(open_world: Served, tmp_path: Path) -> Iterator[Clients]:
    """Clients of that server, with answers of their own."""
    with asking_world(open_world.addresses, tmp_path / "kept") as clients:
        yield clients
