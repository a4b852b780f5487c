"""A graph with YAGO's predicates: a few real countries and mountains, and invented countries, people and works.

The graph has names, shapes and values that a client may handle wrongly.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from swaymeter.data.sources.graph.dump import Dump, shared_dump
from swaymeter.data.sources.graph.sparql import Row, Rows, SparqlStore

GRAPH = Path(__file__).with_name("yago.ttl")
HEAD = "".join(f"{line}\n" for line in GRAPH.read_text(encoding="utf-8").splitlines() if line.startswith("@prefix"))
"""The prefixes of the graph."""

RELATIONS = (
    "capital",
    "officialLanguage",
    "location",
    "elevation",
    "birthDate",
    "spouse",
    "memberOf",
    "award",
    "director",
    "author",
    "reverseDirector",
    "reverseAuthor",
)
"""The relations that the graph has facts of, by their names in the catalog."""

NASTY: Mapping[str, str] = {
    "quotes": 'Kit "Ace" O\'Neil',
    "braces": "{entity} {answer} {0} %s ${HOME}",
    "lines": "Line\nBreak\r\n\tTab",
    "backslashes": 'Back\\slash \\u0022 } "\\',
    "markup": "<b>Bold</b> &amp; <script>alert(1)</script>",
    "arabic": "فريدة الخيال",
    "hebrew": "דמיון בן דוגמה",
    "override": "Over\u202eride\u202c the\u200b Rainbow",
    "path": "../../etc/passwd",
    "drive": "C:\\Windows\\system32",
    "decomposed": "Ame\u0301lie Dupre\u0301",
    "control": "Be\u0007ll",
    "statement": "Robert'); DROP TABLE facts;--",
    "emoji": "Zoë 🎭 Example",
    "slot": "[ENTITY]",
}
"""Names in the graph, which `swaymeter.data.sources.graph.literals.plain` cleans."""


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
