"""Steps of Wikidata's questions: what is asked of a property, what a failure leaves to the rest, what makes others."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data import catalog
from swaymeter.data.records import Dispute, Question, RelationName, Triple, WikidataId, as_row
from swaymeter.flows.api import Study
from swaymeter.flows.graph.graph import StepId
from swaymeter.flows.graph.selection import Selection
from tests.data.a_dataset import with_texts
from tests.flows.small_study import again, run, selected

PAGES = ["Café/../War", "Tea"]
TRIPLES = StepId("fetch", "triples", "triples")
CAPITAL, TWINS = StepId("fetch", "capital", "questions"), StepId("fetch", "twinnedTown", "questions")
TEA = StepId("fetch", "disputable", "disputes", "Tea")
WRITTEN = StepId("fetch", "disputable", "questions of disputes", "Tea")
TIME = "2026-01-02T03:04:05+00:00"


def live(folder: Path, **questions: Any) -> Study:
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
    return selected(folder, facts=None, questions=options, measures={"accuracy": {}})


def triple(number: int, relation: str, property_id: str) -> Triple:
    ids = [WikidataId(f"Q{number}"), WikidataId(property_id), WikidataId(f"Q{100 + number}")]
    return Triple(RelationName(relation), *ids, "a list", "CC0 1.0")


def question(name: str, relation: str, partition: Any, **other: Any) -> Question:
    plain = with_texts(
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
        original_context="Tea is a leaf.",
        counter_memory_context="Tea is a root.",
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
    """The study after a step has written these rows, and none to its other outputs."""
    step = study.graph.nodes[identity].step
    assert step is not None
    with study.workspace.lock():
        for role in step.outputs:
            table = step.table(role)
            table.write(table.table.of([as_row(row) for row in rows.get(role, [])]))
    return again(study)


def listed(study: Study) -> Study:
    capitals = [triple(number, "capital", "P36") for number in (1, 2, 3)]
    others = [triple(4, "twinnedTown", "P999999"), triple(5, "spouse", "P26")]
    return write(study, TRIPLES, triples=[*capitals, *others])


def key(study: Study, identity: StepId) -> str:
    step = study.graph.nodes[identity].step
    assert step is not None
    return step.outputs["rejected"].key


def test_before_the_list_is_there_its_questions_wait(tmp_path: Path) -> None:
    nodes = live(tmp_path).graph.nodes
    assert CAPITAL not in nodes
    for partition in ("static", "temporal"):
        waiting = nodes[StepId("build", partition, "choice of questions")]
        assert (waiting.state, waiting.blocked_by) == ("blocked", TRIPLES)
    assert nodes[TEA].state == "missing"
    assert nodes[WRITTEN].blocked_by == TEA


def test_the_limit_of_triples_holds_for_each_property(tmp_path: Path) -> None:
    nodes = listed(live(tmp_path)).graph.nodes
    steps = {node.id.subject: node.step for node in nodes.values() if node.id.product == "questions" and node.step}
    assert {name: len(step.arguments[1]) for name, step in steps.items() if name != "disputable"} == {
        "capital": 2,
        "twinnedTown": 1,
    }


@pytest.mark.parametrize("change", [{"snippet_words": 9}, {"months": 3}, {"embedder": "all-minilm-l6-v2"}])
def test_change_of_property_s_settings_makes_others(change: dict[str, Any], tmp_path: Path) -> None:
    before = key(listed(live(tmp_path)), CAPITAL)
    assert key(listed(live(tmp_path, **change)), CAPITAL) != before


def test_a_changed_catalog_entry_concerns_its_property_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, digest = listed(live(tmp_path)), catalog.relation_digest
    before = [key(study, CAPITAL), key(study, TWINS)]
    monkeypatch.setattr(catalog, "relation_digest", lambda name: digest(name) + "!" * (name == "capital"))
    after = [key(again(study), CAPITAL), key(again(study), TWINS)]
    assert [one != other for one, other in zip(before, after, strict=True)] == [True, False]


def test_a_title_never_leads_out_of_the_workspace(tmp_path: Path) -> None:
    study = live(tmp_path)
    for title in PAGES:
        step = study.graph.nodes[StepId("fetch", "disputable", "disputes", title)].step
        assert step is not None
        assert step.table("disputes").folder == study.workspace.root / "facts"


def test_questions_that_are_there_are_candidates(tmp_path: Path) -> None:
    both = [question("a", "capital", "static"), question("b", "capital", "temporal")]
    contents = write(listed(live(tmp_path)), CAPITAL, questions=both).contents
    assert [one.question_id for one in contents.candidates("static")] == ["a"]
    assert [one.question_id for one in contents.candidates("temporal")] == ["b"]
    assert {str(TWINS), str(TEA), str(WRITTEN)} <= {*contents.unfinished_steps()}
    assert str(TWINS) not in contents.unfinished_steps(["disputable"])


def test_a_property_that_failed_stops_no_other(tmp_path: Path) -> None:
    study = write(listed(live(tmp_path)), CAPITAL, questions=[question("a", "capital", "static")])
    step = study.graph.nodes[TWINS].step
    assert step is not None
    study.workspace.note_failure(str(TWINS), step.key, "Wikidata is silent")
    node = again(study).graph.nodes[TWINS]
    assert (node.state, node.reason) == ("failed", "Wikidata is silent")
    run(lambda: again(study).graph, Selection(stages=("build",)))
    assert [one.question_id for one in again(study).contents.chosen("static")] == ["a"]


def test_page_s_questions_have_numbers_counted_last(tmp_path: Path) -> None:
    study = write(live(tmp_path, partitions=["disputable"]), TEA, disputes=[dispute(3)])
    written = question("d", "disputable", "disputable", page="Tea", edits=3)
    study = write(study, WRITTEN, questions=[written])
    before = key(study, WRITTEN)
    study = write(study, TEA, disputes=[dispute(8)])  # refreshed
    assert key(study, WRITTEN) == before
    (found,) = study.contents.candidates("disputable")
    assert (found.edits, found.subject_popularity, found.page_revision) == (8, 16.0, 8)


@pytest.mark.parametrize("done", [False, True])
def test_a_measure_brings_every_property_and_page(done: bool, tmp_path: Path) -> None:
    study = listed(live(tmp_path))
    if done:
        study = write(study, CAPITAL, questions=[question("a", "capital", "static")])
    chosen = Selection(measures=("accuracy",)).of(study.graph)
    assert {CAPITAL, TWINS, TEA, WRITTEN} <= chosen
    of_twins = Selection(relations=("twinnedTown",), measures=("accuracy",)).of(study.graph)
    assert TWINS in of_twins
    assert TEA not in of_twins


def test_a_selected_relation_is_fetched_alone(tmp_path: Path) -> None:
    study = listed(live(tmp_path))
    fetched = {one for one in Selection(relations=("twinnedTown",)).of(study.graph) if one.stage == "fetch"}
    assert fetched == {TRIPLES, TWINS}
    fetched = {one for one in Selection(relations=("disputable",)).of(study.graph) if one.stage == "fetch"}
    assert {one.part for one in fetched} == set(PAGES)


def test_an_unknown_embedder_refuses_what_needs_it(tmp_path: Path) -> None:
    nodes = listed(live(tmp_path, embedder="no-such-embedder")).graph.nodes
    assert (nodes[CAPITAL].state, nodes[TEA].state) == ("failed", "failed")
    assert "no-such-embedder" in nodes[CAPITAL].reason
