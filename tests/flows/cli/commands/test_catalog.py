"""The command `list`, which also lists extensions, and the command `init`."""

import json
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data import catalog
from swaymeter.data.errors import ModelError
from swaymeter.data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from swaymeter.flows.cli.views import listings
from swaymeter.tasks.frequency import FREQUENCY_SOURCES
from swaymeter.tasks.measures import MEASURES
from tests.extensions import measure, source
from tests.flows.conftest import Command
from tests.registries import added

ITEMS = {
    "measures": MEASURES,
    "relations": catalog.relations(),
    "models": catalog.models(),
    "sources": [*FACT_SOURCES, *QUESTION_SOURCES, *FREQUENCY_SOURCES],
}


@pytest.fixture
def list_rows(swaymeter: Command) -> Any:
    def run_list(*arguments: str) -> list[dict[str, Any]]:
        result = swaymeter("list", *arguments, "--json")
        assert (result.code, result.err) == (0, "")
        rows: list[dict[str, Any]] = json.loads(result.out)
        return rows

    return run_list


@pytest.mark.parametrize("name", ITEMS)
def test_every_item_is_listed_as_text_and_json(name: str, list_rows: Any, swaymeter: Command) -> None:
    key = name.removesuffix("s")
    assert [row[key] for row in list_rows(name)] == list(ITEMS[name])
    printed = swaymeter("list", name).out
    assert all(item in printed for item in ITEMS[name])


def test_a_registered_measure_is_listed_with_its_needs(list_rows: Any) -> None:
    with added(MEASURES, measure.MEASURE):
        *_, last = list_rows("measures")
    assert last == {
        "measure": "persuasion_range",
        "meaning": "how far apart contexts pull a query",
        "unit": "nats",
        "prompts": ["queries", "contexts"],
        "capability": "",
        "derived_from": ["persuasion"],
    }


def test_a_registered_source_has_its_keys_first(list_rows: Any) -> None:
    with added(FACT_SOURCES, source.SOURCE):
        (row,) = [row for row in list_rows("sources") if row["source"] == "csv"]
    assert (row["of"], row["description"]) == ("facts", "Facts from a CSV file.")
    assert row["keys"][:3] == ["file", "licence", "relations"]


def test_relations_are_listed_by_source(list_rows: Any, swaymeter: Command) -> None:
    relations = list_rows("relations", "--source", "sample")
    assert {row["relation"] for row in relations} == {fact.relation for fact in catalog.facts()}
    assert relations[0] == {
        "relation": "capital",
        "from": "country",
        "to": "city",
        "query": "What is the capital of {entity}?",
        "sources": ["sample", "yago", "file"],
    }
    unknown = swaymeter("list", "relations", "--source", "yag")
    assert (unknown.code, unknown.error) == (2, "no source of facts is named 'yag'; did you mean 'yago'?")


@pytest.mark.parametrize("is_downloaded", [True, False])
def test_models_are_listed_with_their_place(
    is_downloaded: bool, list_rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(name: str, purpose: str) -> None:
        raise ModelError("its package is not installed")

    monkeypatch.setattr(listings, "is_downloaded", lambda hub: is_downloaded)
    places = {row["model"]: row["place"] for row in list_rows("models")}
    assert places["smollm2-135m-instruct"] == "installed"
    assert places["gpt2"].startswith("downloaded" if is_downloaded else "to be downloaded")
    monkeypatch.setattr(listings, "identify_model", fail)
    assert list_rows("models")[0]["place"] == "its package is not installed"


@pytest.mark.parametrize("file", ["study.yaml", "My Study (2).yaml"])
def test_init_writes_a_study_that_can_be_run(
    file: str, swaymeter: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert swaymeter("init", file).code == 0
    assert swaymeter("run", file, "--dry-run").code == 0
    refused = swaymeter("init", file)
    assert (refused.code, refused.error) == (2, f"{file} exists already; name another file")
