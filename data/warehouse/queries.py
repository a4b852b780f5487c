"""Named queries: SQL texts with names, bundled in this package or added by extensions.

A text opens with comment lines. Their first sentence describes the result. The line `-- view` makes the query a view of
the database. A line such as `-- needs: contexts, queries` names tables and views; the result is empty if any of these
is empty. A line such as `-- unit: persuasion = nats` names the unit of a computed column.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

from swaymeter.data.digests import content_key
from swaymeter.data.named import Registry

_UNIT = re.compile(r"^-- unit: (\w+) = (.+)$", re.MULTILINE)
_NEEDS = re.compile(r"^-- needs: (.+)$", re.MULTILINE)
_VIEW = re.compile(r"^-- view$", re.MULTILINE)
_COMMENT = re.compile(r"^--.*$", re.MULTILINE)


@dataclass(frozen=True)
class NamedQuery:
    """An SQL query with a name. Other queries can read a view by this name.

    Attributes:
        name: the name of the query, and of its view.
        sql: the text, with its comments.
        is_view: True if the database has the query as a view.

    Raises:
        TypeError: the name has capitals, which SQL ignores.
    """

    name: str
    sql: str
    is_view: bool = False

    def __post_init__(self) -> None:
        if self.name != self.name.lower():
            raise TypeError(f"named query {self.name}: write its name in lower case")

    @classmethod
    def from_text(cls, name: str, sql: str) -> "NamedQuery":
        """Return the query of an SQL text; with the comment line `-- view`, the query is a view."""
        return cls(name, sql, _VIEW.search(sql) is not None)

    @property
    def sentence(self) -> str:
        """The description of the result: the first sentence of the comments."""
        lines = [line.removeprefix("--").strip() for line in self.sql.splitlines() if line.startswith("--")]
        length = next((number for number, line in enumerate(lines, 1) if line.endswith((".", "?"))), 1)
        return " ".join(lines[:length])

    @property
    def units(self) -> dict[str, str]:
        """The units that the comments declare, by column."""
        return {column: unit.strip() for column, unit in _UNIT.findall(self.sql)}

    @cached_property
    def needs(self) -> frozenset[str]:
        """The tables and views that the comments declare as needed."""
        return frozenset(name.strip() for names in _NEEDS.findall(self.sql) for name in names.split(","))

    @cached_property
    def words(self) -> set[str]:
        """The words of the text without its comments, in lower case, because SQL ignores the case of names."""
        return {*re.findall(r"\w+", _COMMENT.sub("", self.sql).lower())}


def _bundled() -> list[NamedQuery]:
    files = (file for file in resources.files("swaymeter.data.warehouse.sql").iterdir() if file.name.endswith(".sql"))
    texts = {file.name.removesuffix(".sql"): file.read_text(encoding="utf-8") for file in files}
    return [NamedQuery.from_text(name, texts[name]) for name in sorted(texts)]


NAMED_QUERIES: Registry[NamedQuery] = Registry("query", _bundled())
"""The named queries: the files of data/warehouse/sql, and queries of extensions."""


def with_views(queries: Iterable[NamedQuery]) -> list[NamedQuery]:
    """Return the queries and every view that they read, directly or through other views, each once."""
    by_name, pending = dict[str, NamedQuery](), [*queries]
    views = {query.name: query for query in NAMED_QUERIES.values() if query.is_view}
    while pending:
        query = pending.pop()
        by_name[query.name] = query
        pending += [view for name, view in views.items() if name in query.words and name not in by_name]
    return [*by_name.values()]


def needed_tables(query: NamedQuery) -> set[str]:
    """Return the tables that a query needs, directly or through the views that it needs."""
    views = {name for name in query.needs if name in NAMED_QUERIES and NAMED_QUERIES[name].is_view}
    return set(query.needs - views).union(*(needed_tables(NAMED_QUERIES[view]) for view in views))


def queries_digest(names: Iterable[str]) -> str:
    """Return the digest of named queries: their names, their texts, and the texts of the views that they read."""
    queries = [NAMED_QUERIES[name] for name in names]
    texts = {query.name: query.sql for query in with_views(queries)}
    return content_key({"queries": sorted(query.name for query in queries), "texts": texts})
