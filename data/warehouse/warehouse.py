"""What a database answers: named queries, as frames whose columns have units."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from uuid import uuid4

import duckdb
import pandas as pd
import pyarrow as pa

from swaymeter.data.errors import DamagedFile, InputError, WorkspaceBusy, WorkspaceError, first_line
from swaymeter.data.records.table import Table
from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery
from swaymeter.data.warehouse.schema import ABOUT, SCORED, Schema, is_large, literal, quoted
from swaymeter.data.warehouse.sources import checked_footer, only_finite, selected

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",  # read and made offline: what is not there must not be fetched
    "memory_limit": "1GB",  # more spills to the disk
    "preserve_insertion_order": "false",  # costs memory, and every query says its order
}


_MADE = (
    "SELECT table_name, sql FROM duckdb_tables() "
    "UNION ALL SELECT view_name, sql FROM duckdb_views() WHERE NOT internal "
    "UNION ALL SELECT function_name, macro_definition FROM duckdb_functions() WHERE NOT internal"
)
"""What a database holds that is run, or computed, when a query reads it."""


class Units(dict[str, str]):
    """Units by column. Nobody changes them, so that frames share them: pandas copies attributes deeply all the time."""

    def __deepcopy__(self, memo: object) -> "Units":
        """The units themselves."""
        return self


class Warehouse:
    """A database that is open for reading."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, schema: Schema, answers: Mapping[str, pa.Table] | None = None
    ) -> None:
        """A database on an open connection; answers: rows of queries, by name, that may come to be known later."""
        self._connection = connection
        self._schema = schema
        self._answers = {} if answers is None else answers

    def frame(self, name: str) -> pd.DataFrame:
        """The answer to a named query; `attrs["units"]` has the unit of every column that has one.

        Column types follow from the table, not from whether a NULL happens to be there: BIGINT is Int64, BOOLEAN is
        boolean, VARCHAR is str, DOUBLE is float64. NULL is pd.NA in the first two and NaN in the others; a NaN is
        never a score, for none can be loaded.

        Raises:
            UnknownName: no query has that name.
            InputError: a score of a file that is read in place is not finite.
        """
        return self.answer(NAMED_QUERIES[name])

    def answer(self, query: NamedQuery) -> pd.DataFrame:
        """The answer to a query, as `frame` gives that of a named one, with its errors."""
        rows = self._answers[query.name] if query.name in self._answers else self.rows(query)
        types = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
        answer: pd.DataFrame = rows.to_pandas(types_mapper=types.get)
        units = self._units(query)
        answer.attrs["units"] = Units({column: units[column] for column in answer.columns if column in units})
        return answer

    def rows(self, query: NamedQuery) -> pa.Table:
        """The rows that a query gives; InputError where a file that is read in place has a score that is not finite."""
        with _named(query), only_finite():
            return self._connection.sql(query.sql).to_arrow_table()

    def export(self, table: Table, path: Path) -> int:
        """Writes a table's rows to a Parquet file, and gives how many there are; none writes no file.

        They are sorted, but for a row a prompt, where that would take four times as long.
        """
        name, columns = quoted(table.name), ", ".join(quoted(c.name) for c in table.columns)
        ((count,),) = self._connection.execute(f"SELECT count(*) FROM {name}").fetchall()
        if count:
            order = "" if is_large(table) else f" ORDER BY {', '.join(map(quoted, table.key)) or 'ALL'}"
            rows = f"SELECT {columns} FROM {name}{order}"
            self._connection.execute(f"COPY ({rows}) TO {literal(str(path))} (FORMAT parquet, COMPRESSION zstd)")
        return int(count)

    def tables(self, query: NamedQuery) -> tuple[set[str], set[str]]:
        """The tables that a query reads, also by views, for certain; and those that it may: its own parts hide some."""
        names = self._tables_of(query)
        may = names & self._schema.by_name.keys()
        reads = may - {*re.findall(r'"key":"(\w+)","value":{"aliases"', self._tree(query).lower())}
        for view in self._schema.views:
            if view.name in names:
                for all_of, of_view in zip((reads, may), self.tables(view), strict=True):
                    all_of |= of_view
        return reads, may

    def _units(self, query: NamedQuery) -> dict[str, str]:
        """The units of the columns that the query reads, by name, but of those that differ; and those it declares."""
        units_of: dict[str, set[str]] = {}
        for name in self._tables_of(query):
            if table := self._schema.by_name.get(name):
                column_units = {column.name: column.unit for column in table.columns}
            else:
                view = NAMED_QUERIES.get(name)
                column_units = self._units(view) if view else {}
            for column, unit in column_units.items():
                units_of.setdefault(column, set()).add(unit)
        passed = {column: units.pop() for column, units in units_of.items() if len(units) == 1}
        return {column: unit for column, unit in {**passed, **query.units}.items() if unit}

    def _tables_of(self, query: NamedQuery) -> set[str]:
        """The tables and views that a query names."""
        return {*re.findall(r'"table_name":"(\w+)"', self._tree(query).lower())}

    def _tree(self, query: NamedQuery) -> str:
        """The syntax tree of a query, as JSON."""
        ((tree,),) = self._connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [query.sql]).fetchall()
        return str(tree)


