import math
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from data.errors import DamagedFile, InputError, WorkspaceBusy, WorkspaceError
from data.records.tables import CONTEXTS, FACTS, QUERIES, STATISTICS, Table
from data.storage.workspace import TEMPORARY, Workspace, write_parquet
from data.warehouse import content_of, opened, rebuilt
from data.warehouse.schema import questions
from tests.data.sql.small_study import ANSWERS, SUSCEPTIBILITY, load, row, small_study


def stored(folder: Path, of: Table, rows: Sequence[Mapping[str, Any]], name: str = "one") -> Path:
    path = folder / f"{name}'s {of.name}.parquet"
    write_parquet(path, of.of(rows), {"table": of.name, "key": "k"})
    return path


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "study's" / "study.duckdb"


def test_files_and_rows_come_back_as_they_went_in(database: Path, tmp_path: Path) -> None:
    first = row(SUSCEPTIBILITY, query_id="q1", susceptibility=0.1)
    second = row(SUSCEPTIBILITY, query_id="q2", susceptibility=0.2)
    with rebuilt(database) as warehouse:
        warehouse.load(SUSCEPTIBILITY, [stored(tmp_path, SUSCEPTIBILITY, [first])])
        warehouse.load_rows(SUSCEPTIBILITY, [second])
    with duckdb.connect(database, read_only=True) as connection:
        found = connection.execute("SELECT query_id, susceptibility, stand_in FROM susceptibility").fetchall()
    assert sorted(found) == [("q1", 0.1, None), ("q2", 0.2, None)]


def test_a_list_keeps_its_values(database: Path, tmp_path: Path) -> None:
    file = stored(tmp_path, ANSWERS, [row(ANSWERS, token_ids=[5, 6], token_log_probs=[-1.0, -2.0])])
    with rebuilt(database) as warehouse:
        warehouse.load(ANSWERS, [file])
    with duckdb.connect(database, read_only=True) as connection:
        found = connection.execute("SELECT token_ids, token_log_probs FROM answers").fetchall()
    assert found == [([5, 6], [-1.0, -2.0])]


def test_rebuilding_twice_changes_nothing(database: Path) -> None:
    answers = []
    for _ in range(2):
        with rebuilt(database) as warehouse:
            load(warehouse, small_study())
        with opened(database) as warehouse:
            answers.append({name: warehouse.frame(name) for name in questions()})
    for name, frame in answers[0].items():
        pd.testing.assert_frame_equal(frame, answers[1][name])


def test_an_error_while_rebuilding_keeps_the_old_database(database: Path) -> None:
    with rebuilt(database, "old"):
        pass
    with pytest.raises(RuntimeError, match="half-way"), rebuilt(database, "new"):
        raise RuntimeError("half-way")
    assert content_of(database) == "old"
    assert [file.name for file in database.parent.iterdir()] == [database.name]


def test_what_a_kill_leaves_is_removed_by_the_next_rebuild(database: Path) -> None:
    database.parent.mkdir()
    for suffix in ("", ".wal"):
        (database.parent / f".{database.name}.{os.getpid()}{TEMPORARY}{suffix}").write_text("cut short")
    (database.parent / f".{database.name}.123{TEMPORARY}.tmp").mkdir()
    with rebuilt(database):
        pass
    assert [file.name for file in database.parent.iterdir()] == [database.name]


def test_a_kill_while_rebuilding_leaves_the_old_database(database: Path) -> None:
    with rebuilt(database, "old"):
        pass
    killed = (
        "import os, signal, sys; from pathlib import Path; from data.warehouse import rebuilt\n"
        "with rebuilt(Path(sys.argv[1]), 'new'): os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", killed, str(database)], check=False).returncode == -9
    assert content_of(database) == "old"
    Workspace(database.parent).prepare()
    with rebuilt(database, "newer"):
        pass
    assert content_of(database) == "newer"
    assert [file.name for file in database.parent.iterdir()] == [database.name]


def test_a_log_of_the_old_database_is_not_replayed_into_the_new_one(database: Path) -> None:
    with rebuilt(database):
        pass
    killed = (
        "import duckdb, os, signal, sys; held = duckdb.connect(sys.argv[1])\n"
        "held.execute('CREATE TABLE notes (note VARCHAR)'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", killed, str(database)], check=False).returncode == -9
    assert database.with_name(f"{database.name}.wal").exists()
    with rebuilt(database, "new"):
        pass
    assert content_of(database) == "new"
    assert [file.name for file in database.parent.iterdir()] == [database.name]


def test_the_reader_of_the_old_database_keeps_it_while_a_new_one_takes_its_place(database: Path) -> None:
    with rebuilt(database) as warehouse:
        load(warehouse, small_study())
    with opened(database) as reader:
        with rebuilt(database):
            pass
        assert reader.frame("overview")["queries"].tolist() == [2]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_is_refused_with_its_file_and_column(
    database: Path, tmp_path: Path, value: float
) -> None:
    file = stored(tmp_path, SUSCEPTIBILITY, [row(SUSCEPTIBILITY, susceptibility=value)])
    named = r"susceptibility\.parquet: column susceptibility"
    with rebuilt(database) as warehouse, pytest.raises(InputError, match=named):
        warehouse.load(SUSCEPTIBILITY, [file])


