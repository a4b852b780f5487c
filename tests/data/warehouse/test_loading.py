import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
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
    stored,
    warehouse_of,
    write_empty,
)
from tests.registered import added

FEW = (QUERIES, CONTEXTS, FACTS, SUSCEPTIBILITY, PERSUASION, ANSWERS)
"""The tables of databases that are made in a moment."""


def file_of(folder: Path, of: Table, rows: Sequence[Mapping[str, Any]], name: str = "one's") -> Path:
    unchecked = pa.Table.from_pylist([dict(row) for row in rows], schema=of.schema)
    return write_parquet(folder, f"{name} {of.name}", unchecked, {"table": of.name})


def rows_of(database: Path, sql: str) -> list[Any]:
    with duckdb.connect(database, read_only=True) as connection:
        return connection.execute(sql).fetchall()


def key_of(database: Path) -> str:
    ((key,),) = rows_of(database, "SELECT key FROM about")
    return str(key)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return write_empty(tmp_path / "study's" / "study.duckdb")


def test_rows_come_back_as_they_went_in(database: Path, tmp_path: Path) -> None:
    rows = [row(ANSWERS, token_ids=[5, 6], token_log_probs=[-1.0, -2.0], sample=number) for number in (None, 3)]
    build(database, "key", FEW, {ANSWERS: [file_of(tmp_path, ANSWERS, rows)]})
    with duckdb.connect(database, read_only=True) as connection:
        found = connection.sql("SELECT * FROM answers ORDER BY sample NULLS FIRST").to_arrow_table()
    assert found.to_pylist() == rows


def test_scores_of_two_engines_in_file_keep_theirs(database: Path, tmp_path: Path) -> None:
    rows = [row(PERSUASION, query_id=f"q{n}", engine=f"engine {n % 2}", stand_in=None if n else "x") for n in range(5)]
    build(database, "key", FEW, {PERSUASION: [file_of(tmp_path, PERSUASION, rows)]})
    found = rows_of(database, "SELECT query_id, engine, stand_in FROM persuasion ORDER BY ALL")
    assert found == [(one["query_id"], one["engine"], one["stand_in"]) for one in rows]
    assert rows_of(database, 'SELECT sum("rows"), count(*) FROM origins') == [(5, 3)]


def test_a_database_holds_only_its_files(database: Path, tmp_path: Path) -> None:
    files = stored(tmp_path, small_study())
    changed = [{**one, "persuasion": 9.0} for one in small_study()["persuasion"]]
    susceptibility = [{**one, "susceptibility": 9.0} for one in small_study()["susceptibility"]]
    later = {
        **files,
        PERSUASION: [file_of(tmp_path, PERSUASION, changed)],
        SUSCEPTIBILITY: [file_of(tmp_path, SUSCEPTIBILITY, susceptibility)],
    }
    del later[ANSWERS]
    database.unlink()
    build(database, "first", TABLES, files)
    build(database, "second", TABLES, later)
    assert key_of(database) == "second"
    assert rows_of(database, "SELECT DISTINCT persuasion FROM persuasion") == [(9.0,)]
    new = tmp_path / "study's" / "new.duckdb"
    build(new, "second", TABLES, later)
    with opened(database, TABLES) as one, opened(new, TABLES) as other:
        for name in ("overview", "persuasion_by_kind", "partition_summary", "stand_ins", "answers_to_read"):
            pd.testing.assert_frame_equal(one.frame(name), other.frame(name))


@pytest.mark.parametrize(("made_with", "read_with"), [(FEW[:-1], FEW), (FEW, FEW[:-1])])
def test_commands_with_other_measures_read_each_other(
    made_with: Sequence[Table], read_with: Sequence[Table], tmp_path: Path
) -> None:
    files = stored(tmp_path, small_study())
    own, other = tmp_path / "own.duckdb", tmp_path / "other.duckdb"
    build(own, "key", made_with, {table: files[table] for table in files if table in made_with})
    build(other, "key", read_with, {table: files[table] for table in files if table in read_with})
    with opened(own, read_with) as one, opened(other, read_with) as same:
        assert not one.frame("persuasion_by_kind").empty
        pd.testing.assert_frame_equal(one.frame("persuasion_by_kind"), same.frame("persuasion_by_kind"))
    changed(own, "UPDATE about SET swaymeter_version = 'another'")
    if made_with is not FEW:  # a table is not there
        with pytest.raises(WorkspaceError, match="an earlier version"), opened(own, read_with):
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
"""What others do to a database, and how it is refused."""
NOT_RUN = [
    "CREATE OR REPLACE VIEW persuasion_by_kind AS SELECT * FROM read_csv('/etc/passwd')",
    "CREATE OR REPLACE VIEW persuasion AS SELECT count(*) FROM range(1000000000000) a, range(1000) b",
    "CREATE TYPE more AS ENUM ('a'); CREATE SEQUENCE of_numbers; CREATE SCHEMA further",
    "CREATE TABLE more (n INTEGER); ALTER TABLE facts ADD COLUMN more INTEGER",
]
"""What others put into a database and nothing reads."""