@contextmanager
def _named(query: NamedQuery) -> Iterator[None]:
    """Names the query whose SQL is wrong."""
    try:
        yield
    except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as error:
        raise InputError(f"named query {query.name} is not valid SQL: {first_line(error)}") from error


@contextmanager
def over(
    files: Mapping[Table, Sequence[Path]],
    tables: Sequence[Table],
    queries: Iterable[NamedQuery],
    answers: Mapping[str, pa.Table] | None = None,
) -> Iterator[Warehouse]:
    """Verified Parquet files, read in place: named queries can be asked before there is a database.

    Args:
        files: the files of each table.
        tables: every table that a query may read; one without files is empty.
        queries: those that will be asked. Tables and views that none of them names are not there: a view takes longer
            to make than most take to be answered.
        answers: rows of queries that are known, by name.

    Raises:
        DamagedFile: a file cannot be read, or holds another table.
        InputError: a column has NULL that may have none.
    """
    schema = Schema(tables)
    named = schema.named_in(queries)
    # DuckDB makes the folder when it needs one, and removes it: a run that is killed leaves none behind.
    spilled = Path(gettempdir(), f"swaymeter-{uuid4().hex}")
    connection = duckdb.connect(config={**CONFIG, "temp_directory": str(spilled)})
    try:
        for table in tables:
            if table.name not in named:
                continue
            paths = files.get(table, ())
            for path in paths:
                checked_footer(table, path)
            connection.execute(f"CREATE VIEW {quoted(table.name)} AS {selected(table, paths, table.columns)}")
        if SCORED in named:
            connection.execute(schema.scored(tables, origins=False))
        create_views(connection, [view for view in schema.views if view.name in named])
        yield Warehouse(connection, schema, answers)
    finally:
        connection.close()


@contextmanager
def opened(path: Path, tables: Sequence[Table], *, of_others: bool = False) -> Iterator[Warehouse]:
    """The database at `path`, for reading.

    of_others: whether anybody may have written it. Then nothing of it is run: its tables, views and functions have to
    be those that we make, and no query reads another file.

    Raises:
        WorkspaceError: there is none, or one of another schema.
        WorkspaceBusy: a program has it open for writing.
        DamagedFile: it cannot be read.
    """
    if not path.exists():
        raise WorkspaceError(f"there is no database {path}; run `swaymeter aggregate` with the study's file")
    try:
        connection = duckdb.connect(path, read_only=True, config=CONFIG)
    except duckdb.Error as error:
        reason = first_line(error)
        if "Could not set lock" in reason or isinstance(error, duckdb.ConnectionException):
            raise WorkspaceBusy(f"another program has {path} open for writing; close it and try again") from None
        raise DamagedFile(f"{path} cannot be read ({reason}); it is made again by the next run") from None
    try:
        schema = Schema(tables)
        refused = _not_ours(connection, schema) if of_others else []  # nothing of theirs has been read by then
        if (ABOUT.name not in refused) and not is_of(schema, connection):
            raise WorkspaceError(f"{path} was made by another version; run `swaymeter aggregate` with the study's file")
        if refused:
            raise WorkspaceError(
                f"{path} has not the tables and views that Swaymeter makes ({', '.join(map(repr, refused[:3]))}); it "
                "may do harm: have its study's Parquet files sent, and run `swaymeter aggregate` with the study's file"
            )
        yield Warehouse(connection, schema)
    except (duckdb.ProgrammingError, duckdb.OutOfMemoryException):
        raise
    except duckdb.Error as error:
        raise DamagedFile(f"{path} cannot be read ({first_line(error)}); it is made again by the next run") from None
    finally:
        connection.close()


def _not_ours(connection: duckdb.DuckDBPyConnection, schema: Schema) -> list[str]:
    """The names of what is not as we make it; from now on no query reads another file."""
    connection.execute("SET enable_external_access = false; SET lock_configuration = true")
    theirs = {*connection.execute(_MADE).fetchall()}
    with duckdb.connect(config=CONFIG) as empty:
        for statement in schema.statements():
            empty.execute(statement)
        create_views(empty, schema.views)
        ours = {*empty.execute(_MADE).fetchall()}
    return sorted({name for name, _ in theirs ^ ours})


def is_of(schema: Schema, connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether an open database has this schema."""
    try:
        return connection.execute("SELECT schema_version FROM about").fetchall() == [(schema.version,)]
    except duckdb.Error:
        return False


def create_views(connection: duckdb.DuckDBPyConnection, views: Sequence[NamedQuery]) -> None:
    """Creates those of the views whose tables are there, a view that reads another one after it."""
    waiting = views
    while waiting:
        left = []
        for query in waiting:
            try:
                connection.execute(f"CREATE VIEW {quoted(query.name)} AS {query.sql}")
                connection.execute(f"COMMENT ON VIEW {quoted(query.name)} IS {literal(query.sentence)}")
            except duckdb.CatalogException:
                left.append(query)
            except (duckdb.BinderException, duckdb.ParserException) as error:
                raise InputError(
                    f"the view {query.name} is not valid SQL: {first_line(error)}; correct its text"
                ) from None
        if len(left) == len(waiting):
            return
        waiting = left
