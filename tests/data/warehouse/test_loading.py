import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

from swaymeter.data.errors import DamagedFile, InputError, WorkspaceBusy, WorkspaceError
from swaymeter.data.records.table import Table
from swaymeter.data.records.tables import CONTEXTS, FACTS, QUERIES
from swaymeter.data.storage.files import write_parquet
from swaymeter.data.storage.writing import TEMPORARY
from swaymeter.data.warehouse.loading import build
from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery
from swaymeter.data.warehouse.warehouse import Limits, opened
from tests.data.warehouse.small_study import (
    ANSWERS,
    PERSUASION,
    SUSCEPTIBILITY,
    TABLES,
    row,
    small_study,
    warehouse_of,
    write_tables,
)
from tests.registries import added

FEW = (QUERIES, CONTEXTS, FACTS, SUSCEPTIBILITY, PERSUASION, ANSWERS)
"""Few tables, for databases that are built quickly."""


def write_rows(folder: Path, table: Table, rows: Sequence[Mapping[str, Any]], name: str = "one's") -> Path:
    """Write a Parquet file of unchecked rows; the apostrophe in its name must be quoted in SQL."""
    unchecked = pa.Table.from_pylist([dict(row) for row in rows], schema=table.schema)
    return write_parquet(folder, f"{name} {table.name}", unchecked, {"table": table.name})


def read_rows(database: Path, sql: str) -> list[Any]:
    with duckdb.connect(database, read_only=True) as connection:
        return connection.execute(sql).fetchall()


def read_key(database: Path) -> str:
    ((key,),) = read_rows(database, "SELECT key FROM about")
    return str(key)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "study's" / "study.duckdb"
    build(path, "empty", TABLES, {})
    return path


def test_loaded_rows_equal_the_stored_rows(database: Path, tmp_path: Path) -> None:
    rows = [row(ANSWERS, token_ids=[5, 6], token_log_probs=[-1.0, -2.0], sample=number) for number in (None, 3)]
    build(database, "key", FEW, {ANSWERS: [write_rows(tmp_path, ANSWERS, rows)]})
    with duckdb.connect(database, read_only=True) as connection:
        loaded = connection.sql("SELECT * FROM answers ORDER BY sample NULLS FIRST").to_arrow_table()
    assert loaded.to_pylist() == rows


def test_rows_of_one_file_keep_their_engines(database: Path, tmp_path: Path) -> None:
    rows = [row(PERSUASION, query_id=f"q{n}", engine=f"engine {n % 2}", stand_in=None if n else "x") for n in range(5)]
    build(database, "key", FEW, {PERSUASION: [write_rows(tmp_path, PERSUASION, rows)]})
    loaded = read_rows(database, "SELECT query_id, engine, stand_in FROM persuasion ORDER BY ALL")
    assert loaded == [(score["query_id"], score["engine"], score["stand_in"]) for score in rows]
    # the five rows have three pairs of engine and stand-in
    assert read_rows(database, 'SELECT sum("rows"), count(*) FROM origins') == [(5, 3)]


def test_database_has_only_rows_of_its_files(database: Path, tmp_path: Path) -> None:
    files = write_tables(tmp_path, small_study())
    persuasion = [{**score, "persuasion": 9.0} for score in small_study()["persuasion"]]
    susceptibility = [{**score, "susceptibility": 9.0} for score in small_study()["susceptibility"]]
    later = {
        **files,
        PERSUASION: [write_rows(tmp_path, PERSUASION, persuasion)],
        SUSCEPTIBILITY: [write_rows(tmp_path, SUSCEPTIBILITY, susceptibility)],
    }
    del later[ANSWERS]
    database.unlink()
    build(database, "first", TABLES, files)
    build(database, "second", TABLES, later)
    assert read_key(database) == "second"
    assert read_rows(database, "SELECT DISTINCT persuasion FROM persuasion") == [(9.0,)]
    new = tmp_path / "study's" / "new.duckdb"
    build(new, "second", TABLES, later)
    with opened(database, TABLES) as updated, opened(new, TABLES) as built:
        for name in ("overview", "persuasion_by_kind", "partition_summary", "stand_ins", "answers_to_read"):
            pd.testing.assert_frame_equal(updated.frame(name), built.frame(name))


