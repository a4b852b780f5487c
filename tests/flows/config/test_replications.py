"""The replication studies are as their papers say."""

from pathlib import Path

import pytest
import yaml

from swaymeter.data.catalog import published
from swaymeter.flows.api import Study
from swaymeter.flows.config.places import STUDIES
from swaymeter.flows.config.study import read_study
from tests.flows.small_study import small_study, write_study

PYTHIA = ("70m", "410m", "1.4b", "2.8b", "6.9b", "12b")
DU = ("replicate-du", "training-data", "friends-and-enemies", "gender")


def models(*studies: str) -> dict[str, str]:
    """The models of studies, with their dtypes."""
    return {model.name: model.dtype for name in studies for model in read_study(name).models}


def test_liu_asks_the_models_of_its_tables() -> None:
    single, llama = models("replicate-liu"), models("replicate-liu-llama")
    of_tables = {value.model for table in ("liu-table-1", "liu-table-2") for value in published(table)}
    assert {*single, *llama} == of_tables
    assert (len(single), set(single.values()), set(llama.values())) == (10, {"float32"}, {"bfloat16"})


def test_every_figure_of_du_has_its_model() -> None:
    six = {f"pythia-{size}-deduped": "auto" for size in PYTHIA} | {"pythia-12b-deduped": "8bit"}
    assert models("replicate-du") == models("training-data") == six
    assert [*models("friends-and-enemies", "gender")] == ["pythia-6.9b-deduped"]


def test_entities_of_replications_are_drawn_at_random() -> None:
    for name in ("replicate-du", "training-data", "replicate-liu", "replicate-liu-llama"):
        assert read_study(name).facts.model_dump()["choice"] == "random"


def test_frequencies_are_of_the_replicated_scores() -> None:
    du, counted = read_study("replicate-du"), read_study("training-data")
    assert counted.workspace == f"workspaces/{du.name}"
    assert (counted.facts, counted.contexts, counted.seed) == (du.facts, du.contexts, du.seed)
    assert counted.models == du.models


def test_marjanovic_has_chat_templates_for_two_models() -> None:
    study = read_study("replicate-marjanovic")
    prompts = {model.name: study.answer_prompts(model) for model in study.models}
    assert {name: one.chat_template for name, one in prompts.items()} == {
        "mistral-7b-instruct-v0.1": "auto",
        "llama-2-7b-chat": "auto",
        "qwen2-7b-instruct": "never",
    }
    for one in prompts.values():
        assert one.system_with_context is None
        assert one.plain_with_context.startswith(one.system)
        assert one.plain_without_context.startswith(one.system)
        assert (one.about_without_context, one.about_with_context) == ("all", "all")
        assert "[" not in "".join(str(text) for text in one.content.values())


@pytest.mark.parametrize("name", [*DU, "replicate-liu", "replicate-liu-llama", "replicate-marjanovic"])
def test_a_replication_can_be_resolved_without_a_network(name: str, tmp_path: Path) -> None:
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
