from pathlib import Path

import pytest

from swaymeter.data.errors import WorkFailed
from swaymeter.flows.cli.pipeline import Selected
from swaymeter.flows.graph.graph import Graph
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.step import Stage
from swaymeter.flows.stages.study_graph import COUNTED_NAMES, NAMES, OF_PROPERTY, PROMPTS
from tests.flows.small_study import prepare, selected


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Selected:
    return prepare(selected(tmp_path_factory.mktemp("small")))


def chosen(study: Selected, selection: Selection, stage: Stage) -> set[tuple[str, str]]:
    return {(one.subject, one.group) for one in selection.of(study.graph) if one.stage == stage}


def test_the_whole_study_is_selected_by_default(study: Selected) -> None:
    assert Selection().of(study.graph) == set(study.graph.nodes)


def test_a_relation_brings_what_it_needs(study: Selected) -> None:
    only = Selection(relations=("capital",))
    assert chosen(study, only, "score") == {("capital", "persuasion"), ("capital", "susceptibility")}
    assert chosen(study, only, "build") >= {("capital", "queries and contexts")}
    assert chosen(study, only, "fetch") >= {("capital", "facts"), ("country", "invented names")}
    assert ("father", "facts") not in chosen(study, only, "fetch")
    assert chosen(study, only, "report") == {("study", "page")}


@pytest.mark.parametrize(
    ("measure", "groups"),
    [
        ("persuasion", {"persuasion"}),
        ("susceptibility", {"persuasion", "susceptibility"}),
        ("accuracy", {"answers", "accuracy"}),
        ("semantic_entropy", {"answers", "semantic_entropy"}),
    ],
)
def test_a_measure_brings_those_that_it_needs(measure: str, groups: set[str], study: Selected) -> None:
    only = Selection(measures=(measure,))
    assert {group for _, group in chosen(study, only, "score")} == groups
    about = "facts" if "persuasion" in groups else "questions"
    assert {group for _, group in chosen(study, only, "fetch")} - {"invented names"} == {about}


def test_a_relation_has_its_own_comparison_of_seeds(tmp_path: Path) -> None:
    several = prepare(selected(tmp_path, seeds=[0, 1], questions=None, measures={"persuasion": {}}))
    assert chosen(several, Selection(), "aggregate") >= {("capital", "reliability"), ("father", "reliability")}
    for only in (Selection(relations=("capital",)), Selection(relations=("capital",), measures=("persuasion",))):
        found = chosen(several, only, "aggregate")
        assert ("capital", "reliability") in found
        assert ("father", "reliability") not in found


def test_a_stage_is_selected_without_what_it_needs(study: Selected) -> None:
    selection = Selection(relations=("capital",), stages=("score",))
    assert {one.stage for one in selection.of(study.graph)} == {"score"}


def test_another_model_has_steps_of_its_own(study: Selected, tmp_path: Path) -> None:
    of_study = study.study.models[0].model_dump(exclude_unset=True)
    models = [of_study, {"name": str(tmp_path / "model"), "dtype": "bfloat16"}]
    both = prepare(selected(tmp_path, models=models))
    only = Selection(models=(str(tmp_path / "model"),))
    assert {one.model for one in only.of(both.graph) if one.stage == "score"} == {str(tmp_path / "model")}


def test_a_selection_is_read_from_its_plain_values() -> None:
    selection = Selection(("capital",), ("m",), ("accuracy",), ("fetch", "score"))
    assert Selection.from_json(selection.as_json()) == selection


def test_relations_that_wait_for_failed_names_have_failed(study: Selected) -> None:
    graph = Graph(study.workspace)
    names = graph.refuse(NAMES, NAMES.id("country"), WorkFailed("no answer"))
    graph.refuse(OF_PROPERTY, OF_PROPERTY.id("birthplace"), WorkFailed("no answer"))  # no later step knows of it
    for relation, needed in (("capital", [names]), ("father", [])):
        node = graph.refuse(PROMPTS, PROMPTS.id(relation), WorkFailed("waits"), inputs=needed)
        node.state, node.blocked_by = "blocked", names.id if needed else None
    assert Selection().failed(graph).relations == ("birthplace", "capital")


def test_a_corpus_whose_count_failed_is_counted_again(study: Selected) -> None:
    graph = Graph(study.workspace)
    counts = graph.refuse(COUNTED_NAMES, COUNTED_NAMES.id("corpus"), WorkFailed("no answer"))
    failed = Selection().failed(graph)
    assert counts.id in failed.of(graph)
    assert failed.relations == ("corpus",)
