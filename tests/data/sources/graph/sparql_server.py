"""A SPARQL service with the graph of `yago_graph` in memory, and endpoints that query a service."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pyoxigraph as ox

from swaymeter.data.sources.graph.sparql import RESULTS, Endpoint
from tests.data.sources.graph.yago_graph import GRAPH
from tests.data.sources.servers.faults import ServedRequest, ServedResponse
from tests.data.sources.sessions import session_at

FORM = "application/x-www-form-urlencoded"


@cache
def _store() -> ox.Store:
    store = ox.Store()
    store.bulk_load(path=str(GRAPH), format=ox.RdfFormat.TURTLE)
    return store


def answer_query(request: ServedRequest) -> ServedResponse:
    """Answer a SELECT query in a posted form."""
    if (request.headers["accept"], request.headers["content-type"]) != (RESULTS, FORM):
        return ServedResponse(b"send a form, and accept JSON", status=406)
    solutions = _store().query(request.form["query"])
    assert isinstance(solutions, ox.QuerySolutions)
    body = solutions.serialize(format=ox.QueryResultsFormat.JSON)
    assert body is not None
    return ServedResponse(body, headers={"Content-Type": RESULTS})


@contextmanager
def endpoint_at(address: str, folder: Path) -> Iterator[Endpoint]:
    """Yield an endpoint without waits between queries; the folder is for cached responses."""
    with session_at(address, folder, name="YAGO") as session:
        yield Endpoint(session)
