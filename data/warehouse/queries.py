"""Named queries: SQL texts that are named after what they return, those of this package and those of extensions.

A text opens with comment lines. The first says what the query returns; `-- view` makes it a view of the database, too;
`-- unit: <column> = <unit>` gives the unit of a column that the query computes.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

from swaymeter.data.digests import content_key
from swaymeter.data.named import Registry

_UNIT = re.compile(r"^-- unit: (\w+) = (.+)$", re.MULTILINE)
_VIEW = re.compile(r"^-- view$", re.MULTILINE)


@dataclass(frozen=True)
class NamedQuery:
    """A query that is asked by its name; a view can be asked by other queries, too.

    TypeError for a name with capitals: SQL does not tell it from the same in lower case.
    """

    name: str
    sql: str
    view: bool = False

    def __post_init__(self) -> None:
        if self.name != self.name.lower():
            raise TypeError(f"named query {self.name}: write its name in lower case")

    @classmethod
    def of_text(cls, name: str, sql: str) -> "NamedQuery":
        """The query of an SQL text, which says in its comments whether it is a view."""
        return cls(name, sql, _VIEW.search(sql) is not None)

    @property
    def sentence(self) -> str:
        """What it returns: its first comment lines, to the first that ends a sentence."""
        lines = [line.removeprefix("--").strip() for line in self.sql.splitlines() if line.startswith("--")]
        ends = next((number for number, line in enumerate(lines, 1) if line.endswith((".", "?"))), 1)
        return " ".join(lines[:ends])

    @property
    def units(self) -> dict[str, str]:
        """The units that its comments declare, by column."""
        return {column: unit.strip() for column, unit in _UNIT.findall(self.sql)}

    @cached_property
    def words(self) -> set[str]:
        """The words of its text, in lower case, as SQL compares names."""
        return {*re.findall(r"\w+", self.sql.lower())}


def _bundled() -> list[NamedQuery]:
    files = (file for file in resources.files("swaymeter.data.warehouse.sql").iterdir() if file.name.endswith(".sql"))
    texts = {file.name.removesuffix(".sql"): file.read_text(encoding="utf-8") for file in files}
    return [NamedQuery.of_text(name, texts[name]) for name in sorted(texts)]


NAMED_QUERIES: Registry[NamedQuery] = Registry("query", _bundled())
"""The named queries: the files of data/warehouse/sql, and what extensions add."""


def with_views(queries: Iterable[NamedQuery]) -> list[NamedQuery]:
    """The queries and every view that they read, also by other views; each once."""
    known, waiting = dict[str, NamedQuery](), [*queries]
    while waiting:
        query = waiting.pop()
        known[query.name] = query
        views = [view for view in NAMED_QUERIES.values() if view.view and view.name in query.words]
        waiting += [view for view in views if view.name not in known]
    return [*known.values()]


def queries_digest(names: Iterable[str]) -> str:
    """A digest of named queries: which they are, their texts, and those of the views that they read."""
    queries = [NAMED_QUERIES[name] for name in names]
    texts = {query.name: query.sql for query in with_views(queries)}
    return content_key({"queries": sorted(query.name for query in queries), "texts": texts})