@pytest.mark.parametrize(("tables", "tables_of_reader"), [(FEW[:-1], FEW), (FEW, FEW[:-1])])
def test_databases_are_readable_with_other_measures(
    tables: Sequence[Table], tables_of_reader: Sequence[Table], tmp_path: Path
) -> None:
    files = write_tables(tmp_path, small_study())
    database, database_of_reader = tmp_path / "own.duckdb", tmp_path / "reader.duckdb"
    build(database, "key", tables, {table: files[table] for table in files if table in tables})
    build(
        database_of_reader,
        "key",
        tables_of_reader,
        {table: files[table] for table in files if table in tables_of_reader},
    )
    with opened(database, tables_of_reader) as read, opened(database_of_reader, tables_of_reader) as expected:
        assert not read.frame("persuasion_by_kind").empty
        pd.testing.assert_frame_equal(read.frame("persuasion_by_kind"), expected.frame("persuasion_by_kind"))
    change(database, "UPDATE about SET swaymeter_version = 'another'")
    if tables is not FEW:  # the database lacks a table of the reader
        with pytest.raises(WorkspaceError, match="an earlier version"), opened(database, tables_of_reader):
            pass


REFUSED = {
    "CREATE VIEW more AS SELECT * FROM read_csv('/etc/passwd')": "the view 'more', which Swaymeter did not make",
    "DROP TABLE facts; CREATE VIEW facts AS SELECT * FROM range(1000000000000)": "the view 'facts'",
    "DROP TABLE about; CREATE VIEW about AS SELECT content AS key FROM read_text('/etc/passwd')": "the view 'about'",
    "CREATE MACRO greatest(a, b) AS (SELECT 0)": "the macro 'greatest', which Swaymeter did not make",
    "CREATE MACRO duckdb_views() AS TABLE FROM read_csv('/etc/passwd')": "the macro 'duckdb_views'",
    "CREATE TABLE more (n INTEGER, m INTEGER AS (n + 1))": "the computed column 'more.m'",
    "ALTER TABLE facts ALTER COLUMN subject SET DEFAULT 'x'": "the computed column 'facts.subject'",
    "ALTER TABLE facts DROP COLUMN licence": "was made by an earlier version",
}
"""Changes of a database by others, and how the error names each."""
NOT_RUN = [
    "CREATE OR REPLACE VIEW persuasion_by_kind AS SELECT * FROM read_csv('/etc/passwd')",
    "CREATE OR REPLACE VIEW persuasion AS SELECT count(*) FROM range(1000000000000) a, range(1000) b",
    "CREATE TYPE more AS ENUM ('a'); CREATE SEQUENCE of_numbers; CREATE SCHEMA further",
    "CREATE TABLE more (n INTEGER); ALTER TABLE facts ADD COLUMN more INTEGER",
]
"""Changes of a database by others, to parts that no command reads."""


def change(database: Path, sql: str) -> None:
    with duckdb.connect(database) as connection:
        connection.execute(sql)


@pytest.mark.parametrize("hostile", NOT_RUN)
def test_hostile_additions_are_not_run(hostile: str, database: Path) -> None:
    change(database, hostile)
    with opened(database, TABLES, limits=Limits(seconds=10)) as warehouse:
        assert warehouse.frame("persuasion_by_kind").empty
        for forbidden in ("FROM read_csv('/etc/passwd')", "LOAD httpfs", "SET lock_configuration = false"):
            with pytest.raises(duckdb.Error):
                warehouse._connection.execute(forbidden)


@pytest.mark.parametrize(("hostile", "reason"), REFUSED.items())
def test_error_names_what_makes_a_database_hostile(hostile: str, reason: str, database: Path) -> None:
    change(database, hostile)
    pattern = reason.replace("(", r"\(").replace(")", r"\)")
    with pytest.raises(WorkspaceError, match=pattern), opened(database, TABLES, limits=Limits()):
        pass


