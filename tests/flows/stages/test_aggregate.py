"""The database has the rows of the files, and statistics over its tables."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from swaymeter.data.errors import ScoreError, UsageError
from swaymeter.data.records.judgements import Judgement
from swaymeter.data.records.statistics import Summary
from swaymeter.data.records.tables import JUDGEMENTS
from swaymeter.data.storage.workspace import Workspace
from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery
from swaymeter.data.warehouse.warehouse import Warehouse, opened
from swaymeter.flows.api import Study
from swaymeter.flows.graph.graph import RunSettings, Step, StepId
from swaymeter.flows.stages.aggregate import Aggregation, make_database, schema
from swaymeter.tasks.statistics import STATISTICS
from swaymeter.tasks.statistics.statistic import Statistic
from tests.data.warehouse.small_study import PERSUASION, row
from tests.flows.small_study import METADATA, load_study, prepare, renew, score, small_study
from tests.registries import added, only

FACTS = {"real_entities": 2, "invented_entities": 1}
DATABASE = StepId("aggregate", "study", "database")


def step_of(study: Study) -> Step:
    """Return the step that makes the database, for the present workspace."""
    step = renew(study).graph.nodes[DATABASE].step
    assert step is not None
    return step


def make_study_database(study: Study) -> Path:
    """Make the database of a study, and return its path."""
    make_database(step_of(study), RunSettings(study.workspace.root))
    return study.workspace.database


def rows_of(database: Path, sql: str) -> list[Any]:
    with duckdb.connect(database, read_only=True) as connection:
        return connection.sql(sql).fetchall()


def test_foreign_rows_are_removed(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    outputs = {"files": workspace.database_artifact({}), "history": workspace.history_artifact({})}
    step = Step(DATABASE, make_database, {}, outputs, Aggregation())
    make_database(step, RunSettings(tmp_path))
    assert {artifact.check().state for artifact in outputs.values()} == {"done"}
    with duckdb.connect(tmp_path / "study.duckdb") as connection:
        connection.execute("INSERT INTO invented VALUES ('country', 'Norvania', 'hand', [])")
    assert outputs["files"].check().state == "damaged"
    make_database(step, RunSettings(tmp_path))
    assert outputs["files"].check().state == "done"
    assert rows_of(tmp_path / "study.duckdb", "SELECT count(*) FROM invented") == [(0,)]


def test_statistics_of_empty_tables_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, frame, read_queries = Workspace(tmp_path), Warehouse.frame, set[str]()
    outputs = {"files": workspace.database_artifact({}), "history": workspace.history_artifact({})}

    def record_and_read(warehouse: Warehouse, name: str) -> Any:
        read_queries.add(name)
        return frame(warehouse, name)

    with monkeypatch.context() as patched:
        patched.setattr(Warehouse, "frame", record_and_read)
        make_database(Step(DATABASE, make_database, {}, outputs, Aggregation()), RunSettings(tmp_path))
    queries = {name for statistic in STATISTICS.values() for name in statistic.queries}
    with opened(workspace.database, schema()) as warehouse:
        empty_queries = queries.difference(warehouse.with_rows(queries))
        assert [name for name in empty_queries if len(warehouse.frame(name))] == []
    assert queries - read_queries
    assert queries - read_queries <= empty_queries == queries
    with duckdb.connect(workspace.database) as connection:
        judgement = Judgement(1, "choices.csv", 2, "q0", "", "choice", "", "accept", "Ada")
        connection.register("incoming", JUDGEMENTS.of([asdict(judgement)]))
        connection.execute("INSERT INTO judgements BY NAME FROM incoming")
    with opened(workspace.database, schema()) as warehouse:
        assert warehouse.with_rows(queries) == ["judgements_of_people"]


def test_variants_have_the_label_of_their_model(tmp_path: Path) -> None:
    models = [{**model, "label": "tuned"} for model in small_study(tmp_path)["models"]]
    study = score(prepare(load_study(tmp_path, questions=None, measures=["persuasion"], models=models)))
    with only(STATISTICS, ("model_means",)):
        variants = rows_of(make_study_database(study), "SELECT DISTINCT model, label FROM variants")
    assert variants == [(str(tmp_path / "model"), "tuned")]


def score_pairs(study: Study, relation: str, value: float) -> None:
    """Write the persuasion of each pair of a relation: `value` plus the position of the context."""
    step = (
        renew(study)
        .graph.nodes[StepId("score", relation, "persuasion", "", study.study.models[0].name, "float32")]
        .step
    )
    assert step is not None
    query_ids = step.table("queries").read()["query_id"].to_pylist()
    context_ids = step.table("contexts").read()["context_id"].to_pylist()
    rows = [
        row(
            PERSUASION,
            relation=relation,
            model="m",
            dtype="float32",
            query_id=query,
            context_id=context,
            persuasion=value + position,
        )
        for query in query_ids
        for position, context in enumerate(context_ids)
    ]
    step.table("persuasion").write(PERSUASION.of(rows), {**METADATA, "seconds": 1.0, "prompts": len(rows)})


def test_statistics_follow_changed_scores(tmp_path: Path) -> None:
    study = prepare(load_study(tmp_path, questions=None, measures={"persuasion": {}}))
    sql = "SELECT mean FROM summaries WHERE relation = 'all' AND grouped_by = ['relevant'] ORDER BY ALL"
    with only(STATISTICS, ("persuasion_means", "relevance")):
        score_pairs(study, "capital", 1.0)
        score_pairs(study, "father", 2.0)
        first = rows_of(database := make_study_database(study), sql)
        # Two relations, two query types and two units of analysis.
        assert rows_of(database, "SELECT count(*) FROM statistics") == [(2 * 2 * 2,)]
        score_pairs(study, "capital", 3.0)
        second = rows_of(make_study_database(study), sql)
    assert [mean for (mean,) in second] == [pytest.approx(mean + 1.0) for (mean,) in first]


def test_two_studies_of_one_workspace_stay_done(tmp_path: Path) -> None:
    facts = {"first": ["capital", "father"], "second": ["capital"]}
    measures = {"persuasion": {}, "susceptibility": {}}
    studies = [
        prepare(
            load_study(tmp_path, name=name, facts={**FACTS, "relations": relations}, questions=None, measures=measures)
        )
        for name, relations in facts.items()
    ]
    score_pairs(studies[0], "capital", 1.0)
    with only(STATISTICS, ("model_means", "relevance")):
        databases = [make_study_database(study) for study in studies]
        assert [renew(study).graph.nodes[DATABASE].state for study in studies] == ["done"] * 2
    root = studies[0].workspace.root
    assert [database.relative_to(root).parts for database in databases] == [
        ("study.duckdb",),
        ("studies", "second", "study.duckdb"),
    ]
    assert studies[1].workspace.report == root / "studies" / "second" / "report"


def test_the_database_depends_on_every_column(tmp_path: Path) -> None:
    study = prepare(load_study(tmp_path, questions=None, measures={"persuasion": {}}))
    score_pairs(study, "capital", 1.0)

    def keys() -> tuple[str, str]:
        graph = renew(study).graph
        (scored,) = (node.step for node in graph if node.id.product == "persuasion" and node.id.subject == "capital")
        assert scored is not None
        return scored.key, step_of(study).key

    before = keys()
    queries = renew(study).graph.nodes[StepId("build", "capital", "queries and contexts")].output("queries")
    artifact: Any = queries.artifact
    artifact.write(artifact.table.of([{**query, "degree": 7} for query in artifact.read().to_pylist()]))
    after = keys()
    assert after[0] == before[0]  # no score depends on the column
    assert after[1] != before[1]


@pytest.mark.parametrize(("query", "is_read"), [("some_view", True), ("one", True), ("mine", False)])
def test_database_depends_on_read_queries_and_entropy_classes(
    query: str, is_read: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"some_view": "-- view\nSELECT 1", "one": "SELECT 1 FROM some_view", "mine": "SELECT 1"}
    for name, text in texts.items():
        monkeypatch.setitem(NAMED_QUERIES, name, NamedQuery.from_text(name, text))
    monkeypatch.setitem(STATISTICS, "one", replace(STATISTICS["model_means"], name="one", queries=("one",)))
    before = step_of(load_study(tmp_path)).key
    changed = replace(NAMED_QUERIES[query], sql=f"{NAMED_QUERIES[query].sql} -- changed")
    monkeypatch.setitem(NAMED_QUERIES, query, changed)
    assert (step_of(load_study(tmp_path)).key != before) is is_read
    assert step_of(load_study(tmp_path, entropy_classes={"bounds": [1, 5]})).key != before


def test_a_statistic_of_an_unknown_query_is_refused(tmp_path: Path) -> None:
    wrong = Statistic("mine", 1, Summary, ("model_mean",), lambda frames, seed: [])
    with added(STATISTICS, wrong), pytest.raises(UsageError, match="statistic mine: no query is named 'model_mean'"):
        assert load_study(tmp_path).graph.nodes


def test_statistics_that_fail_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = prepare(load_study(tmp_path, questions=None, measures={"persuasion": {}}))
    score_pairs(study, "capital", 0.5)
    with only(STATISTICS, ("persuasion_means", "relevance")):
        make_study_database(study)
        content = study.workspace.database.read_bytes()
        for name in STATISTICS:
            broken = replace(STATISTICS[name], compute=lambda frames, seed: frames["nothing"], version=99)
            monkeypatch.setitem(STATISTICS, name, broken)
        with pytest.raises(ScoreError, match=r"statistic relevance \(of .*\): KeyError\('nothing'\); statistic pers"):
            make_study_database(study)
        assert renew(study).graph.nodes[DATABASE].state == "missing"
    assert study.workspace.database.read_bytes() == content
