"""What a database answers: named queries, as frames whose columns have units."""

import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import gettempdir
from uuid import uuid4

import duckdb
import pandas as pd
import pyarrow as pa

from swaymeter.data.errors import DamagedFile, InputError, WorkspaceBusy, WorkspaceError, first_line
from swaymeter.data.records.table import Table
from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery
from swaymeter.data.warehouse.schema import SCORED, Schema, is_large, literal, quoted
from swaymeter.data.warehouse.sources import checked_footer, only_finite, selected

CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",  # read and made offline: what is not there must not be fetched
    "autoload_known_extensions": "false",  # no file decides what code is loaded
    "memory_limit": "1GB",  # more spills to the disk
    "preserve_insertion_order": "false",  # costs memory, and every query says its order
}


_STORED = "stored"
"""What the database of a file is called beside the one in memory."""
_KINDS = {
    "table": "table_name, sql", "view": "view_name, sql", "function": "function_name, macro_definition",
    "index": "index_name, sql", "sequence": "sequence_name, sql", "type": "type_name, type_size::VARCHAR",
    "trigger": "trigger_name, sql", "schema": "'', sql",
}  # fmt: skip
_CATALOG = " UNION ALL ".join(
    f"SELECT '{kind}', schema_name, {columns} FROM duckdb_{kind}{'es' if kind == 'index' else 's'}() "
    f"WHERE database_name = {{0}}" + ("" if kind in ("table", "index", "sequence", "trigger") else " AND NOT internal")
    for kind, columns in _KINDS.items()
)
"""What a database holds that is run, or computed, when it is used."""
_EXCLUDED = re.compile(r"EXCLUDE \(([^()]*)\)")


