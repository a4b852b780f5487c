"""A study of several seeds: what each further one adds to the graph, and what becomes of its scores."""

from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.randomness import generator
from swaymeter.flows.api import Study
from swaymeter.flows.datasets.publish import _scores_of_further_seeds
from swaymeter.flows.graph.graph import RunSettings
from swaymeter.flows.stages.build import BUILD_PROMPTS
from tests.data.warehouse.small_study import row
from tests.flows.small_study import NOTED, again, prepare, selected, small_study

FACTS = {"relations": ["capital"], "real_entities": 2, "invented_entities": 1}
CONTEXTS = {"base": 0, "assertive": 0, "negation": 4}
MEASURES = {"persuasion": {}, "susceptibility": {}, "greedy_answers": {}}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("seeds")
    changes: dict[str, Any] = {"facts": FACTS, "contexts": CONTEXTS, "measures": MEASURES, "questions": None}
    return prepare(selected(folder, seeds=[0, 1, 2], **changes))


def stored(study: Study, role: str, part: str = "") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = study.graph.nodes[BUILD_PROMPTS.id("capital", part)].output(role).read().to_pylist()
    return rows


def score(study: Study, measure: str) -> Study:
    """Stores scores of a measure: of a query 1, of a query and a context what is drawn for seed and query."""
    about: dict[str, Any] = {"relation": "capital", "model": "m", "dtype": "float32"}
    for node in study.graph:
        if node.id.stage == "score" and node.id.product == measure:
            assert node.step is not None
            table, part = node.step.table(measure), node.id.part
            scores = [{"query_id": one["query_id"], "susceptibility": 1.0} for one in stored(study, "queries", part)]
            if measure == "persuasion":
                scores = [
                    {"query_id": one["query_id"], "context_id": context["context_id"], "persuasion": drawn(part, one)}
                    for one in stored(study, "queries", part)
                    for context in stored(study, "contexts", part)
                ]
            rows = [row(table.table, **about, **one) for one in scores]
            table.write(table.table.of(rows), {**NOTED, "seconds": 1.0, "prompts": 1})
    return again(study)


def drawn(part: str, query: dict[str, Any]) -> float:
    return float(generator(0, part, query["query_id"]).random())


def test_further_seeds_have_own_contexts_and_measures(study: Study) -> None:
    scored: dict[str, set[str]] = {}
    for node in study.graph:
        if node.id.stage == "score":
            scored.setdefault(node.id.part, set()).add(node.id.product)
    two = {"persuasion", "susceptibility"}
    assert scored == {"": {*two, "greedy_answers"}, "seed 1": two, "seed 2": two}
    assert stored(study, "queries") == stored(study, "queries", "seed 1") == stored(study, "queries", "seed 2")
    texts = [{context["text"] for context in stored(study, "contexts", part)} for part in scored]
    assert texts[0] != texts[1] != texts[2] != texts[0]


def test_the_first_seed_keeps_its_keys(study: Study, tmp_path: Path) -> None:
    changes: dict[str, Any] = {"facts": FACTS, "contexts": CONTEXTS, "measures": MEASURES, "questions": None}
    alone = prepare(selected(tmp_path, **changes))
    for node in alone.graph:
        if node.step is not None and node.id.stage == "build":
            other = study.graph.nodes[node.id].step
            assert other is not None
            assert node.step.key == other.key


def test_scores_of_further_seeds_are_listed_where_published(study: Study) -> None:
    scored = score(study, "persuasion")
    listed = list(_scores_of_further_seeds(scored.contents))
    assert [(row["seed"], row["relation"], row["measure"]) for row in listed] == [
        (1, "capital", "persuasion"),
        (2, "capital", "persuasion"),
    ]
    assert len({row["key"] for row in listed}) == 2


def test_what_all_samples_have_is_compared(study: Study) -> None:
    scored = score(score(study, "persuasion"), "susceptibility")
    (node,) = (node for node in scored.graph if node.id.product == "reliability")
    assert node.step is not None
    node.step.function(node.step, RunSettings(scored.workspace.root))
    rows = {(r["measure"], r["over"], r["query_type"]): r for r in node.step.table("reliability").read().to_pylist()}
    of_queries = rows["susceptibility", "seeds", "open"]
    assert (of_queries["model"], of_queries["n"], of_queries["of_first"], of_queries["variance"]) == ("m", 6, 6, 0.0)
    common = set.intersection(
        *({context["text"] for context in stored(study, "contexts", part)} for part in ("", "seed 1", "seed 2"))
    )
    assert common
    of_pairs = rows["persuasion", "seeds", "open"]
    assert (of_pairs["n"], of_pairs["of_first"]) == (6 * len(common), 6 * 12)
    assert of_pairs["variance"] > 0


def test_a_model_named_twice_is_compared_once(tmp_path: Path) -> None:
    (model,) = small_study(tmp_path)["models"]
    models = [{**model, "dtype": dtype} for dtype in ("auto", "float32")]
    changes: dict[str, Any] = {"facts": FACTS, "contexts": CONTEXTS, "measures": ["persuasion"], "questions": None}
    study = score(prepare(selected(tmp_path, seeds=[0, 1], models=models, **changes)), "persuasion")
    steps = [node.step for node in study.graph if node.id.product == "reliability"]
    assert len(steps) == 2
    assert len({step.table("reliability").key for step in steps if step}) == 1
