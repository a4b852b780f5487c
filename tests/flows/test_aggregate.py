"""The database holds what questions were made from, whatever changed in it; and what cannot be read stops no other."""

from pathlib import Path

import duckdb
import pytest
from flows.aggregate import _aggregate
from flows.plan import Plan

from data.errors import DamagedFile
from tests.flows.small_plan import build, fetch, small_plan
from tests.flows.test_live_files import files_of, live_plan, question, write_page


def rows(plan: Plan, question: str) -> list[tuple[object, ...]]:
    with duckdb.connect(plan.workspace.database, read_only=True) as database:
        return database.execute(question).fetchall()


def test_a_damaged_sheet_of_annotations_is_named_and_kept_and_the_rest_is_loaded(tmp_path: Path) -> None:
    plan = build(fetch(small_plan(tmp_path)))
    damaged = plan.workspace.root / "annotations" / "ada-0.parquet"
    damaged.parent.mkdir()
    damaged.write_bytes(b"PAR1")
    with pytest.raises(DamagedFile, match=r"ada-0\.parquet holds annotations.*import the sheet again") as raised:
        _aggregate(plan, force=False)
    assert "remove it" not in str(raised.value)
    assert damaged.exists()
    assert rows(plan, "SELECT count(*) FROM questions") == [(3,)]


def test_reversions_that_were_counted_anew_are_in_the_database_without_a_question(tmp_path: Path) -> None:
    plan = live_plan(tmp_path, partitions=["disputable"])
    for reversions in (3, 8):
        write_page(files_of(plan), question("d", "disputable", "disputable", page="Other"), reversions=reversions)
        _aggregate(plan, force=False)
        assert rows(plan, "SELECT reversions FROM disputes") == [(reversions,)]