@dataclass(frozen=True)
class Limits:
    """What a query of a database of others may take: such a database may be small and hold rows without end."""

    seconds: float = 600.0
    megabytes: int = 4_000

    def rows(self, connection: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
        """The rows that a query gives; WorkspaceError where it takes more."""
        expired = threading.Event()

        def interrupt() -> None:
            expired.set()
            connection.interrupt()

        timer = threading.Timer(self.seconds, interrupt)
        timer.start()
        try:
            reader, batches, size = connection.sql(sql).to_arrow_reader(), list[pa.RecordBatch](), 0
            for batch in reader:
                batches.append(batch)
                size += batch.nbytes
                if size > self.megabytes * 1_000_000:
                    raise WorkspaceError(f"a query gives more than {self.megabytes:,} MB of rows; {_SMALLER}")
            return pa.Table.from_batches(batches, reader.schema)
        except duckdb.OutOfMemoryException:
            raise WorkspaceError(f"a query needs more than {self.megabytes:,} MB; {_SMALLER}") from None
        except (duckdb.Error, pa.ArrowException):
            if not expired.is_set():
                raise
            raise WorkspaceError(f"a query takes more than {self.seconds:g} s; {_SMALLER}") from None
        finally:
            timer.cancel()


_SMALLER = "the database may be made to do harm: ask its sender for the study's file, and run that"


class Units(dict[str, str]):
    """Units by column. Nobody changes them, so that frames share them: pandas copies attributes deeply all the time."""

    def __deepcopy__(self, memo: object) -> "Units":
        """The units themselves."""
        return self


class Warehouse:
    """A database that is open for reading."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, schema: Schema, answers: Mapping[str, pa.Table] | None = None,
        limits: Limits | None = None, *, views: Iterable[NamedQuery] = (),
    ) -> None:  # fmt: skip
        """A database on an open connection.

        answers: rows of queries, by name, that may come to be known later. views: those that are made when a query
        names them, as a view takes longer to make than most take to be answered.
        """
        self._connection = connection
        self._schema = schema
        self._limits = limits
        self._answers = {} if answers is None else answers
        self._views = {view.name: view for view in views}

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
        if named := self._schema.named_in([query]) & self._views.keys():
            create_views(self._connection, [self._views.pop(name) for name in sorted(named)])
        with _named(query), only_finite():
            if self._limits:
                return self._limits.rows(self._connection, query.sql)
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
        queries: those that will be asked. Tables and views that none of them names are not there.
        answers: rows of queries that are known, by name.

    Raises:
        DamagedFile: a file cannot be read, or holds another table.
        InputError: a column has NULL that may have none.
    """
    schema = Schema(tables)
    named = schema.named_in(queries)
    with _in_memory() as connection:
        for table in tables:
            if table.name not in named:
                continue
            paths = files.get(table, ())
            for path in paths:
                checked_footer(table, path)
            connection.execute(f"CREATE VIEW {quoted(table.name)} AS {selected(table, paths, table.columns)}")
        if SCORED in named:
            connection.execute(schema.scored(tables, origins=False))
        yield Warehouse(connection, schema, answers, views=schema.views)


@contextmanager
def opened(
    path: Path, tables: Sequence[Table], *, limits: Limits | None = None, exports: Path | None = None
) -> Iterator[Warehouse]:
    """The database at `path`, for reading.

    Anybody may have written it, and a digest that fits it. So nothing that it holds is run: its tables have to be those
    that we make, its views and functions are not looked at, since ours lie in memory, and no query reads another file.

    limits: of each query, for a database of others. exports: the folder that tables may be exported into.

    Raises:
        WorkspaceError: there is none, or one of another schema; or a query takes more than the limits.
        WorkspaceBusy: a program has it open for writing.
        DamagedFile: it cannot be read.
    """
    schema = Schema(tables)
    with _in_memory() as connection:
        _attach(connection, path)
        if limits:
            connection.execute(f"SET max_temp_directory_size = '{limits.megabytes}MB'")
        if exports:
            connection.execute(f"SET allowed_directories = [{literal(str(exports.resolve()))}]")
        connection.execute("SET enable_external_access = false; SET lock_configuration = true")
        try:
            _create_over(connection, schema, path)
            yield Warehouse(connection, schema, limits=limits, views=schema.views)
        except (duckdb.ProgrammingError, duckdb.OutOfMemoryException):
            raise
        except duckdb.Error as error:
            raise DamagedFile(
                f"{path} cannot be read ({first_line(error)}); it is made again by the next run"
            ) from None


@contextmanager
def _in_memory() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory, beside which files are read."""
    # DuckDB makes the folder when it needs one, and removes it: a run that is killed leaves none behind.
    spilled = Path(gettempdir(), f"swaymeter-{uuid4().hex}")
    with duckdb.connect(config={**CONFIG, "temp_directory": str(spilled)}) as connection:
        yield connection


def _attach(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Attaches a database file for reading, as `_STORED`: no name is looked up in it unless it is asked for there."""
    log, again = path.with_name(f"{path.name}.wal"), "run `swaymeter aggregate` with the study's file"
    if not os.path.lexists(path):
        raise WorkspaceError(f"there is no database {path}; {again}")
    for file in (path, log) if os.path.lexists(log) else (path,):
        if not file.is_file():  # opening a pipe would wait for ever
            raise WorkspaceError(f"{file} is not a file; remove it, and {again}")
    try:
        connection.execute(f"ATTACH {literal(str(path.absolute()))} AS {_STORED} (TYPE duckdb, READ_ONLY)")
    except duckdb.Error as error:
        reason = first_line(error)
        if "Could not set lock" in reason or isinstance(error, duckdb.ConnectionException):
            raise WorkspaceBusy(f"another program has {path} open for writing; close it and try again") from None
        raise DamagedFile(f"{path} cannot be read ({reason}); it is made again by the next run") from None
    if log.exists():
        raise WorkspaceError(f"{log} holds changes of another program to the database; remove it, and {again}")


def _create_over(connection: duckdb.DuckDBPyConnection, schema: Schema, path: Path) -> None:
    """Creates our views over the attached database; WorkspaceError where its tables are not as we make them.

    The tables of measures that only another command of this version knows are left alone, those of measures that only
    this one knows are empty.
    """
    made, stored = _made(schema), catalog(connection, _STORED)
    ours = [name for name in made if name[0] == "table"]
    for _, of_schema, table in (name for name in ours if stored.get(name) == made[name]):
        rows = ".".join(map(quoted, (_STORED, of_schema, table)))
        connection.execute(f"CREATE VIEW {quoted(table)} AS FROM {rows}")
    changed = [name[-1] for name in ours if stored.get(name) != made[name]]
    lacking = set[str]()
    if not is_of(schema, connection):
        lacking = {name[-1] for name in ours if name not in stored}  # of measures that an own command adds here
        if not (lacking.issuperset(changed) and _is_of_this_version(connection)):
            raise WorkspaceError(f"{path} was made by another version; run `swaymeter aggregate` with the study's file")
    if refused := [name for name in changed if name not in lacking]:
        raise WorkspaceError(
            f"{path} has not the tables that Swaymeter makes ({', '.join(map(repr, refused[:3]))}); it may do harm: "
            "have its study's Parquet files sent, and run `swaymeter aggregate` with the study's file"
        )
    created = ("CREATE VIEW", *(f"CREATE TABLE {quoted(name)} " for name in lacking))
    for statement in schema.definitions():
        if statement.startswith(created):
            connection.execute(statement)


def is_only_ours(path: Path, schema: Schema) -> bool:
    """Whether a database holds what we make, and nothing else that a statement on it could run."""
    with _in_memory() as connection:
        with suppress(DamagedFile, WorkspaceError):
            _attach(connection, path)
        return catalog(connection, _STORED) == _made(schema)


def catalog(connection: duckdb.DuckDBPyConnection, database: str) -> dict[tuple[str, str, str], str]:
    """What a database holds that is run, or computed, when it is used: its text, by kind, schema and name."""
    rows = connection.execute(_CATALOG.format(literal(database))).fetchall()
    return {(kind, schema, name): _EXCLUDED.sub(_sorted, str(sql)) for kind, schema, name, sql in rows}


def _sorted(excluded: re.Match[str]) -> str:
    """The columns that a view leaves out, in one order: DuckDB writes them in any."""
    return f"EXCLUDE ({', '.join(sorted(excluded[1].split(', ')))})"


_CATALOGS: dict[str, Mapping[tuple[str, str, str], str]] = {}


def _made(schema: Schema) -> Mapping[tuple[str, str, str], str]:
    """The catalog of a database of this schema, as we make it: once for each version, as that takes long."""
    if schema.version not in _CATALOGS:
        with duckdb.connect(config=CONFIG) as empty:
            for statement in schema.definitions():
                empty.execute(statement)
            create_views(empty, schema.views)
            _CATALOGS[schema.version] = catalog(empty, "memory")
    return _CATALOGS[schema.version]


def is_of(schema: Schema, connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether an open database has this schema."""
    try:
        return connection.execute("SELECT schema_version FROM about").fetchall() == [(schema.version,)]
    except duckdb.Error:
        return False


def _is_of_this_version(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether this version of the package made an open database."""
    try:
        return connection.execute("SELECT swaymeter_version FROM about").fetchall() == [(version("swaymeter"),)]
    except duckdb.Error:
        return False


def create_views(
    connection: duckdb.DuckDBPyConnection, views: Sequence[NamedQuery], *, described: bool = False
) -> None:
    """Creates those of the views whose tables are there, a view that reads another one after it.

    described: whether their sentences are comments in the database, which takes as long again.
    """
    waiting = views
    while waiting:
        left = []
        for query in waiting:
            try:
                connection.execute(f"CREATE VIEW {quoted(query.name)} AS {query.sql}")
                if described:
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
