from pathlib import Path

import pytest

from swaymeter.data.errors import WorkFailed
from swaymeter.flows.api import Study
from swaymeter.flows.graph.graph import Graph
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.stage import Stage
from swaymeter.flows.stages.build import BUILD_PROMPTS
from swaymeter.flows.stages.fetch import FETCH_NAMES
from swaymeter.flows.stages.frequency import LIST_NAMES
from swaymeter.flows.stages.wikidata import FETCH_PROPERTY
from tests.flows.small_study import load_study, prepare


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return prepare(load_study(tmp_path_factory.mktemp("small")))


def selected_steps(study: Study, selection: Selection, stage: Stage) -> set[tuple[str, str]]:
    return {(step.subject, step.product) for step in selection.of(study.graph) if step.stage == stage}


def test_the_whole_study_is_selected_by_default(study: Study) -> None:
    assert Selection().of(study.graph) == set(study.graph.nodes)


def test_a_relation_is_selected_with_its_inputs(study: Study) -> None:
    selection = Selection(relations=("capital",))
    assert selected_steps(study, selection, "score") == {("capital", "persuasion"), ("capital", "susceptibility")}
    assert selected_steps(study, selection, "build") >= {("capital", "queries and contexts")}
    assert selected_steps(study, selection, "fetch") >= {("capital", "facts"), ("country", "invented names")}
    assert ("father", "facts") not in selected_steps(study, selection, "fetch")
    assert selected_steps(study, selection, "report") == {("study", "page")}


@pytest.mark.parametrize(
    ("measure", "products"),
    [
        ("persuasion", {"persuasion"}),
        ("susceptibility", {"persuasion", "susceptibility"}),
        ("accuracy", {"answers", "accuracy"}),
        ("semantic_entropy", {"answers", "semantic_entropy"}),
    ],
)
def test_a_measure_is_selected_with_needed_measures(measure: str, products: set[str], study: Study) -> None:
    selection = Selection(measures=(measure,))
    assert {product for _, product in selected_steps(study, selection, "score")} == products
    source = "facts" if "persuasion" in products else "questions"
    assert {product for _, product in selected_steps(study, selection, "fetch")} - {"invented names"} == {source}


def test_a_relation_has_its_own_comparison_of_seeds(tmp_path: Path) -> None:
    several = prepare(load_study(tmp_path, seeds=[0, 1], questions=None, measures={"persuasion": {}}))
    assert selected_steps(several, Selection(), "aggregate") >= {("capital", "reliability"), ("father", "reliability")}
    for selection in (Selection(relations=("capital",)), Selection(relations=("capital",), measures=("persuasion",))):
        steps = selected_steps(several, selection, "aggregate")
        assert ("capital", "reliability") in steps
        assert ("father", "reliability") not in steps


def test_a_stage_is_selected_without_its_inputs(study: Study) -> None:
    selection = Selection(relations=("capital",), stages=("score",))
    assert {step.stage for step in selection.of(study.graph)} == {"score"}


def test_another_model_has_steps_of_its_own(study: Study, tmp_path: Path) -> None:
    model = study.study.models[0].model_dump(exclude_unset=True)
    models = [model, {"name": str(tmp_path / "model"), "dtype": "bfloat16"}]
    both = prepare(load_study(tmp_path, models=models))
    selection = Selection(models=(str(tmp_path / "model"),))
    assert {step.model for step in selection.of(both.graph) if step.stage == "score"} == {str(tmp_path / "model")}


def test_relations_that_failed_steps_stop_are_selected(study: Study) -> None:
    graph = Graph(study.workspace)
    names = graph.add_refused(FETCH_NAMES, FETCH_NAMES.id("country"), WorkFailed("no answer"))
    # No later step depends on this step.
    graph.add_refused(FETCH_PROPERTY, FETCH_PROPERTY.id("birthplace"), WorkFailed("no answer"))
    for relation, needed in (("capital", [names]), ("father", [])):
        node = graph.add_refused(BUILD_PROMPTS, BUILD_PROMPTS.id(relation), WorkFailed("waits"), inputs=needed)
        node.state, node.blocked_by = "blocked", names.id if needed else None
    assert Selection().limited_to_failed(graph).relations == ("birthplace", "capital")


def test_a_corpus_whose_count_failed_is_counted_again(study: Study) -> None:
    graph = Graph(study.workspace)
    counts = graph.add_refused(LIST_NAMES, LIST_NAMES.id("corpus"), WorkFailed("no answer"))
    failed = Selection().limited_to_failed(graph)
    assert counts.id in failed.of(graph)
    assert failed.relations == ("corpus",)
