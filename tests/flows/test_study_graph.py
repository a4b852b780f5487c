"""The steps of a real study: what its keys depend on, and what one failure leaves to the others."""

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
from tests.flows.small_study import again, labelled_models, prepare, run, score, selected, small_study, write_study

BY_CONTEXTS = {"persuasion", "susceptibility"}
BY_QUESTIONS = {"answers", "clusters", "semantic_entropy", "accuracy"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("small")


@pytest.fixture(scope="module")
def study(folder: Path) -> Study:
    return score(prepare(selected(folder)))


def keys(study: Study) -> dict[tuple[StepId, str], str]:
    return {
        (replace(node.id, dtype=""), role): artifact.key
        for node in study.graph
        if node.step and node.id.stage in ("fetch", "build", "score")
        for role, artifact in node.step.outputs.items()
    }


def test_looking_at_a_study_makes_no_file(tmp_path: Path) -> None:
    study = selected(tmp_path)
    assert {node.state for node in study.graph} == {"missing", "blocked"}
    assert not study.workspace.root.exists()


def test_every_measure_has_every_relation_of_its_prompts(study: Study) -> None:
    scored: dict[str, set[str]] = {}
    for (identity, role), _ in keys(study).items():
        if identity.stage == "score":
            scored.setdefault(role, set()).add(identity.subject)
    relations = {node.id.subject for node in study.graph if str(node.id).endswith("· questions")} - {"static"}
    assert scored == {
        **{name: {"capital", "father"} for name in BY_CONTEXTS},
        **dict.fromkeys(BY_QUESTIONS, relations),
    }


def test_every_step_is_the_same_after_pickling(study: Study) -> None:
    for node in study.graph:
        assert pickle.loads(pickle.dumps(node.step)) == node.step


def test_every_output_has_a_key_of_its_own(study: Study) -> None:
    found = list(keys(study).values())
    assert len(set(found)) == len(found)


CHANGES: list[tuple[dict[str, Any], set[str]]] = [
    ({}, set()),
    ({"asks": "in other words"}, set()),
    ({"seed": 1}, BY_CONTEXTS | BY_QUESTIONS),
    ({"contexts": {"base": 2}}, BY_CONTEXTS),
    ({"prompt": {"system": catalog.prompts().system, "chat_template": "auto"}}, set()),
    ({"prompt": {"system": "Be brief."}}, BY_QUESTIONS),
    ({"prompt": {"chat_template": "never"}}, BY_QUESTIONS),
    ({"prompt": {"start_token": "never"}}, BY_CONTEXTS | BY_QUESTIONS),
    ({"answers": {"samples": 3}}, BY_QUESTIONS),
    ({"clusters": {"threshold": 0.5}}, {"clusters", "semantic_entropy"}),
    ({"accuracy": {"rouge_threshold": 0.5}}, {"accuracy"}),
    ({"facts": {"relations": ["father", "capital", "genre"], "real_entities": 2, "invented_entities": 1}}, set()),
]


@pytest.mark.parametrize(("change", "changed"), CHANGES, ids=[next(iter(change), "none") for change, _ in CHANGES])
def test_a_change_concerns_what_depends_on_it_alone(
    change: dict[str, Any], changed: set[str], study: Study, folder: Path
) -> None:
    measures = small_study(folder)["measures"]
    if change.keys() <= measures.keys():
        change = {"measures": {name: {**options, **change.get(name, {})} for name, options in measures.items()}}
    before, after = keys(study), keys(score(prepare(selected(folder, **change))))
    scores = [one for one in before.keys() & after.keys() if one[0].stage == "score"]
    assert {role for identity, role in scores if before[identity, role] != after[identity, role]} == changed
    assert keys(again(study)) == before


def test_a_label_changes_no_score(study: Study, folder: Path) -> None:
    labelled = selected(folder, models=labelled_models(folder))
    assert keys(labelled) == keys(study)
    assert {row.model for row in labelled.rows()} == {"tuned/float32", ""}
    database = StepId("aggregate", "study", "database")
    before, after = study.graph.nodes[database].step, labelled.graph.nodes[database].step
    assert before is not None
    assert after is not None
    assert before.key != after.key


def test_other_weights_make_other_scores_and_nothing_else(tmp_path: Path) -> None:
    study = score(prepare(selected(tmp_path)))
    before = keys(study)
    (tmp_path / "model" / "model.safetensors").write_bytes(b"trained a little longer")
    after = keys(score(again(study)))
    assert {one[0].stage for one in before if before[one] != after[one]} == {"score"}
    assert {one[0].stage for one in before if before[one] == after[one]} == {"fetch", "build"}


def test_facts_of_one_relation_leave_the_others_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = prepare(selected(tmp_path))
    before, facts = keys(study), catalog.facts

    def more(relation: str | None = None) -> Any:
        found = facts(relation)
        return [*found, replace(found[0], subject="Atlantis")] if relation == "capital" else found

    monkeypatch.setattr(catalog, "facts", more)
    monkeypatch.setattr(sample, "facts", more)
    after = keys(prepare(again(study)))
    assert {one[0].subject for one in before if before[one] != after.get(one)} == {"capital"}


@pytest.mark.parametrize("first", ["model", "gone"])
def test_a_model_that_is_gone_stops_no_other(first: str, tmp_path: Path) -> None:
    models = [{"name": str(tmp_path / name), "dtype": "float32", "device": "cpu"} for name in ("model", "gone")]
    study = prepare(selected(tmp_path, models=models if first == "model" else models[::-1]))
    scores = [node for node in study.graph if node.id.stage == "score"]
    gone = [node for node in scores if node.id.model.endswith("gone")]
    assert {node.state for node in gone} == {"failed"}
    assert all("the folder does not exist" in node.reason for node in gone)
    others = {node.state for node in scores if node not in gone}
    assert others == {"missing", "blocked"}  # what is derived waits for what it is derived from
    finished = score(study)
    assert {node.state for node in finished.graph if node.id.model.endswith("/model")} == {"done"}
    assert finished.graph.nodes[StepId("aggregate", "study", "database")].state == "missing"


def test_where_every_score_fails_the_earlier_page_stays(tmp_path: Path) -> None:
    gone = [{"name": str(tmp_path / "gone"), "dtype": "float32", "device": "cpu"}]
    study = prepare(selected(tmp_path, models=gone))
    of_study = ["database", "page"]
    assert {node.state for node in study.graph if node.id.product in of_study} == {"missing", "blocked"}
    study.workspace.database.touch()
    blocked = [node for node in again(study).graph if node.id.product in of_study]
    assert [(node.id.product, node.state) for node in blocked] == [(name, "blocked") for name in of_study]
    scores = score(prepare(selected(tmp_path)))
    assert scores.graph.nodes[StepId("aggregate", "study", "database")].state == "missing"


def test_damaged_score_blocks_what_is_derived_from_it(tmp_path: Path) -> None:
    study = score(prepare(selected(tmp_path)))
    (file,) = study.workspace.root.glob("scores/capital/*/persuasion-*.parquet")
    content = bytearray(file.read_bytes())
    content[-1] ^= 0x01
    file.write_bytes(content)
    undone = {
        (node.id.subject, node.id.product): node.state
        for node in again(study).graph
        if node.id.stage == "score" and node.state != "done"
    }
    assert undone == {("capital", "persuasion"): "damaged", ("capital", "susceptibility"): "blocked"}


def test_a_relation_without_facts_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, facts = selected(tmp_path), catalog.facts
    monkeypatch.setattr(catalog, "facts", lambda relation=None: [] if relation == "father" else facts(relation))
    run(lambda: again(study).graph, Selection(stages=("fetch", "build")))
    nodes = again(study).graph.nodes
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
    study = selected(tmp_path, models=models, measures={"precision": {"reference": reference}}, questions=None)
    assert any(node.id.product == "precision" for node in study.graph) is measured


def test_missing_published_files_are_named(tmp_path: Path) -> None:
    study = selected(tmp_path, questions={"source": "dynamicqa", "folder": str(tmp_path / "missing")})
    node = study.graph.nodes[StepId("fetch", "static", "questions")]
    assert node.state == "failed"
    assert "questions.folder: there is no folder" in node.reason


def test_workspace_is_named_by_option_study_or_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    study = selected(tmp_path).study
    assert workspace_of(study, "~/mine").root == tmp_path / "home" / "mine"
    assert workspace_of(study).root == tmp_path / "workspace"
    assert workspace_of(study.model_copy(update={"workspace": None})).root == tmp_path / "workspaces" / "small"
    with pytest.raises(UsageError, match="~nobody-of-that-name"):
        workspace_of(study, "~nobody-of-that-name/study")


def test_relation_may_be_named_as_class_is(tmp_path: Path) -> None:
    file = write_study(tmp_path, small_study(tmp_path))  # the names of invented countries are among its steps
    assert Study.load(file, relations=["country"]).selection.relations == ("country",)


def test_every_step_makes_what_its_kind_names(study: Study) -> None:
    nodes = [node for node in study.graph if node.step]
    assert {node.kind.product for node in nodes} >= {"facts", "queries and contexts", "choice of questions", "database"}
    for node in nodes:
        assert node.step is not None
        collective = node.kind.makes == ("scores",)
        assert collective or {*node.step.outputs} == {*node.kind.makes}, node.id


def test_no_score_depends_on_what_computes_it(study: Study, folder: Path) -> None:
    elsewhere = selected(folder, execution={"runner": "dask", "workers": 3, "address": "tcp://127.0.0.1:8786"})
    assert keys(elsewhere) == keys(study)
    assert elsewhere.study.with_runner("threads").execution.runner == "threads"
