"""Steps that fetch questions from Wikidata: one step for each property and page, with its own key and failures."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data import catalog
from swaymeter.data.records import Dispute, Question, RelationName, Triple, WikidataId, as_row, both_contexts
from swaymeter.flows.api import Study
from swaymeter.flows.graph.graph import StepId
from swaymeter.flows.graph.selection import Selection
from tests.flows.small_study import load_study, renew, run

PAGES = ["Café/../War", "Tea"]
TRIPLES = StepId("fetch", "triples", "triples")
CAPITAL, TWINS = StepId("fetch", "capital", "questions"), StepId("fetch", "twinnedTown", "questions")
TEA_DISPUTES = StepId("fetch", "disputable", "disputes", "Tea")
TEA_QUESTIONS = StepId("fetch", "disputable", "questions of disputes", "Tea")
TIME = "2026-01-02T03:04:05+00:00"


def wikidata_study(folder: Path, **questions: Any) -> Study:
    (folder / "list.csv").write_text("a list")
    (folder / "embedder").mkdir(exist_ok=True)
    (folder / "embedder" / "config.json").write_text("{}")
    (folder / "embedder" / "model.safetensors").write_bytes(b"embedder")
    options = {
        "source": "wikidata",
        "per_partition": None,
        "embedder": str(folder / "embedder"),
        "triples": {
            "source": "file",
            "file": str(folder / "list.csv"),
            "properties": ["P36", "P999999"],
            "per_property": 2,
        },
        "disputes": {"pages": PAGES},
        **questions,
    }
    return load_study(folder, facts=None, questions=options, measures={"accuracy": {}})


def triple(number: int, relation: str, property_id: str) -> Triple:
    ids = [WikidataId(f"Q{number}"), WikidataId(property_id), WikidataId(f"Q{100 + number}")]
    return Triple(RelationName(relation), *ids, "a list", "CC0 1.0")


def question(name: str, relation: str, partition: Any, **other: Any) -> Question:
    plain = Question(
        question_id=name,
        relation=RelationName(relation),
        partition=partition,
        subject="Tea",
        subject_id=None,
        property_id=None,
        object="leaf",
        object_id=None,
        answers=("leaf",),
        replacement="root",
        question="What is tea?",
        contexts=both_contexts("Tea is a leaf.", "Tea is a root.", ["leaf"], "root"),
        edits=1,
        subject_popularity=None,
        object_popularity=None,
        id_source=None,
        source="a wiki",
        licence="CC BY-SA 4.0",
        flags=(),
    )
    return replace(plain, **other)


def dispute(reversions: int) -> Dispute:
    return Dispute(
        page="Tea",
        page_revision=reversions,
        context="Tea is a leaf.",
        place=9,
        object="leaf",
        replacement="root",
        reversions=reversions,
        edit_revisions=(1, 2),
        similarity=0.5,
        subject_popularity=2.0 * reversions,
        hidden_edits=0,
        source="a wiki",
        licence="CC BY-SA 4.0",
        address="http://a.example",
        retrieved_at=TIME,
    )


def write(study: Study, identity: StepId, **rows: list[Any]) -> Study:
    """Write the rows of a step's outputs, by role, and no rows to its other outputs; return the renewed study."""
    step = study.graph.nodes[identity].step
    assert step is not None
    with study.workspace.lock():
        for role in step.outputs:
            table = step.table(role)
            table.write(table.table.of([as_row(row) for row in rows.get(role, [])]))
    return renew(study)


def with_triples(study: Study) -> Study:
    capitals = [triple(number, "capital", "P36") for number in (1, 2, 3)]
    others = [triple(4, "twinnedTown", "P999999"), triple(5, "spouse", "P26")]  # the study lacks P26
    return write(study, TRIPLES, triples=[*capitals, *others])


def key(study: Study, identity: StepId) -> str:
    step = study.graph.nodes[identity].step
    assert step is not None
    return step.outputs["rejected"].key


def test_questions_wait_for_the_list_of_triples(tmp_path: Path) -> None:
    nodes = wikidata_study(tmp_path).graph.nodes
    assert CAPITAL not in nodes
    for partition in ("static", "temporal"):
        waiting = nodes[StepId("build", partition, "choice of questions")]
        assert (waiting.state, waiting.blocked_by) == ("blocked", TRIPLES)
    assert nodes[TEA_DISPUTES].state == "missing"
    assert nodes[TEA_QUESTIONS].blocked_by == TEA_DISPUTES


def test_the_limit_of_triples_holds_for_each_property(tmp_path: Path) -> None:
    nodes = with_triples(wikidata_study(tmp_path)).graph.nodes
    steps = {node.id.subject: node.step for node in nodes.values() if node.id.product == "questions" and node.step}
    # The second argument of such a step is its triples.
    assert {name: len(step.arguments[1]) for name, step in steps.items() if name != "disputable"} == {
        "capital": 2,
        "twinnedTown": 1,
    }