def test_nan_is_refused_in_lists_and_where_null_would_be_allowed(database: Path) -> None:
    with rebuilt(database) as warehouse:
        with pytest.raises(InputError, match="column token_log_probs has 1 numbers"):
            warehouse.load_rows(ANSWERS, [row(ANSWERS, token_log_probs=[-1.0, -math.inf])])
        with pytest.raises(InputError, match="column p has 1 numbers"):
            warehouse.load_rows(STATISTICS, [row(STATISTICS, p=math.nan)])


def test_a_missing_score_is_refused(database: Path, tmp_path: Path) -> None:
    file = tmp_path / "scores.parquet"
    rows = SUSCEPTIBILITY.of([row(SUSCEPTIBILITY)]).to_pylist()
    optional = Table(
        "susceptibility", "", tuple(type(c)(c.name, c.type, c.meaning, c.unit, True) for c in SUSCEPTIBILITY.columns)
    )
    write_parquet(file, optional.of([{**rows[0], "susceptibility": None}]), {"table": "susceptibility"})
    with rebuilt(database) as warehouse, pytest.raises(InputError, match="column susceptibility has 1 NULL"):
        warehouse.load(SUSCEPTIBILITY, [file])


def test_a_file_cut_short_is_named_with_what_to_do(database: Path, tmp_path: Path) -> None:
    file = stored(tmp_path, FACTS, [row(FACTS)])
    whole = file.read_bytes()
    with rebuilt(database) as warehouse:
        for length in (0, 3, 20, len(whole) // 2, len(whole) - 1):
            file.write_bytes(whole[:length])
            with pytest.raises(DamagedFile, match=r"one's facts\.parquet.*remove it and run again"):
                warehouse.load(FACTS, [file])


def test_a_flipped_bit_is_noticed(database: Path, tmp_path: Path) -> None:
    rows = [row(SUSCEPTIBILITY, query_id=f"q{n}", susceptibility=n / 7) for n in range(500)]
    file = stored(tmp_path, SUSCEPTIBILITY, rows)
    content = bytearray(file.read_bytes())
    content[len(content) // 4] ^= 0x10
    file.write_bytes(content)
    with rebuilt(database) as warehouse, pytest.raises(DamagedFile):
        warehouse.load(SUSCEPTIBILITY, [file])


def test_a_file_of_another_table_is_refused(database: Path, tmp_path: Path) -> None:
    with rebuilt(database) as warehouse, pytest.raises(DamagedFile, match="does not hold table contexts"):
        warehouse.load(CONTEXTS, [stored(tmp_path, FACTS, [row(FACTS)])])


def test_a_load_that_fails_adds_nothing_and_the_next_one_works(database: Path, tmp_path: Path) -> None:
    good = stored(tmp_path, SUSCEPTIBILITY, [row(SUSCEPTIBILITY, query_id="q1")], "good")
    bad = stored(tmp_path, SUSCEPTIBILITY, [row(SUSCEPTIBILITY, query_id="q2", susceptibility=math.nan)], "bad")
    with rebuilt(database) as warehouse:
        warehouse.load_rows(QUERIES, [row(QUERIES, query_id="q1")])
        with pytest.raises(InputError, match="bad"):
            warehouse.load(SUSCEPTIBILITY, [good, bad])
        assert warehouse.frame("susceptibility_of_queries").empty
        warehouse.load(SUSCEPTIBILITY, [good])
        assert len(warehouse.frame("susceptibility_of_queries")) == 1


def test_loading_the_same_scores_twice_over_is_refused(database: Path, tmp_path: Path) -> None:
    file = stored(tmp_path, SUSCEPTIBILITY, [row(SUSCEPTIBILITY)])
    with rebuilt(database) as warehouse:
        warehouse.load(SUSCEPTIBILITY, [file])
        with pytest.raises(InputError, match=r"susceptibility\.parquet: a row of susceptibility is there already"):
            warehouse.load(SUSCEPTIBILITY, [file])


def test_content_is_what_the_builder_said(database: Path) -> None:
    assert content_of(database) is None
    with rebuilt(database, "a digest's worth"):
        pass
    assert content_of(database) == "a digest's worth"


def test_content_of_a_damaged_or_older_database_is_none(database: Path) -> None:
    with rebuilt(database, "content"):
        pass
    with duckdb.connect(database) as connection:
        connection.execute("UPDATE about SET schema_version = 'older'")
    assert content_of(database) is None
    with pytest.raises(WorkspaceError, match="another version"), opened(database):
        pass
    database.write_bytes(database.read_bytes()[:10_000])
    assert content_of(database) is None
    with pytest.raises(DamagedFile, match="remove it and run again"), opened(database):
        pass


def test_a_database_that_is_not_there_says_how_to_make_it(database: Path) -> None:
    with pytest.raises(WorkspaceError, match="swaymeter aggregate"), opened(database):
        pass


def test_a_database_that_another_program_writes_is_busy(database: Path) -> None:
    with rebuilt(database):
        pass
    holding = "import duckdb, sys; held = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", holding, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(WorkspaceBusy, match="another program"), opened(database):
            pass
        assert content_of(database) is None
        other.communicate()


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WorkspaceError, match="cannot be written"), rebuilt(tmp_path / "file" / "study.duckdb"):
        pass