def changed(database: Path, hostile: str) -> None:
    with duckdb.connect(database) as connection:
        connection.execute(hostile)


@pytest.mark.parametrize("hostile", NOT_RUN)
def test_what_others_put_into_database_is_not_run(hostile: str, database: Path) -> None:
    changed(database, hostile)
    with opened(database, TABLES, limits=Limits(seconds=10)) as warehouse:
        assert warehouse.frame("persuasion_by_kind").empty
        for forbidden in ("FROM read_csv('/etc/passwd')", "LOAD httpfs", "SET lock_configuration = false"):
            with pytest.raises(duckdb.Error):
                warehouse._connection.execute(forbidden)


@pytest.mark.parametrize(("hostile", "reason"), REFUSED.items())
def test_databases_of_others_are_refused_by_name(hostile: str, reason: str, database: Path) -> None:
    changed(database, hostile)
    pattern = reason.replace("(", r"\(").replace(")", r"\)")
    with pytest.raises(WorkspaceError, match=pattern), opened(database, TABLES, limits=Limits()):
        pass


@pytest.mark.parametrize(("limits", "what"), [(Limits(seconds=0.2), "0.2 s"), (Limits(megabytes=1), "1 MB of rows")])
def test_a_query_of_others_has_limits(limits: Limits, what: str) -> None:
    with duckdb.connect() as connection, pytest.raises(WorkspaceError, match=f"more than {what}"):
        limits.rows(
            connection,
            "SELECT a.range, b.range AS b FROM range(100000000) a, range(100000000) b ORDER BY ALL"
            if limits.seconds < 1
            else "FROM range(1000000000)",
        )


@pytest.mark.parametrize("name", ["study.duckdb", "study.duckdb.wal"])
def test_pipe_in_place_of_database_is_named(name: str, database: Path) -> None:
    database.with_name(name).unlink(missing_ok=True)
    os.mkfifo(database.with_name(name))
    with pytest.raises(WorkspaceError, match=rf"{name} is not a file; remove it"), opened(database, TABLES):
        pass


def test_changes_of_others_beside_a_database_are_named(database: Path) -> None:
    database.with_name("study.duckdb.wal").touch()
    with pytest.raises(WorkspaceError, match=r"study\.duckdb\.wal has changes"), opened(database, TABLES):
        pass


@pytest.mark.parametrize("length", [0, 10_000])
def test_a_damaged_database_is_made_anew(database: Path, length: int) -> None:
    database.write_bytes(database.read_bytes()[:length])
    with pytest.raises((DamagedFile, WorkspaceError), match="run"), opened(database, TABLES):
        pass
    build(database, "new", FEW, {})
    assert key_of(database) == "new"


def test_an_update_that_fails_keeps_the_old_database(database: Path, tmp_path: Path) -> None:
    bad = file_of(tmp_path, SUSCEPTIBILITY, [row(SUSCEPTIBILITY, susceptibility=math.nan)])
    with pytest.raises(InputError):
        build(database, "new", FEW, {SUSCEPTIBILITY: [bad]})
    assert key_of(database) == "empty"
    assert [file.name for file in database.parent.iterdir()] == [database.name]


def test_a_kill_leaves_the_old_database(database: Path) -> None:
    killed = (
        "import os, signal, sys; from pathlib import Path; import swaymeter.data.warehouse.loading as module\n"
        "module.Building.load = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)\n"
        "module.build(Path(sys.argv[1]), 'new', (), {})"
    )
    assert subprocess.run([sys.executable, "-c", killed, str(database)], check=False).returncode == -9
    assert key_of(database) == "empty"
    assert len(list(database.parent.iterdir())) > 1
    (database.parent / f".{database.name}.123{TEMPORARY}.tmp").mkdir()
    build(database, "newer", FEW, {})
    assert key_of(database) == "newer"
    assert [file.name for file in database.parent.iterdir()] == [database.name]