@pytest.mark.parametrize("change", [{"snippet_words": 9}, {"months": 3}, {"embedder": "all-minilm-l6-v2"}])
def test_changed_settings_change_the_key_of_questions(change: dict[str, Any], tmp_path: Path) -> None:
    before = key(with_triples(wikidata_study(tmp_path)), CAPITAL)
    assert key(with_triples(wikidata_study(tmp_path, **change)), CAPITAL) != before


def test_a_changed_relation_changes_only_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, digest = with_triples(wikidata_study(tmp_path)), catalog.relation_digest
    before = [key(study, CAPITAL), key(study, TWINS)]
    monkeypatch.setattr(catalog, "relation_digest", lambda name: digest(name) + "!" * (name == "capital"))
    after = [key(renew(study), CAPITAL), key(renew(study), TWINS)]
    assert [old != new for old, new in zip(before, after, strict=True)] == [True, False]


def test_a_title_never_leads_out_of_the_workspace(tmp_path: Path) -> None:
    study = wikidata_study(tmp_path)
    for title in PAGES:
        step = study.graph.nodes[StepId("fetch", "disputable", "disputes", title)].step
        assert step is not None
        assert step.table("disputes").folder == study.workspace.root / "facts"


def test_fetched_questions_are_candidates(tmp_path: Path) -> None:
    both = [question("a", "capital", "static"), question("b", "capital", "temporal")]
    contents = write(with_triples(wikidata_study(tmp_path)), CAPITAL, questions=both).contents
    assert [candidate.question_id for candidate in contents.candidates("static")] == ["a"]
    assert [candidate.question_id for candidate in contents.candidates("temporal")] == ["b"]
    assert {str(TWINS), str(TEA_DISPUTES), str(TEA_QUESTIONS)} <= {*contents.unfinished_steps()}
    assert str(TWINS) not in contents.unfinished_steps(["disputable"])


def test_a_failed_property_stops_no_other_property(tmp_path: Path) -> None:
    study = write(with_triples(wikidata_study(tmp_path)), CAPITAL, questions=[question("a", "capital", "static")])
    step = study.graph.nodes[TWINS].step
    assert step is not None
    study.workspace.note_failure(str(TWINS), step.key, "Wikidata is silent")
    node = renew(study).graph.nodes[TWINS]
    assert (node.state, node.reason) == ("failed", "Wikidata is silent")
    run(lambda: renew(study).graph, Selection(stages=("build",)))
    assert [candidate.question_id for candidate in renew(study).contents.chosen("static")] == ["a"]


def test_questions_have_the_latest_counts_of_disputes(tmp_path: Path) -> None:
    study = write(wikidata_study(tmp_path, partitions=["disputable"]), TEA_DISPUTES, disputes=[dispute(3)])
    written = question("d", "disputable", "disputable", page="Tea", edits=3)
    study = write(study, TEA_QUESTIONS, questions=[written])
    before = key(study, TEA_QUESTIONS)
    study = write(study, TEA_DISPUTES, disputes=[dispute(8)])  # refreshed
    assert key(study, TEA_QUESTIONS) == before
    (candidate,) = study.contents.candidates("disputable")
    assert (candidate.edits, candidate.subject_popularity, candidate.page_revision) == (8, 16.0, 8)


@pytest.mark.parametrize("has_questions", [False, True])
def test_a_selected_measure_includes_every_property_and_page(has_questions: bool, tmp_path: Path) -> None:
    study = with_triples(wikidata_study(tmp_path))
    if has_questions:
        study = write(study, CAPITAL, questions=[question("a", "capital", "static")])
    chosen = Selection(measures=("accuracy",)).of(study.graph)
    assert {CAPITAL, TWINS, TEA_DISPUTES, TEA_QUESTIONS} <= chosen
    twins = Selection(relations=("twinnedTown",), measures=("accuracy",)).of(study.graph)
    assert TWINS in twins
    assert TEA_DISPUTES not in twins


def test_a_selected_relation_is_fetched_alone(tmp_path: Path) -> None:
    study = with_triples(wikidata_study(tmp_path))
    fetched = {step for step in Selection(relations=("twinnedTown",)).of(study.graph) if step.stage == "fetch"}
    assert fetched == {TRIPLES, TWINS}
    fetched = {step for step in Selection(relations=("disputable",)).of(study.graph) if step.stage == "fetch"}
    assert {step.part for step in fetched} == set(PAGES)


def test_steps_with_an_unknown_embedder_fail(tmp_path: Path) -> None:
    nodes = with_triples(wikidata_study(tmp_path, embedder="no-such-embedder")).graph.nodes
    assert (nodes[CAPITAL].state, nodes[TEA_DISPUTES].state) == ("failed", "failed")
    assert "no-such-embedder" in nodes[CAPITAL].reason