@pytest.mark.parametrize(
    ("limits", "sql", "limit"),
    [
        (
            Limits(seconds=0.2),
            "SELECT a.range, b.range AS b FROM range(100000000) a, range(100000000) b ORDER BY ALL",
            "0.2 s",
        ),
        (Limits(megabytes=1), "FROM range(1000000000)", "1 MB of rows"),
    ],
)
def test_a_query_stops_at_its_limits(limits: Limits, sql: str, limit: str) -> None:
    with duckdb.connect() as connection, pytest.raises(WorkspaceError, match=f"more than {limit}"):
        limits.rows(connection, sql)


@pytest.mark.parametrize("name", ["study.duckdb", "study.duckdb.wal"])
def test_pipe_in_place_of_database_is_named(name: str, database: Path) -> None:
    database.with_name(name).unlink(missing_ok=True)
    os.mkfifo(database.with_name(name))
    with pytest.raises(WorkspaceError, match=rf"{name} is not a file; remove it"), opened(database, TABLES):
        pass


def test_log_of_unsaved_changes_is_named(database: Path) -> None:
    database.with_name("study.duckdb.wal").touch()
    with pytest.raises(WorkspaceError, match=r"study\.duckdb\.wal has changes"), opened(database, TABLES):
        pass


@pytest.mark.parametrize("length", [0, 10_000])
def test_damaged_database_is_replaced(database: Path, length: int) -> None:
    database.write_bytes(database.read_bytes()[:length])
    with pytest.raises((DamagedFile, WorkspaceError), match="run"), opened(database, TABLES):
        pass
    build(database, "new", FEW, {})
    assert read_key(database) == "new"


def test_failed_update_keeps_the_old_database(database: Path, tmp_path: Path) -> None:
    bad = write_rows(tmp_path, SUSCEPTIBILITY, [row(SUSCEPTIBILITY, susceptibility=math.nan)])
    with pytest.raises(InputError):
        build(database, "new", FEW, {SUSCEPTIBILITY: [bad]})
    assert read_key(database) == "empty"
    assert [file.name for file in database.parent.iterdir()] == [database.name]


def test_a_kill_leaves_the_old_database(database: Path) -> None:
    script = (
        "import os, signal, sys; from pathlib import Path; import swaymeter.data.warehouse.loading as module\n"
        "module.Building.load = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)\n"
        "module.build(Path(sys.argv[1]), 'new', (), {})"
    )
    assert subprocess.run([sys.executable, "-c", script, str(database)], check=False).returncode == -9
    assert read_key(database) == "empty"
    assert len(list(database.parent.iterdir())) > 1
    (database.parent / f".{database.name}.123{TEMPORARY}.tmp").mkdir()  # the temporary folder of DuckDB
    build(database, "newer", FEW, {})
    assert read_key(database) == "newer"
    assert [file.name for file in database.parent.iterdir()] == [database.name]


def test_a_full_disk_at_the_checkpoint_is_named(database: Path) -> None:
    script = (
        "import resource, sys; from pathlib import Path; from swaymeter.data.errors import WorkspaceError\n"
        "from swaymeter.data.warehouse.loading import build; from tests.data.warehouse.small_study import TABLES\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n"
        "try:\n    build(Path(sys.argv[1]), 'new', TABLES, {})\n"
        "except WorkspaceError as error:\n    print(error)"
    )
    process = subprocess.run([sys.executable, "-c", script, str(database)], check=True, capture_output=True, text=True)
    assert "study.duckdb cannot be written: " in process.stdout
    assert "checkpoint" in process.stdout
    assert "free some space or choose another --workspace" in process.stdout
    assert [file.name for file in database.parent.iterdir()] == [database.name]


def test_log_of_old_database_is_not_replayed(database: Path) -> None:
    script = (
        "import duckdb, os, signal, sys; connection = duckdb.connect(sys.argv[1])\n"
        "connection.execute('CREATE TABLE notes (note VARCHAR)'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", script, str(database)], check=False).returncode == -9
    assert database.with_name(f"{database.name}.wal").exists()
    build(database, "new", FEW, {})
    assert read_key(database) == "new"
    assert [file.name for file in database.parent.iterdir()] == [database.name]


