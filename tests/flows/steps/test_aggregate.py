"""The database holds what the files hold; statistics read again only the relations that changed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from swaymeter.data.errors import InputError, ScoreError, UsageError
from swaymeter.data.records.statistics import Summary
from swaymeter.data.storage.workspace import Workspace
from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery
from swaymeter.flows.cli.pipeline import Selected
from swaymeter.flows.graph.step import Run, Step, StepId
from swaymeter.flows.steps import aggregate
from swaymeter.flows.steps.aggregate import Loaded, compute_statistics, kept_rows, load_database
from swaymeter.tasks.statistics import STATISTICS
from swaymeter.tasks.statistics.entropy_classes import EntropyClasses
from swaymeter.tasks.statistics.means_of_contexts import persuasion_of_relations as of_relations
from swaymeter.tasks.statistics.statistic import Statistic
from tests.data.warehouse.small_study import PERSUASION, SUSCEPTIBILITY, row
from tests.flows.small_study import NOTED, again, labelled_models, prepare, score, selected, small_study
from tests.registered import added, only
from tests.tasks.models.tiny import save_language_model

FACTS = {"real_entities": 2, "invented_entities": 1}


def test_rows_that_were_written_by_hand_do_not_stay(tmp_path: Path) -> None:
    artifact = Workspace(tmp_path).database_artifact({"made": "from nothing"})
    step = Step(StepId("aggregate", "study", "database"), load_database, {}, {"files": artifact}, Loaded())
    load_database(step, Run(tmp_path))
    assert artifact.check().state == "done"
    with duckdb.connect(tmp_path / "study.duckdb") as connection:
        connection.execute("INSERT INTO invented VALUES ('country', 'Norvania', 'hand', [], NULL)")
    assert artifact.check().state == "damaged"
    load_database(step, Run(tmp_path))
    assert artifact.check().state == "done"
    with duckdb.connect(tmp_path / "study.duckdb", read_only=True) as connection:
        assert connection.sql("SELECT count(*) FROM invented").fetchall() == [(0,)]


def test_runs_have_the_label_of_their_model(tmp_path: Path) -> None:
    models = labelled_models(tmp_path)
    study = score(prepare(selected(tmp_path, questions=None, measures=["persuasion"], models=models)))
    step = study.graph.nodes[StepId("aggregate", "study", "database")].step
    assert step is not None
    load_database(step, Run(study.workspace.root))
    with duckdb.connect(study.workspace.database, read_only=True) as connection:
        runs = connection.sql("SELECT DISTINCT model, label FROM variants").fetchall()
    assert runs == [(str(tmp_path / "model"), "tuned")]


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


@pytest.fixture
def few_statistics() -> Iterator[None]:
    """Two, as all take long; and one that gives the rows of single relations in `compute`, as an extension may."""
    whole = replace(STATISTICS["persuasion_means"], name="whole", compute=of_relations, of_relations=None)
    with only(STATISTICS, ("persuasion_means", "relevance")), added(STATISTICS, whole):
        yield


@pytest.mark.usefixtures("few_statistics")
def test_rows_of_unchanged_relations_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = prepare(selected(tmp_path, questions=None, measures={"persuasion": {}, "susceptibility": {}}))
    kept = []

    def spied(table: Any, digests: Any, *, anew: bool) -> Any:
        kept.append(known := kept_rows(table, digests, anew=anew))
        return known

    monkeypatch.setattr(aggregate, "kept_rows", spied)

    def computed(*forced: str) -> dict[str, list[dict[str, Any]]]:
        kept.clear()
        step = again(study).graph.nodes[StepId("aggregate", "study", "statistics")].step
        assert step is not None
        compute_statistics(replace(step, forced=frozenset(forced)), Run(study.workspace.root))
        return {name: step.table(name).read().to_pylist() for name in step.outputs}

    score_pairs(study, "capital", 1.0)
    score_pairs(study, "father", 2.0)
    assert len(computed()["relevance"]) == 2 * 2 * 2  # relations, query types, as published and by entity
    score_pairs(study, "capital", 3.0)
    after = computed()
    assert after["whole"]
    assert {frozenset(known) for _, known in kept} == {frozenset({"father"})}
    assert max(rows.num_rows for rows, _ in kept) > 0
    assert after == computed("of today")
    assert {frozenset(known) for _, known in kept} == {frozenset()}
    assert len([*study.workspace.root.glob("statistics/relevance-*.parquet")]) == 1


def test_prompts_of_changed_relations_alone_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = prepare(selected(tmp_path, questions=None, measures={"persuasion": {}}))
    read, asked = [], aggregate._of_every_prompt

    def spied(*arguments: Any) -> Any:
        rows = asked(*arguments)
        read.append({*rows["relation"].to_pylist()})
        return rows

    monkeypatch.setattr(aggregate, "_of_every_prompt", spied)

    def computed() -> list[dict[str, Any]]:
        step = again(study).graph.nodes[StepId("aggregate", "study", "statistics")].step
        assert step is not None
        compute_statistics(step, Run(study.workspace.root))
        rows: list[dict[str, Any]] = step.table("persuasion_means").read().to_pylist()
        return rows

    with only(STATISTICS, ("persuasion_means", "relevance")):
        score_pairs(study, "capital", 1.0)
        score_pairs(study, "father", 2.0)
        before = computed()
        score_pairs(study, "capital", 3.0)
        after = computed()
    assert read == [{"capital", "father"}, {"capital"}]
    first, second = (
        [row["mean"] for row in rows if row["relation"] == "all" and row["grouped_by"] == ["relevant"]]
        for rows in (before, after)
    )
    assert second == [pytest.approx(mean + 1.0) for mean in first]


def test_rows_of_unchanged_models_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, read = (str(tmp_path / "a"), str(tmp_path / "b")), dict[str, set[tuple[str, str]]]()
    models = [{**model, "name": name} for name in names for model in small_study(tmp_path)["models"]]
    for seed, name in enumerate(names):
        save_language_model(Path(name), seed=seed)
    study = score(prepare(selected(tmp_path, questions=None, measures=["susceptibility"], models=models)))

    def scored(model: str, relation: str, value: float) -> None:
        step = again(study).graph.nodes[StepId("score", relation, "susceptibility", "", model, "float32")].step
        assert step is not None
        rows = [
            row(SUSCEPTIBILITY, relation=relation, model=model, query_id=query, susceptibility=value + place)
            for place, query in enumerate(step.table("queries").read()["query_id"].to_pylist())
        ]
        step.table("susceptibility").write(SUSCEPTIBILITY.of(rows), {**NOTED, "seconds": 1.0, "prompts": len(rows)})

    def computed(*forced: str) -> dict[str, list[dict[str, Any]]]:
        step = again(study).graph.nodes[StepId("aggregate", "study", "statistics")].step
        assert step is not None
        compute_statistics(replace(step, forced=frozenset(forced)), Run(study.workspace.root))
        return {name: step.table(name).read().to_pylist() for name in step.outputs}

    def spied(statistic: Statistic, frames: Any, *others: Any) -> Any:
        (frame, *_) = frames.values()
        read[statistic.name] = {*zip(frame["model"], frame["relation"], strict=True)}
        return rows(statistic, frames, *others)

    rows = Statistic.rows
    monkeypatch.setattr(Statistic, "rows", spied)
    with only(STATISTICS, ("susceptibility_means", "name_lengths")):
        for relation in ("capital", "father"):
            for name in names:
                scored(name, relation, 1.0)
        computed()
        scored(names[0], "capital", 3.0)
        after = computed()
        assert read["name_lengths"] == {(names[0], "capital"), (names[0], "father"), (names[1], "capital")}
        assert after == computed("of today")
    assert len(read["name_lengths"]) == 2 * 2
    assert {one["model"] for one in after["susceptibility_means"] if one["relation"] == "all"} == {*names}


@pytest.mark.usefixtures("few_statistics")
def test_studies_that_share_a_workspace_both_stay_done(tmp_path: Path) -> None:
    facts = {"first": ["capital", "father"], "second": ["capital"]}
    measures = {"persuasion": {}, "susceptibility": {}}
    studies = [
        prepare(selected(tmp_path, name=name, facts={**FACTS, "relations": of}, questions=None, measures=measures))
        for name, of in facts.items()
    ]
    score_pairs(studies[0], "capital", 1.0)
    identity = StepId("aggregate", "study", "statistics")
    for study in studies:
        step = again(study).graph.nodes[identity].step
        assert step is not None
        compute_statistics(step, Run(study.workspace.root))
    assert [again(study).graph.nodes[identity].state for study in studies] == ["done"] * 2
    root = studies[0].workspace.root
    assert [one.workspace.database.relative_to(root).parts for one in studies] == [
        ("study.duckdb",), ("studies", "second", "study.duckdb"),
    ]  # fmt: skip
    assert studies[1].workspace.report == root / "studies" / "second" / "report"
    assert len([*root.rglob("relevance-*.parquet")]) == 2


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


def test_bounds_of_classes_change_their_statistics_alone(tmp_path: Path) -> None:
    def step(**changes: Any) -> Step:
        found = selected(tmp_path, **changes).graph.nodes[StepId("aggregate", "study", "statistics")].step
        assert found is not None
        return found

    before, after = step(), step(entropy_classes={"bounds": [1, 5]})
    changed = {name for name, artifact in before.outputs.items() if artifact.key != after.outputs[name].key}
    assert changed == {"entropy_classes", "words_of_classes"}
    assert after.arguments == (0, EntropyClasses(bounds=(1.0, 5.0)))


@pytest.mark.parametrize(("query", "of"), [("of_all", {"one", "two"}), ("two", {"two"}), ("chosen_queries", set())])
def test_statistics_follow_the_queries_that_they_read(
    query: str, of: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {
        "of_all": "-- view\nSELECT 1", "of_both": "-- view\nSELECT * FROM OF_ALL",
        "one": "SELECT 1 FROM of_both", "two": "SELECT 2 FROM Of_Both",
    }  # fmt: skip
    for name, text in texts.items():
        monkeypatch.setitem(NAMED_QUERIES, name, NamedQuery.of_text(name, text))
    for name in ("one", "two"):
        monkeypatch.setitem(STATISTICS, name, replace(STATISTICS["model_means"], name=name, queries=(name,)))

    def keys() -> dict[str, str]:
        step = selected(tmp_path).graph.nodes[StepId("aggregate", "study", "statistics")].step
        assert step is not None
        return {name: output.key for name, output in step.outputs.items()}

    before = keys()
    changed = replace(NAMED_QUERIES[query], sql=f"{NAMED_QUERIES[query].sql} -- changed")
    monkeypatch.setitem(NAMED_QUERIES, query, changed)
    after = keys()
    assert {name for name in before if before[name] != after[name]} == of


def test_a_statistic_of_an_unknown_query_is_refused(tmp_path: Path) -> None:
    wrong = Statistic("mine", 1, Summary, ("model_mean",), lambda frames, seed: [])
    with added(STATISTICS, wrong), pytest.raises(UsageError, match="statistic mine: no query is named 'model_mean'"):
        assert selected(tmp_path).graph.nodes


@pytest.mark.usefixtures("few_statistics")
def test_a_statistic_that_fails_is_named_and_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = next(iter(STATISTICS))
    broken = replace(STATISTICS[first], compute=lambda frames, seed: frames["nothing"])
    monkeypatch.setitem(STATISTICS, first, broken)
    study = prepare(selected(tmp_path, questions=None, measures={"persuasion": {}}))
    score_pairs(study, "capital", 0.5)
    step = again(study).graph.nodes[StepId("aggregate", "study", "statistics")].step
    assert step is not None
    with pytest.raises(ScoreError, match=rf"statistic {first} \(of .*\): KeyError\('nothing'\)$"):
        compute_statistics(step, Run(study.workspace.root))
    states = {role: output.check().state for role, output in step.outputs.items()}
    assert states == {**dict.fromkeys(step.outputs, "done"), first: "missing"}
    assert len(states) > 1


@pytest.mark.parametrize(
    ("named", "rest", "reason"),
    [
        ("susceptibility", "", "names susceptibility, and it reads queries, susceptibility; name these"),
        ("susceptibilty, queries", "", "names susceptibilty, queries, and it reads queries, susceptibility"),
        ("susceptibility, queries", "WHERE nobody", "named query every_one is not valid SQL: .*nobody"),
        ("susceptibility, queries", "WHERE WHERE", "named query every_one is not valid SQL: .*WHERE"),
    ],
)
def test_a_wrong_query_by_relation_is_named(named: str, rest: str, reason: str, tmp_path: Path) -> None:
    read = f"SELECT * FROM susceptibility JOIN queries USING (relation, query_id) {rest}"
    sql = f"-- Each.\n-- by relation: {named}\n{read}"
    query = NamedQuery.of_text("every_one", sql)
    statistic = Statistic("every_one", 1, Summary, ("every_one",), lambda frames, seed: [])
    study = score(prepare(selected(tmp_path, questions=None, measures=["susceptibility"])))
    with added(NAMED_QUERIES, query), added(STATISTICS, statistic):
        step = again(study).graph.nodes[StepId("aggregate", "study", "statistics")].step
        assert step is not None
        with pytest.raises(InputError, match=reason):
            compute_statistics(step, Run(study.workspace.root))
