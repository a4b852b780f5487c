"""A graph with YAGO's predicates: a few real countries and mountains, and invented countries, people and works.

The graph has names, shapes and values that a client may handle wrongly.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import yaml

from swaymeter.data.sources.graph.dump import Dump, shared_dump
from swaymeter.data.sources.graph.sparql import Row, Rows, SparqlStore

GRAPH = Path(__file__).with_name("yago.ttl")
HEAD = "".join(f"{line}\n" for line in GRAPH.read_text(encoding="utf-8").splitlines() if line.startswith("@prefix"))
"""The prefixes of the graph."""

_LISTS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
RELATIONS: Sequence[str] = _LISTS["relations"]
NASTY_NAMES: Mapping[str, str] = _LISTS["names"]


class Changed:
    """A store that changes the rows of another store; `change` may also raise an error.

    Attributes:
        queries: Queries in order of arrival.
    """

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
