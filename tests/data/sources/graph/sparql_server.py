"""A SPARQL service on 127.0.0.1 over a graph in memory, and endpoints that ask one."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyoxigraph as ox

from swaymeter.data.sources.graph.sparql import RESULTS, Endpoint
from tests.data.sources.servers.faults import FaultServer, Say, ServedRequest, serving
from tests.data.sources.sessions import asking

FORM = "application/x-www-form-urlencoded"


class SparqlService:
    """Answers SELECT queries that are posted as a form; most: rows of an answer, longer ones are cut short.

    cut: the queries whose answers were cut, as a service that runs out of time does.
    """

    def __init__(self, turtle: Path, most: int = 1_000_000) -> None:
        self._store, self._most = ox.Store(), most
        self._store.bulk_load(path=str(turtle), format=ox.RdfFormat.TURTLE)
        self.cut: list[str] = []

    def __call__(self, asked: ServedRequest) -> Say:
        if (asked.headers["accept"], asked.headers["content-type"]) != (RESULTS, FORM):
            return Say(b"a form is expected, and that JSON is accepted", status=406)
        solutions = self._store.query(asked.form["query"])
        assert isinstance(solutions, ox.QuerySolutions)
        body = solutions.serialize(format=ox.QueryResultsFormat.JSON)
        assert body is not None
        say = Say(body, headers={"Content-Type": RESULTS})
        if len(json.loads(body)["results"]["bindings"]) <= self._most:
            return say
        self.cut.append(asked.form["query"])
        return replace(say, body=body[: len(body) // 2])


@contextmanager
def served(turtle: Path) -> Iterator[FaultServer]:
    """Serves a Turtle file."""
    with serving(play=SparqlService(turtle)) as server:
        yield server


@contextmanager
def endpoint_at(address: str, folder: Path) -> Iterator[Endpoint]:
    """An endpoint, asked as fast as it answers; the folder is for kept answers."""
    with asking(address, folder, name="YAGO") as session:
        yield Endpoint(session)
