"""Steps of a real study: the inputs of their keys, and the steps that run after a failure."""

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data import catalog
from swaymeter.data.catalog import sample
from swaymeter.data.errors import UsageError
from swaymeter.flows.api import Study
from swaymeter.flows.graph.graph import StepId
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.stages.plan import workspace_of
from tests.flows.small_study import load_study, prepare, renew, run, score, small_study, write_study

QUERY_MEASURES = {"persuasion", "susceptibility"}
QUESTION_MEASURES = {"answers", "clusters", "semantic_entropy", "accuracy"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("small")


@pytest.fixture(scope="module")
def study(folder: Path) -> Study:
    return score(prepare(load_study(folder)))


def keys(study: Study) -> dict[tuple[StepId, str], str]:
    """Return the keys of outputs, by step (without its dtype) and role."""
    return {
        (replace(node.id, dtype=""), role): artifact.key
        for node in study.graph
        if node.step and node.id.stage in ("fetch", "build", "score")
        for role, artifact in node.step.outputs.items()
    }


def test_planning_a_study_makes_no_file(tmp_path: Path) -> None:
    study = load_study(tmp_path)
    assert {node.state for node in study.graph} == {"missing", "blocked"}
    assert not study.workspace.root.exists()


def test_every_measure_covers_every_relation_of_its_prompts(study: Study) -> None:
    scored: dict[str, set[str]] = {}
    for step, role in keys(study):
        if step.stage == "score":
            scored.setdefault(role, set()).add(step.subject)
    relations = {node.id.subject for node in study.graph if (node.id.stage, node.id.product) == ("build", "questions")}
    assert scored == {
        **{name: {"capital", "father"} for name in QUERY_MEASURES},
        **dict.fromkeys(QUESTION_MEASURES, relations),
    }


def test_every_step_is_the_same_after_pickling(study: Study) -> None:
    for node in study.graph:
        assert pickle.loads(pickle.dumps(node.step)) == node.step


def test_every_output_has_a_key_of_its_own(study: Study) -> None:
    all_keys = list(keys(study).values())
    assert len(set(all_keys)) == len(all_keys)


CHANGES: list[tuple[dict[str, Any], set[str]]] = [  # a change of the study, and the measures that depend on it
    ({}, set()),
    ({"asks": "in other words"}, set()),
    ({"seed": 1}, QUERY_MEASURES | QUESTION_MEASURES),
    ({"contexts": {"base": 2}}, QUERY_MEASURES),
    ({"prompt": {"system": catalog.prompts().system, "chat_template": "auto"}}, set()),
    ({"prompt": {"system": "Be brief."}}, QUESTION_MEASURES),
    ({"prompt": {"chat_template": "never"}}, QUESTION_MEASURES),
    ({"prompt": {"start_token": "never"}}, QUERY_MEASURES | QUESTION_MEASURES),
    ({"answers": {"samples": 3}}, QUESTION_MEASURES),
    ({"clusters": {"threshold": 0.5}}, {"clusters", "semantic_entropy"}),
    ({"accuracy": {"rouge_threshold": 0.5}}, {"accuracy"}),
    ({"facts": {"relations": ["father", "capital", "genre"], "real_entities": 2, "invented_entities": 1}}, set()),
]


@pytest.mark.parametrize(("change", "dependent"), CHANGES, ids=[next(iter(change), "none") for change, _ in CHANGES])
def test_a_change_concerns_only_dependent_measures(
    change: dict[str, Any], dependent: set[str], study: Study, folder: Path
) -> None:
    measures = small_study(folder)["measures"]
    if change.keys() <= measures.keys():
        change = {"measures": {name: {**options, **change.get(name, {})} for name, options in measures.items()}}
    before, after = keys(study), keys(score(prepare(load_study(folder, **change))))
    scores = [(step, role) for step, role in before.keys() & after.keys() if step.stage == "score"]
    assert {role for step, role in scores if before[step, role] != after[step, role]} == dependent
    assert keys(renew(study)) == before


def test_a_label_changes_no_score(study: Study, folder: Path) -> None:
    (model,) = small_study(folder)["models"]
    labelled = load_study(folder, models=[{**model, "label": "tuned"}])
    assert keys(labelled) == keys(study)
    assert {row.model for row in labelled.rows()} == {"tuned/float32", ""}
    database = StepId("aggregate", "study", "database")
    before, after = study.graph.nodes[database].step, labelled.graph.nodes[database].step
    assert before is not None
    assert after is not None
    assert before.key != after.key


def test_other_weights_change_only_the_scores(tmp_path: Path) -> None:
    study = score(prepare(load_study(tmp_path)))
    before = keys(study)
    (tmp_path / "model" / "model.safetensors").write_bytes(b"trained a little longer")
    after = keys(score(renew(study)))
    assert {step.stage for step, role in before if before[step, role] != after[step, role]} == {"score"}
    assert {step.stage for step, role in before if before[step, role] == after[step, role]} == {"fetch", "build"}


def test_a_new_fact_concerns_only_its_relation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = prepare(load_study(tmp_path))
    before, facts = keys(study), catalog.facts

    def facts_with_atlantis(relation: str | None = None) -> Any:
        relation_facts = facts(relation)
        return (
            [*relation_facts, replace(relation_facts[0], subject="Atlantis")]
            if relation == "capital"
            else relation_facts
        )

    monkeypatch.setattr(catalog, "facts", facts_with_atlantis)
    monkeypatch.setattr(sample, "facts", facts_with_atlantis)
    after = keys(prepare(renew(study)))
    assert {step.subject for step, role in before if before[step, role] != after.get((step, role))} == {"capital"}


@pytest.mark.parametrize("first", ["model", "gone"])
def test_a_missing_model_stops_no_other_model(first: str, tmp_path: Path) -> None:
    models = [{"name": str(tmp_path / name), "dtype": "float32", "device": "cpu"} for name in ("model", "gone")]
    study = prepare(load_study(tmp_path, models=models if first == "model" else models[::-1]))
    scores = [node for node in study.graph if node.id.stage == "score"]
    gone = [node for node in scores if node.id.model.endswith("gone")]
    assert {node.state for node in gone} == {"failed"}
    assert all("the folder does not exist" in node.reason for node in gone)
    others = {node.state for node in scores if node not in gone}
    assert others == {"missing", "blocked"}  # derived measures wait for their inputs
    finished = score(study)
    assert {node.state for node in finished.graph if node.id.model.endswith("/model")} == {"done"}
    assert finished.graph.nodes[StepId("aggregate", "study", "database")].state == "missing"


def test_the_earlier_page_stays_if_every_score_fails(tmp_path: Path) -> None:
    missing = [{"name": str(tmp_path / "gone"), "dtype": "float32", "device": "cpu"}]
    study = prepare(load_study(tmp_path, models=missing))
    products = ["database", "page"]
    assert {node.state for node in study.graph if node.id.product in products} == {"missing", "blocked"}
    study.workspace.database.touch()  # the database of an earlier run
    blocked = [node for node in renew(study).graph if node.id.product in products]
    assert [(node.id.product, node.state) for node in blocked] == [(name, "blocked") for name in products]
    scores = score(prepare(load_study(tmp_path)))
    assert scores.graph.nodes[StepId("aggregate", "study", "database")].state == "missing"


def test_a_damaged_score_blocks_derived_measures(tmp_path: Path) -> None:
    study = score(prepare(load_study(tmp_path)))
    (file,) = study.workspace.root.glob("scores/capital/*/persuasion-*.parquet")
    content = bytearray(file.read_bytes())
    content[-1] ^= 0x01
    file.write_bytes(content)
    undone = {
        (node.id.subject, node.id.product): node.state
        for node in renew(study).graph
        if node.id.stage == "score" and node.state != "done"
    }
    assert undone == {("capital", "persuasion"): "damaged", ("capital", "susceptibility"): "blocked"}


def test_a_relation_without_facts_stops_no_other_relation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, facts = load_study(tmp_path), catalog.facts
    monkeypatch.setattr(catalog, "facts", lambda relation=None: [] if relation == "father" else facts(relation))
    run(lambda: renew(study).graph, Selection(stages=("fetch", "build")))
    nodes = renew(study).graph.nodes
    failed = nodes[StepId("fetch", "father", "facts")]
    assert (failed.state, failed.reason) == (
        "failed",
        "relation father: the source has no facts; choose another relation",
    )
    assert nodes[StepId("build", "father", "queries and contexts")].blocked_by == failed.id
    assert nodes[StepId("build", "capital", "queries and contexts")].state == "done"


@pytest.mark.parametrize(
    ("dtype", "reference", "measured"),
    [
        ("float32", "float32", False),
        ("auto", "float32", False),
        ("bfloat16", "float32", True),
        ("auto", "bfloat16", True),
    ],
)
def test_precision_is_measured_against_another_dtype(
    dtype: str, reference: str, measured: bool, tmp_path: Path
) -> None:
    models = [{"name": str(tmp_path / "model"), "dtype": dtype, "device": "cpu"}]
    study = load_study(tmp_path, models=models, measures={"precision": {"reference": reference}}, questions=None)
    assert any(node.id.product == "precision" for node in study.graph) is measured


def test_missing_published_files_are_named(tmp_path: Path) -> None:
    study = load_study(tmp_path, questions={"source": "dynamicqa", "folder": str(tmp_path / "missing")})
    node = study.graph.nodes[StepId("fetch", "static", "questions")]
    assert node.state == "failed"
    assert "questions.folder: there is no folder" in node.reason


def test_workspace_comes_from_option_study_or_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    study = load_study(tmp_path).study
    assert workspace_of(study, "~/mine").root == tmp_path / "home" / "mine"
    assert workspace_of(study).root == tmp_path / "workspace"
    assert workspace_of(study.model_copy(update={"workspace": None})).root == tmp_path / "workspaces" / "small"
    with pytest.raises(UsageError, match="~nobody-of-that-name"):
        workspace_of(study, "~nobody-of-that-name/study")


def test_a_class_of_entities_can_be_selected(tmp_path: Path) -> None:
    file = write_study(tmp_path, small_study(tmp_path))  # a step fetches the names of invented countries
    assert Study.load(file, relations=["country"]).selection.relations == ("country",)


def test_every_step_makes_the_outputs_of_its_kind(study: Study) -> None:
    nodes = [node for node in study.graph if node.step]
    assert {node.kind.product for node in nodes} >= {"facts", "queries and contexts", "choice of questions", "database"}
    for node in nodes:
        assert node.step is not None
        is_pass = node.kind.makes == ("scores",)  # the outputs of a pass are the tables of its measures
        assert is_pass or {*node.step.outputs} == {*node.kind.makes}, node.id


def test_no_score_depends_on_its_runner(study: Study, folder: Path) -> None:
    on_dask = load_study(folder, execution={"runner": "dask", "workers": 3, "address": "tcp://127.0.0.1:8786"})
    assert keys(on_dask) == keys(study)
    assert on_dask.study.with_runner("threads").execution.runner == "threads"
