"""Studies of several seeds: the steps and scores that each further seed adds."""

from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.randomness import generator
from swaymeter.flows.api import Study
from swaymeter.flows.datasets.publish import _scores_of_further_seeds
from swaymeter.flows.graph.graph import RunSettings
from swaymeter.flows.stages.build import BUILD_PROMPTS
from tests.data.warehouse.small_study import row
from tests.flows.small_study import METADATA, load_study, prepare, renew, small_study

FACTS = {"relations": ["capital"], "real_entities": 2, "invented_entities": 1}
CONTEXTS = {"base": 0, "assertive": 0, "negation": 4}
MEASURES = {"persuasion": {}, "susceptibility": {}, "greedy_answers": {}}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("seeds")
    changes: dict[str, Any] = {"facts": FACTS, "contexts": CONTEXTS, "measures": MEASURES, "questions": None}
    return prepare(load_study(folder, seeds=[0, 1, 2], **changes))


def stored_rows(study: Study, role: str, part: str = "") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = study.graph.nodes[BUILD_PROMPTS.id("capital", part)].output(role).read().to_pylist()
    return rows


def score(study: Study, measure: str) -> Study:
    """Store scores of a measure: 1 for each susceptibility, a number drawn by seed and query for each persuasion."""
    identity: dict[str, Any] = {"relation": "capital", "model": "m", "dtype": "float32"}
    for node in study.graph:
        if node.id.stage == "score" and node.id.product == measure:
            assert node.step is not None
            table, part = node.step.table(measure), node.id.part
            scores = [
                {"query_id": query["query_id"], "susceptibility": 1.0} for query in stored_rows(study, "queries", part)
            ]
            if measure == "persuasion":
                scores = [
                    {
                        "query_id": query["query_id"],
                        "context_id": context["context_id"],
                        "persuasion": float(generator(0, part, query["query_id"]).random()),
                    }
                    for query in stored_rows(study, "queries", part)
                    for context in stored_rows(study, "contexts", part)
                ]
            rows = [row(table.table, **identity, **columns) for columns in scores]
            table.write(table.table.of(rows), {**METADATA, "seconds": 1.0, "prompts": 1})
    return renew(study)


def test_further_seeds_repeat_queries_with_other_contexts(study: Study) -> None:
    scored: dict[str, set[str]] = {}
    for node in study.graph:
        if node.id.stage == "score":
            scored.setdefault(node.id.part, set()).add(node.id.product)
    seeded = {"persuasion", "susceptibility"}
    assert scored == {"": {*seeded, "greedy_answers"}, "seed 1": seeded, "seed 2": seeded}
    assert (
        stored_rows(study, "queries")
        == stored_rows(study, "queries", "seed 1")
        == stored_rows(study, "queries", "seed 2")
    )
    texts = [{context["text"] for context in stored_rows(study, "contexts", part)} for part in scored]
    assert texts[0] != texts[1] != texts[2] != texts[0]


def test_the_first_seed_keeps_its_keys(study: Study, tmp_path: Path) -> None:
    changes: dict[str, Any] = {"facts": FACTS, "contexts": CONTEXTS, "measures": MEASURES, "questions": None}
    alone = prepare(load_study(tmp_path, **changes))
    for node in alone.graph:
        if node.step is not None and node.id.stage == "build":
            other = study.graph.nodes[node.id].step
            assert other is not None
            assert node.step.key == other.key


def test_a_publication_lists_scores_of_further_seeds(study: Study) -> None:
    scored = score(study, "persuasion")
    listed = list(_scores_of_further_seeds(scored.contents))
    assert [(row["seed"], row["relation"], row["measure"]) for row in listed] == [
        (1, "capital", "persuasion"),
        (2, "capital", "persuasion"),
    ]
    assert len({row["key"] for row in listed}) == 2


def test_contexts_common_to_all_seeds_are_compared(study: Study) -> None:
    scored = score(score(study, "persuasion"), "susceptibility")
    (node,) = (node for node in scored.graph if node.id.product == "reliability")
    assert node.step is not None
    node.step.function(node.step, RunSettings(scored.workspace.root))
    rows = {
        (row["measure"], row["over"], row["query_type"]): row
        for row in node.step.table("reliability").read().to_pylist()
    }
    susceptibility = rows["susceptibility", "seeds", "open"]
    assert (susceptibility["model"], susceptibility["n"], susceptibility["of_first"], susceptibility["variance"]) == (
        "m",
        6,
        6,
        0.0,
    )
    common = set.intersection(
        *({context["text"] for context in stored_rows(study, "contexts", part)} for part in ("", "seed 1", "seed 2"))
    )
    assert common
    persuasion = rows["persuasion", "seeds", "open"]
    # Six open queries; for each of three entities, the first seed draws four contexts.
    assert (persuasion["n"], persuasion["of_first"]) == (6 * len(common), 6 * 12)
    assert persuasion["variance"] > 0


def test_a_model_named_twice_is_compared_once(tmp_path: Path) -> None:
    (model,) = small_study(tmp_path)["models"]
    models = [{**model, "dtype": dtype} for dtype in ("auto", "float32")]  # on a CPU, auto is float32
    changes: dict[str, Any] = {"facts": FACTS, "contexts": CONTEXTS, "measures": ["persuasion"], "questions": None}
    study = score(prepare(load_study(tmp_path, seeds=[0, 1], models=models, **changes)), "persuasion")
    steps = [node.step for node in study.graph if node.id.product == "reliability"]
    assert len(steps) == 2
    assert len({step.table("reliability").key for step in steps if step}) == 1