def test_a_full_disk_at_the_checkpoint_is_named(database: Path) -> None:
    filled = (
        "import resource, sys; from pathlib import Path; from swaymeter.data.errors import WorkspaceError\n"
        "from swaymeter.data.warehouse.loading import build; from tests.data.warehouse.small_study import TABLES\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n"
        "try:\n    build(Path(sys.argv[1]), 'new', TABLES, {})\n"
        "except WorkspaceError as error:\n    print(error)"
    )
    ended = subprocess.run([sys.executable, "-c", filled, str(database)], check=True, capture_output=True, text=True)
    assert "study.duckdb cannot be written: " in ended.stdout
    assert "checkpoint" in ended.stdout
    assert "free some space or choose another --workspace" in ended.stdout
    assert [file.name for file in database.parent.iterdir()] == [database.name]


def test_log_of_old_database_is_not_replayed(database: Path) -> None:
    killed = (
        "import duckdb, os, signal, sys; held = duckdb.connect(sys.argv[1])\n"
        "held.execute('CREATE TABLE notes (note VARCHAR)'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", killed, str(database)], check=False).returncode == -9
    assert database.with_name(f"{database.name}.wal").exists()
    build(database, "new", FEW, {})
    assert key_of(database) == "new"
    assert [file.name for file in database.parent.iterdir()] == [database.name]


def test_a_reader_keeps_the_database_it_opened(tmp_path: Path) -> None:
    with warehouse_of(tmp_path, small_study()) as reader:
        build(tmp_path / "study.duckdb", "new", FEW, {})
        assert reader.frame("overview")["queries"].tolist() == [2]


@pytest.mark.parametrize(
    ("of", "column", "value"),
    [
        (SUSCEPTIBILITY, "susceptibility", math.nan),
        (PERSUASION, "persuasion", math.inf),
        (ANSWERS, "token_log_probs", [-1.0, -math.inf]),
    ],
)
def test_a_number_that_is_not_finite_is_refused(of: Table, column: str, value: Any, database: Path) -> None:
    file = file_of(database.parent, of, [row(of, **{column: value})])
    named = rf"{of.name}-\w+\.parquet: column {column} has numbers that are NaN or infinite"
    with pytest.raises(InputError, match=named):
        build(database, "key", FEW, {of: [file]})


def test_a_killed_reading_leaves_no_folder(
    database: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with opened(database, TABLES) as warehouse:
        assert warehouse.frame("persuasion_by_kind").empty
        assert not [*temporary.iterdir()]


def test_a_missing_score_is_refused(database: Path) -> None:
    optional = Table("susceptibility", "", tuple(type(c)(c.name, c.type, "", "", True) for c in SUSCEPTIBILITY.columns))
    files = {SUSCEPTIBILITY: [file_of(database.parent, optional, [row(SUSCEPTIBILITY, susceptibility=None)])]}
    with pytest.raises(InputError, match=r"susceptibility-\w+\.parquet: column susceptibility has 1 NULL"):
        build(database, "key", FEW, files)


@pytest.mark.parametrize("length", [0, 20, 500])
def test_a_wrong_or_truncated_file_is_named(database: Path, length: int) -> None:
    file = file_of(database.parent, FACTS, [row(FACTS)])
    with pytest.raises(DamagedFile, match="does not hold table contexts"):
        build(database, "key", FEW, {CONTEXTS: [file]})
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(DamagedFile, match=r"one's facts-\w+\.parquet.*made again by the next run"):
        build(database, "key", FEW, {FACTS: [file]})


def test_the_same_scores_in_two_files_are_refused(database: Path) -> None:
    files = [file_of(database.parent, SUSCEPTIBILITY, [row(SUSCEPTIBILITY)], name) for name in ("a", "b")]
    with pytest.raises(InputError, match=r"a row of susceptibility repeats a key .*duplicate key"):
        build(database, "key", FEW, {SUSCEPTIBILITY: files})


def test_columns_have_their_units(tmp_path: Path) -> None:
    with warehouse_of(tmp_path, {}) as warehouse:
        assert warehouse.frame("persuasion_by_kind").attrs["units"] == {"persuasion": "nats"}
        assert warehouse.frame("partition_summary").attrs["units"]["semantic_entropy"] == "nats"
        text = "-- One.\n-- unit: half = nats per half\nSELECT seconds, seconds / 2 AS half FROM runs"
        with added(NAMED_QUERIES, NamedQuery.from_text("halves", text)):
            assert warehouse.frame("halves").attrs["units"] == {"seconds": "s", "half": "nats per half"}


def test_a_database_that_another_program_writes_is_busy(database: Path) -> None:
    holding = "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", holding, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
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
def test_a_query_that_is_no_sql_is_named(sql: str, database: Path) -> None:
    wrong = NamedQuery("wrong", sql)
    with (
        opened(database, TABLES) as warehouse,
        pytest.raises(InputError, match="named query wrong is not valid SQL: "),
    ):
        warehouse.rows(wrong)
