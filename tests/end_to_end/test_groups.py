"""The bundled studies of groups and of a corpus with a tiny model, compared with plain transformers and SciPy."""

import json
import re
from collections import defaultdict
from typing import Any

import pytest
import torch
import yaml
from scipy.stats import spearmanr
from transformers import AutoModelForCausalLM, AutoTokenizer

from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.api import Study
from swaymeter.flows.config.places import STUDIES
from swaymeter.flows.graph.graph import StepId
from swaymeter.flows.stages.aggregate import schema
from swaymeter.flows.study_graph import graph_of
from tests.flows.small_study import run
from tests.reports.pixels import without_figures
from tests.tasks.models.tiny import save_language_model

GROUPS = {"friends-and-enemies-small": "pair", "gender-small": "feminineExchanged"}
CORPUS = "training-data-small"
RELATIONS = {**GROUPS, CORPUS: "capital"}
"""A relation of each study."""
QUERY_COUNT = 10
"""Queries of a study whose scores are compared."""


@pytest.fixture(scope="module")
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp(request.param)
    content = yaml.safe_load((STUDIES / f"{request.param}.yaml").read_text(encoding="utf-8"))
    content["models"][0] |= {"name": str(save_language_model(folder / "model")), "device": "cpu"}
    if request.param == CORPUS:
        content["frequency"]["corpus"] = [str(STUDIES / "made-up-corpus")]
        content["facts"]["real_entities"] = 6
    else:
        content["facts"]["per_label"] = 2
    (folder / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    small = Study.load(str(folder / "study.yaml"), str(folder / "workspace"))
    shared_results: dict[Any, Any] = {}
    with without_figures():
        graph = run(lambda: graph_of(small.plan, shared_results))
    assert {str(node.id): node.reason for node in graph if node.state != "done"} == {}
    return small


def rows(study: Study, identity: StepId, role: str) -> list[dict[str, Any]]:
    table_rows: list[dict[str, Any]] = study.graph.nodes[identity].output(role).read().to_pylist()
    return table_rows


def scores_of_transformers(folder: str, contexts: list[str], query: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the persuasion of each context and the susceptibility of a query, one prompt at a time."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()
    with torch.no_grad():
        logits = [model(**tokenizer(text + query, return_tensors="pt")).logits[0, -1].double() for text in contexts]
    log_probs = torch.stack(logits).log_softmax(dim=1)
    mixture = log_probs.exp().mean(dim=0).log()
    persuasion = (log_probs.exp() * (log_probs - mixture)).sum(dim=1)
    return persuasion, persuasion.mean()


@pytest.mark.parametrize("study", RELATIONS, indirect=True)
def test_scores_equal_scores_of_plain_transformers(study: Study) -> None:
    relation, model = RELATIONS[study.study.name], study.study.models[0]
    build = StepId("build", relation, "queries and contexts")
    queries, contexts = rows(study, build, "queries"), rows(study, build, "contexts")
    steps = {node.id.product: node.id for node in study.graph if node.id.subject == relation and node.id.model}
    persuasion: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows(study, steps["persuasion"], "persuasion"):
        persuasion[row["query_id"]][row["context_id"]] = row["persuasion"]
    susceptibility = {
        row["query_id"]: row["susceptibility"] for row in rows(study, steps["susceptibility"], "susceptibility")
    }
    texts = [context["text"] for context in contexts]
    assert len(set(texts)) == len(texts)  # so all contexts have the same weight
    for query in queries[:: len(queries) // QUERY_COUNT][:QUERY_COUNT]:
        scores, mean = scores_of_transformers(model.name, texts, query["text"])
        stored = [persuasion[query["query_id"]][context["context_id"]] for context in contexts]
        assert stored == pytest.approx(scores.tolist(), abs=1e-4)
        assert susceptibility[query["query_id"]] == pytest.approx(float(mean), abs=1e-4)


@pytest.mark.parametrize("study", GROUPS, indirect=True)
def test_page_and_database_have_the_groups(study: Study) -> None:
    page = (study.workspace.report / "index.html").read_text(encoding="utf-8")
    has_pairs = RELATIONS[study.study.name] == "pair"
    assert ("Which groups are swayed more easily?" in page) == has_pairs
    assert ("Which contexts sway which groups more easily?" in page) != has_pairs
    assert ("How far do contexts persuade by what they say" in page) == has_pairs
    assert ("stereotypes under study" in page) != has_pairs
    with opened(study.workspace.database, schema()) as warehouse:
        entities = warehouse.frame("susceptibility_of_labelled_entities")
        comparisons = warehouse.frame("group_comparisons")
    assert set(entities["label"]) == ({"enemy", "friend"} if has_pairs else {"female", "male"})
    assert entities["relation"].nunique() == (1 if has_pairs else 4)
    expected_comparisons = {"label", "type", "context", "strength"} if has_pairs else {"label", "set"}
    assert set(comparisons["comparison"]) == expected_comparisons


@pytest.mark.parametrize("study", [CORPUS], indirect=True)
def test_correlation_with_counts_equals_that_of_scipy(study: Study) -> None:
    lines = [line for file in sorted((STUDIES / "made-up-corpus").glob("*")) for line in file.read_text().splitlines()]
    text = " . ".join(re.sub(r"[^\w\s]", "", json.loads(line)["text"]) for line in lines)
    with opened(study.workspace.database, schema()) as warehouse:
        queries, correlations = (warehouse.frame(name) for name in ("susceptibility_of_queries", "correlations"))
    real = queries[~queries["invented"].astype(bool) & (queries["query_type"] == "open")]
    means = real.groupby(["relation", "entity"], observed=True)["susceptibility"].mean()
    counts = [len(re.findall(rf"\b{re.escape(name)}\b", text)) for _, name in means.index]
    expected = spearmanr(counts, means)
    (row,) = correlations.query(
        "relation == 'all' and query_type == 'open' and measure_a == 'log_entity_count' and level == 'entity'"
    ).to_dict("records")
    # n: 6 real entities of each of 4 relations
    assert (row["n"], row["spearman"], row["spearman_p"]) == (24, *map(pytest.approx, expected))
    page = (study.workspace.report / "index.html").read_text(encoding="utf-8")
    assert "Are the entities that a corpus names most often the hardest to sway?" in page
    assert "Rank correlation of how easily entities are swayed with how often the corpus names them" in page
