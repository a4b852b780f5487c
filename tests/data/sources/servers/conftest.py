from collections.abc import Iterator

import pytest

from tests.data.sources.servers import wiki_world
from tests.data.sources.servers.wiki_world import Served, World, serving_world


@pytest.fixture(scope="package")
def world() -> World:
    """The world, which no test may change."""
    return wiki_world.world()


@pytest.fixture(scope="package")
def open_world(world: World) -> Iterator[Served]:
    """The world on a server."""
    with serving_world(world) as served:
        yield served
