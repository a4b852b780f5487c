"""A SPARQL service with the graph of `yago_graph` in memory, and endpoints that query a service."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyoxigraph as ox

from swaymeter.data.sources.graph.sparql import RESULTS, Endpoint
from tests.data.sources.graph.yago_graph import GRAPH
from tests.data.sources.servers.faults import ServedRequest, ServedResponse
from tests.data.sources.sessions import session_at

FORM = "application/x-www-form-urlencoded"


class SparqlService:
    """A service that answers SELECT queries in posted forms.

    An answer of more than `max_rows` rows is cut short, as by a service that runs out of time.

    Attributes:
        cut: Queries whose answers were cut short.
    """

    def __init__(self, max_rows: int = 1_000_000) -> None:
        self._store, self._max_rows = ox.Store(), max_rows
        self._store.bulk_load(path=str(GRAPH), format=ox.RdfFormat.TURTLE)
        self.cut: list[str] = []

    def __call__(self, request: ServedRequest) -> ServedResponse:
        if (request.headers["accept"], request.headers["content-type"]) != (RESULTS, FORM):
            return ServedResponse(b"a form is expected, and that JSON is accepted", status=406)
        solutions = self._store.query(request.form["query"])
        assert isinstance(solutions, ox.QuerySolutions)
        body = solutions.serialize(format=ox.QueryResultsFormat.JSON)
        assert body is not None
        response = ServedResponse(body, headers={"Content-Type": RESULTS})
        if len(json.loads(body)["results"]["bindings"]) <= self._max_rows:
            return response
        self.cut.append(request.form["query"])
        return replace(response, body=body[: len(body) // 2])


@contextmanager
def endpoint_at(address: str, folder: Path) -> Iterator[Endpoint]:
    """Yield an endpoint without waits between queries; the folder is for cached responses."""
    with session_at(address, folder, name="YAGO") as session:
        yield Endpoint(session)
