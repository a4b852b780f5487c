"""Small graphs and stores that spoil their answers, for tests that work out by hand what must come of them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from swaymeter.data.records import Fact
from swaymeter.data.sources.graph import yago
from swaymeter.data.sources.graph.dump import Dump, shared_dump
from swaymeter.data.sources.graph.sparql import Row, Rows, SparqlStore
from tests.data.sources.graph.turtle import HEAD
from tests.data.sources.graph.yago_graph import relation_named

ALL = 10_000
"""More pairs than any graph of the tests has."""


class Changed:
    """A store whose answers are changed on their way; `change` may also raise. queries: what it was asked."""

    def __init__(self, store: SparqlStore, change: Callable[[str, tuple[Row, ...]], tuple[Row, ...]]) -> None:
        self._store, self._change = store, change
        self.queries: list[str] = []

    @property
    def address(self) -> str:
        return self._store.address

    def select(self, query: str) -> Rows:
        self.queries.append(query)
        rows = self._store.select(query)
        return replace(rows, rows=self._change(query, rows.rows))


def graph(folder: Path, text: str) -> Dump:
    file = folder / "graph.ttl"
    file.write_text(HEAD + text, encoding="utf-8")
    return shared_dump([file], folder / "graphs")


def by_subject(store: SparqlStore, relation: str, *, seed: int = 1) -> dict[str, Fact]:
    return {fact.subject: fact for fact in yago.facts(store, relation_named(relation), pairs=ALL, seed=seed).facts}


def said(facts: list[Fact]) -> list[Fact]:
    return [replace(fact, address=None, query=None, retrieved_at=None) for fact in facts]
