"""The database holds what the files hold; statistics read again only the relations that changed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from data.errors import ScoreError
from data.storage.workspace import Workspace
from data.warehouse.queries import QUERIES
from data.warehouse.warehouse import over
from flows.cli.pipeline import Selected
from flows.graph.step import Run, Step, StepId
from flows.steps.aggregate import compute_statistics, load_database
from flows.steps.schema import schema
from tasks.statistics import STATISTICS
from tests.data.warehouse.small_study import PERSUASION, row
from tests.flows.small_study import NOTED, again, prepare, selected


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


def score_pairs(study: Selected, relation: str, value: float) -> None:
    """Writes persuasion of every pair of a relation."""
    step = (
        again(study)
        .graph.nodes[StepId("score", relation, "persuasion", "", study.study.models[0].name, "float32")]
        .step
    )
    assert step is not None
    ids = [step.table(name).read()[f"{name[:-1] if name == 'contexts' else 'query'}_id"].to_pylist()
           for name in ("queries", "contexts")]  # fmt: skip
    rows = [
        row(PERSUASION, relation=relation, model="m", dtype="float32", query_id=query, context_id=context,
            persuasion=value + place)
        for query in ids[0] for place, context in enumerate(ids[1])
    ]  # fmt: skip
    step.table("persuasion").write(PERSUASION.of(rows), {**NOTED, "seconds": 1.0, "prompts": len(rows)})


def test_means_are_computed_for_changed_relations_alone(tmp_path: Path) -> None:
    study = prepare(selected(tmp_path, questions=None, measures={"persuasion": {}}))

    def means() -> dict[str, Any]:
        step = again(study).graph.nodes[StepId("aggregate", "study", "statistics")].step
        assert step is not None
        compute_statistics(step, Run(study.workspace.root))
        files = [table.check().path for table in step.inputs.values()]  # type: ignore[attr-defined]
        tables = {table: [file for file in files if file.name.startswith(table.name)] for table in schema()}
        with over(tables, schema()) as warehouse:
            expected = warehouse.rows(QUERIES["persuasion_by_kind"]).to_pylist()
        parts = sorted(study.workspace.root.glob("statistics/by-relation/*/*.parquet"))
        with duckdb.connect() as connection:
            stored = connection.read_parquet([str(part) for part in parts]).to_arrow_table().to_pylist()
        assert len(expected) == 2 * 24
        assert all(one in stored for one in expected)
        return {str(part): part.stat().st_ino for part in parts}

    score_pairs(study, "capital", 1.0)
    score_pairs(study, "father", 2.0)
    before = means()
    score_pairs(study, "capital", 3.0)
    after = means()
    assert len(before) == 2
    assert before.items() < after.items()  # what was stored of a relation stays as it is
    assert len(after) == 3


def test_statistics_follow_columns_that_no_score_depends_on(tmp_path: Path) -> None:
    study = prepare(selected(tmp_path, questions=None, measures={"persuasion": {}}))
    score_pairs(study, "capital", 1.0)

    def keys() -> tuple[str, str]:
        graph = again(study).graph
        (scored,) = (node.step for node in graph if node.id.group == "persuasion" and node.id.subject == "capital")
        statistics = graph.nodes[StepId("aggregate", "study", "statistics")].step
        assert scored is not None
        assert statistics is not None
        return scored.key, statistics.key

    before = keys()
    queries = again(study).graph.nodes[StepId("build", "capital", "queries and contexts")].output("queries")
    artifact: Any = queries.artifact
    artifact.write(artifact.table.of([{**one, "degree": 7} for one in artifact.read().to_pylist()]))
    after = keys()
    assert after[0] == before[0]
    assert after[1] != before[1]


def test_a_statistic_that_fails_is_named_and_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *others = STATISTICS
    broken = replace(STATISTICS[first], compute=lambda frames, seed: frames["nothing"])
    monkeypatch.setitem(STATISTICS, first, broken)
    study = prepare(selected(tmp_path, questions=None, measures={"persuasion": {}}))
    step = study.graph.nodes[StepId("aggregate", "study", "statistics")].step
    assert step is not None
    with pytest.raises(ScoreError, match=rf"statistic {first} \(of .*\): KeyError\('nothing'\)$"):
        compute_statistics(step, Run(study.workspace.root))
    states = {role: output.check().state for role, output in step.outputs.items()}
    assert states == {first: "missing", **dict.fromkeys(others, "done")}