def test_a_reader_keeps_the_database_it_opened(tmp_path: Path) -> None:
    with warehouse_of(tmp_path, small_study()) as reader:
        build(tmp_path / "study.duckdb", "new", FEW, {})
        assert reader.frame("overview")["queries"].tolist() == [2]


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        (SUSCEPTIBILITY, "susceptibility", math.nan),
        (PERSUASION, "persuasion", math.inf),
        (ANSWERS, "token_log_probs", [-1.0, -math.inf]),
    ],
)
def test_a_number_that_is_not_finite_is_refused(table: Table, column: str, value: Any, database: Path) -> None:
    file = write_rows(database.parent, table, [row(table, **{column: value})])
    message = rf"{table.name}-\w+\.parquet: column {column} has numbers that are NaN or infinite"
    with pytest.raises(InputError, match=message):
        build(database, "key", FEW, {table: [file]})


def test_open_database_has_no_temporary_folder(
    database: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with opened(database, TABLES) as warehouse:
        assert warehouse.frame("persuasion_by_kind").empty
        assert not [*temporary.iterdir()]  # a killed reader would leave the folder


def test_a_missing_score_is_refused(database: Path) -> None:
    nullable = tuple(replace(column, nullable=True) for column in SUSCEPTIBILITY.columns)
    optional = replace(SUSCEPTIBILITY, columns=nullable)
    files = {SUSCEPTIBILITY: [write_rows(database.parent, optional, [row(SUSCEPTIBILITY, susceptibility=None)])]}
    with pytest.raises(InputError, match=r"susceptibility-\w+\.parquet: column susceptibility has 1 NULL"):
        build(database, "key", FEW, files)


@pytest.mark.parametrize("length", [0, 20, 500])
def test_a_wrong_or_truncated_file_is_named(database: Path, length: int) -> None:
    file = write_rows(database.parent, FACTS, [row(FACTS)])
    with pytest.raises(DamagedFile, match="does not hold table contexts"):
        build(database, "key", FEW, {CONTEXTS: [file]})
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(DamagedFile, match=r"one's facts-\w+\.parquet.*the next run makes the file again"):
        build(database, "key", FEW, {FACTS: [file]})


def test_the_same_scores_in_two_files_are_refused(database: Path) -> None:
    files = [write_rows(database.parent, SUSCEPTIBILITY, [row(SUSCEPTIBILITY)], name) for name in ("a", "b")]
    with pytest.raises(InputError, match=r"a row of susceptibility repeats a key .*duplicate key"):
        build(database, "key", FEW, {SUSCEPTIBILITY: files})


def test_columns_have_their_units(tmp_path: Path) -> None:
    with warehouse_of(tmp_path, {}) as warehouse:
        assert warehouse.frame("persuasion_by_kind").attrs["units"] == {"persuasion": "nats"}
        assert warehouse.frame("partition_summary").attrs["units"]["semantic_entropy"] == "nats"
        text = "-- One.\n-- unit: half = nats per half\nSELECT seconds, seconds / 2 AS half FROM runs"
        with added(NAMED_QUERIES, NamedQuery.from_text("halves", text)):
            assert warehouse.frame("halves").attrs["units"] == {"seconds": "s", "half": "nats per half"}


def test_database_open_in_another_program_is_busy(database: Path) -> None:
    script = "import duckdb, sys; connection = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(WorkspaceBusy, match="another program"), opened(database, TABLES):
            pass
        other.communicate()


def test_a_missing_or_unwritable_database_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="--stage aggregate"), opened(tmp_path / "study.duckdb", TABLES):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(WorkspaceError, match="cannot be written"):
        build(tmp_path / "file" / "study.duckdb", "key", TABLES, {})


@pytest.mark.parametrize("sql", ["SELECT ,", "FROM contests", "SELECT nobody FROM contexts"])
def test_query_with_invalid_sql_is_named(sql: str, database: Path) -> None:
    wrong = NamedQuery("wrong", sql)
    with (
        opened(database, TABLES) as warehouse,
        pytest.raises(InputError, match="named query wrong is not valid SQL: "),
    ):
        warehouse.rows(wrong)
