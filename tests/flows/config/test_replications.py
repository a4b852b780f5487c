"""The replication studies have the settings of their papers."""

from pathlib import Path

import pytest
import yaml

from swaymeter.data.catalog import published
from swaymeter.flows.api import Study
from swaymeter.flows.config.places import STUDIES
from swaymeter.flows.config.study import read_study
from tests.flows.small_study import small_study, write_study

PYTHIA = ("70m", "410m", "1.4b", "2.8b", "6.9b", "12b")
STUDIES_OF_DU = ("replicate-du", "training-data", "friends-and-enemies", "gender")


def models(*studies: str) -> dict[str, str]:
    """Return the dtypes of the models of studies, by model."""
    return {model.name: model.dtype for name in studies for model in read_study(name).models}


def test_liu_has_the_models_of_its_tables() -> None:
    liu, llama = models("replicate-liu"), models("replicate-liu-llama")
    table_models = {value.model for table in ("liu-table-1", "liu-table-2") for value in published(table)}
    assert {*liu, *llama} == table_models
    assert (len(liu), set(liu.values()), set(llama.values())) == (10, {"float32"}, {"bfloat16"})


def test_du_has_the_models_of_its_figures() -> None:
    figure_models = {f"pythia-{size}-deduped": "auto" for size in PYTHIA} | {"pythia-12b-deduped": "8bit"}
    assert models("replicate-du") == models("training-data") == figure_models
    assert [*models("friends-and-enemies", "gender")] == ["pythia-6.9b-deduped"]


def test_entities_of_replications_are_drawn_at_random() -> None:
    for name in ("replicate-du", "training-data", "replicate-liu", "replicate-liu-llama"):
        assert read_study(name).facts.model_dump()["choice"] == "random"


def test_training_data_uses_the_scores_of_du() -> None:
    du, training_data = read_study("replicate-du"), read_study("training-data")
    assert training_data.workspace == f"workspaces/{du.name}"
    assert (training_data.facts, training_data.contexts, training_data.seed) == (du.facts, du.contexts, du.seed)
    assert training_data.models == du.models


def test_marjanovic_has_the_prompts_of_its_models() -> None:
    study = read_study("replicate-marjanovic")
    prompts = {model.name: study.answer_prompts(model) for model in study.models}
    assert {name: prompt.chat_template for name, prompt in prompts.items()} == {
        "mistral-7b-instruct-v0.1": "auto",
        "llama-2-7b-chat": "auto",
        "qwen2-7b-instruct": "never",
    }
    for prompt in prompts.values():
        assert prompt.system_with_context is None
        assert prompt.plain_with_context.startswith(prompt.system)
        assert prompt.plain_without_context.startswith(prompt.system)
        assert (prompt.about_without_context, prompt.about_with_context) == ("all", "all")
        # The chat template adds markers such as [INST]; the texts have none.
        assert "[" not in "".join(str(text) for text in prompt.content.values())


@pytest.mark.parametrize("name", [*STUDIES_OF_DU, "replicate-liu", "replicate-liu-llama", "replicate-marjanovic"])
def test_replications_are_planned_without_a_network(name: str, tmp_path: Path) -> None:
    content = yaml.safe_load((STUDIES / f"{name}.yaml").read_text(encoding="utf-8"))
    content |= {key: small_study(tmp_path)[key] for key in ("workspace", "models")}
    if content.get("facts", {}).get("relations") == "all" and content["facts"]["source"] == "yago":
        content["facts"]["relations"] = ["capital"]
    if "frequency" in content:
        content["frequency"]["corpus"] = [str(STUDIES / "made-up-corpus")]
    if "clusters" in content["measures"]:
        content["measures"]["clusters"]["entailment"] = str(tmp_path / "judge")
    study = Study.load(write_study(tmp_path, content))
    assert {node.reason for node in study.graph if node.state == "failed"} == set()
    assert {"fetch", "score", "aggregate", "report"} <= {node.id.stage for node in study.graph}
