from collections.abc import Iterator
from pathlib import Path

import pytest

from swaymeter.data.sources.graph.dump import Dump, shared_dump
from swaymeter.data.sources.graph.sparql import Endpoint
from tests.data.sources.graph.oxigraph import served
from tests.data.sources.graph.sparql_server import asking
from tests.data.sources.graph.yago_graph import write_graph


@pytest.fixture(scope="session")
def turtle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the graph in YAGO's words."""
    file = tmp_path_factory.mktemp("graph") / "yago.ttl"
    write_graph(file)
    return file


@pytest.fixture(scope="session")
def dump(turtle: Path, tmp_path_factory: pytest.TempPathFactory) -> Dump:
    """The graph in the embedded store."""
    return shared_dump([turtle], tmp_path_factory.mktemp("graphs"))


@pytest.fixture(scope="session")
def oxigraph(turtle: Path) -> Iterator[str]:
    """The address of a real server that holds the graph."""
    with served(turtle) as address:
        yield address


@pytest.fixture
def endpoint(oxigraph: str, tmp_path: Path) -> Iterator[Endpoint]:
    """That server, asked politely, with answers of its own."""
    with asking(oxigraph, tmp_path / "kept") as endpoint:
        yield endpoint
