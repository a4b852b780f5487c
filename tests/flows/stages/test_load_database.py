"""The database of a workspace: what somebody wrote into it is gone after the next run."""

from pathlib import Path

import duckdb

from data.storage.workspace import Workspace
from flows.graph.step import Run, Step, StepId
from flows.stages.aggregate import load_database


def test_rows_that_were_written_by_hand_do_not_stay(tmp_path: Path) -> None:
    artifact = Workspace(tmp_path).database_artifact({"made": "from nothing"})
    step = Step(StepId("aggregate", "study", "database"), load_database, {}, {"files": artifact}, ())
    load_database(step, Run(tmp_path))
    assert artifact.check().state == "done"
    with duckdb.connect(tmp_path / "study.duckdb") as connection:
        connection.execute("INSERT INTO invented VALUES ('country', 'Norvania', 'hand', [], NULL)")
    assert artifact.check().state == "damaged"
    load_database(step, Run(tmp_path))
    assert artifact.check().state == "done"
    with duckdb.connect(tmp_path / "study.duckdb", read_only=True) as connection:
        assert connection.sql("SELECT count(*) FROM invented").fetchall() == [(0,)]
