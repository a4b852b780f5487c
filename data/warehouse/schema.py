"""The schema of a database as SQL text: the tables that a caller lists, two tables of every database, and the views.

Every database has the tables `about`, with the version of the schema, and `origins`, with the provenance of scores.

A table of scores is called large if it has no primary key: it has a row for each prompt, up to tens of millions. The
provenance of its rows, the columns of `Score`, is mostly the same in a whole file, so `origins` stores the provenance
once. A view with the name of the table joins the rows with `origins`, so that a query sees all columns.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated

from swaymeter.data.digests import sha256
from swaymeter.data.records.row import Meaning, columns_of, table, table_of
from swaymeter.data.records.score import Score
from swaymeter.data.records.table import Column, Table
from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery, with_views

SHARED = columns_of(Score)
"""The columns of the provenance, which the rows of a file mostly share."""
_SHARED_NAMES = frozenset(c.name for c in SHARED)


@table("about", "this database")
class About:
    """The versions and the key of the database."""

    schema_version: Annotated[str, Meaning("digest of the database's tables and views")]
    swaymeter_version: Annotated[str, Meaning("version of the package that made the database")]
    key: Annotated[str, Meaning("digest of everything that the database was made from")]


@table("origins", "the provenance that rows of a file share", key=("origin_id",))
class Origin(Score):
    """The provenance of the scores of a file; a file whose scores come from two engines has two origins."""

    origin_id: Annotated[int, Meaning("number of the origin in this database")]
    file: Annotated[str, Meaning("path of the file in the workspace; the name ends in the digest of the content")]
    table: Annotated[str, Meaning("the table of the file")]
    rows: Annotated[int, Meaning("number of rows with this origin")]


ABOUT, ORIGINS = table_of(About), table_of(Origin)
SCORED = "scored"
"""The view with the number of scores of every measure."""
ORIGIN_ID = Column("origin_id", "BIGINT", "the origin of the score")


@dataclass(frozen=True)
class Schema:
    """The tables of a database, in order, and its views."""

    tables: Sequence[Table]

    @cached_property
    def by_name(self) -> Mapping[str, Table]:
        """The tables by their names, including `about` and `origins`."""
        return {table.name: table for table in (ABOUT, ORIGINS, *self.tables)}

    def statements(self) -> Iterator[str]:
        """Yield the statements that make the tables with comments, the views of large tables and the view `scored`."""
        for declared in self.by_name.values():
            yield from _table_statements(declared)
        yield self.scored

    def view_statements(self) -> Iterator[str]:
        """Yield the statements that make the views of large tables and the view `scored`, without comments."""
        yield from map(_view_statement, filter(is_large, self.by_name.values()))
        yield self.scored

    @property
    def views(self) -> list[NamedQuery]:
        """The named queries that are views."""
        return [query for query in NAMED_QUERIES.values() if query.is_view]

    def words_of(self, queries: Iterable[NamedQuery]) -> set[str]:
        """Return all words, such as names of tables, of the SQL of queries and of their views, in lower case."""
        words = set[str]().union(*(query.words for query in with_views(queries)))
        if SCORED in words:  # this view reads every table of scores
            words |= {table.name for table in self.tables if holds_scores(table)}
        return words

    @cached_property
    def version(self) -> str:
        """The digest of all tables, keys and views, in 12 hex digits."""
        return _version(tuple(self.tables), tuple(self.views))

    @property
    def scored(self) -> str:
        """The statement that makes the view `scored`: numbers of scores, by measure and provenance."""
        shared = ", ".join(quoted(c.name) for c in SHARED)
        parts = [f'SELECT "table" AS measure, {shared}, sum("rows")::BIGINT AS stored FROM origins GROUP BY ALL']
        small = [table.name for table in self.tables if holds_scores(table) and not is_large(table)]
        parts += [
            f"SELECT {literal(name)} AS measure, {shared}, count(*) AS stored FROM {quoted(name)} GROUP BY ALL"
            for name in small
        ]
        return f"CREATE VIEW {SCORED} AS {' UNION ALL '.join(parts)}"


@cache
def _version(tables: tuple[Table, ...], views: tuple[NamedQuery, ...]) -> str:
    return sha256("\n".join([*Schema(tables).statements(), *(query.sql for query in views)]))[:12]


def holds_scores(table: Table) -> bool:
    """Return True if the rows of a table have the columns of a score's provenance."""
    return _SHARED_NAMES.issubset(c.name for c in table.columns)


def is_large(table: Table) -> bool:
    """Return True if a table has a row for each prompt; the shared columns of its rows are stored in `origins`."""
    return holds_scores(table) and not table.key


def rows_table(table: Table) -> str:
    """Return the name of the table into which the rows are loaded; a large table has the ending _rows."""
    return f"{table.name}_rows" if is_large(table) else table.name


def row_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns whose values are stored in each row: all columns, or for a large table all but `SHARED`."""
    return tuple(c for c in table.columns if c.name not in _SHARED_NAMES) if is_large(table) else table.columns


def stored_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns of the table into which the rows are loaded; a large table also has a column origin_id."""
    return (*row_columns(table), *([ORIGIN_ID] * is_large(table)))


def _table_statements(table: Table) -> Iterator[str]:
    columns = [f"{quoted(c.name)} {c.type}{'' if c.nullable else ' NOT NULL'}" for c in stored_columns(table)]
    if table.key:
        columns.append(f"PRIMARY KEY ({', '.join(map(quoted, table.key))})")
    yield f"CREATE TABLE {quoted(rows_table(table))} ({', '.join(columns)})"
    kind, name = ("VIEW" if is_large(table) else "TABLE"), quoted(table.name)
    if is_large(table):
        yield _view_statement(table)
    yield f"COMMENT ON {kind} {name} IS {literal(f'A row is {table.row}.')}"
    for c in table.columns:
        meaning = f"{c.meaning} ({c.unit})" if c.unit else c.meaning
        yield f"COMMENT ON COLUMN {name}.{quoted(c.name)} IS {literal(meaning)}"


def _view_statement(table: Table) -> str:
    names, rows = ", ".join(quoted(c.name) for c in table.columns), quoted(rows_table(table))
    return f"CREATE VIEW {quoted(table.name)} AS SELECT {names} FROM {rows} JOIN origins USING (origin_id)"


def quoted(name: str) -> str:
    """Return the name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return the text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
