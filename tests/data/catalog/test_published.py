"""Values that the papers publish, and refusals of malformed rows."""

from collections.abc import Mapping

import pytest

from swaymeter.data import catalog
from swaymeter.data.catalog.papers import FILE
from swaymeter.data.catalog.reading import rows
from swaymeter.data.errors import InputError, UnknownName
from tests.data.conftest import Change


def printed(item: str, quantity: str, model: str | None = None, **by: str) -> list[str]:
    values = catalog.published(item, quantity)
    return [value.text for value in values if value.model == model and by.items() <= value.by.items()]


def test_every_value_that_the_papers_print_is_read() -> None:
    counts = dict.fromkeys(catalog.papers(), 0)
    for row in rows(FILE, catalog.PublishedValue):
        counts[catalog.paper_items()[row.item].paper.key] += 1
    assert catalog.published("du-fig-3") == ()  # the figure draws its values without printing them
    assert counts == {"du": 77, "liu": 167, "marjanovic": 155}


@pytest.mark.parametrize(
    ("paper", "item", "quantity", "models"),
    [
        ("liu", "table-2", "mean_susceptibility", 14),
        ("liu", "table-1", "pearson", 14),
        ("du", "setup", "parameters", 6),
        ("marjanovic", "table-2", "accuracy", 3),
    ],
)
def test_all_models_of_a_paper_have_values(paper: str, item: str, quantity: str, models: int) -> None:
    assert len({value.model for value in catalog.published(f"{paper}-{item}", quantity)}) == models


CASES: list[tuple[list[str], str, str, str | None, Mapping[str, str]]] = [
    (["0.76"], "liu-table-1", "spearman", "llama-3-8b-instruct", {"query_type": "open"}),
    (["59%"], "du-fig-2", "share_significant", "pythia-6.9b-deduped", {"query_type": "open"}),
    (["78.44%"], "marjanovic-table-1", "share_persuaded", "llama-2-7b-chat", {"partition": "static"}),
    (
        ["12.7064"],
        "marjanovic-table-2",
        "semantic_entropy",
        "llama-2-7b-chat",
        {"partition": "static", "condition": "none"},
    ),
    (["5.8550"], "marjanovic-table-2", "coherent_persuasion", "mistral-7b-instruct-v0.1", {"partition": "static"}),
    (["2.79e-6"], "marjanovic-table-7", "p", "qwen2-7b-instruct", {"predictor": "edits"}),
    (["< 2e-16"], "marjanovic-table-3", "p", "llama-2-7b-chat", {"predictor": "edits"}),
    (["> 11", "< 16"], "marjanovic-fig-15", "semantic_entropy_with", "llama-2-7b-chat", {"entropy_class": "middle"}),
    (["6,900,000,000"], "du-setup", "parameters", "pythia-6.9b-deduped", {}),
    (["≈ 200"], "du-app-f.2", "entities_removed", None, {}),
]


@pytest.mark.parametrize(("expected", "item", "quantity", "model", "by"), CASES)
def test_values_keep_the_digits_that_papers_print(
    expected: list[str], item: str, quantity: str, model: str | None, by: Mapping[str, str]
) -> None:
    assert printed(item, quantity, model, **by) == expected


def test_notes_explain_doubtful_and_offset_values() -> None:
    (misprint,) = catalog.published("marjanovic-section-6.5", "degrees_of_freedom")
    assert misprint.notes[0].startswith("a misprint for 2494")
    (overall,) = (
        value
        for value in catalog.published("liu-table-2")
        if (value.model, value.by["query_type"]) == ("llama-2-7b-chat", "all")
    )
    assert (overall.comparable_value, len(overall.notes)) == (0.57, 1)
    entropy = catalog.published("marjanovic-table-2", "semantic_entropy")[0]
    assert "entropies are without the 5 that the released code adds" in entropy.notes


@pytest.mark.parametrize("names", [("du-fig-99",), ("du-fig-2", "spearman")])
def test_an_unknown_item_or_quantity_is_an_error(names: tuple[str, ...]) -> None:
    with pytest.raises(UnknownName):
        catalog.published(*names)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (",0.76,", ",much,", r"line \d+: value: "),
        ("liu-table-1,llama-3-8b,", "liu-table-1,llama,", r"line \d+: model: the model is not in models.yaml"),
        ("du-fig-9,", "fig-9,", r"line \d+: item: the item is not in papers.yaml"),
        ("query_type=open; level=query", "query_type; level=query", r"line \d+: by: must be KEY=VALUE pairs"),
    ],
)
def test_a_broken_row_is_refused_with_its_line(change: Change, old: str, new: str, message: str) -> None:
    change("published.csv", old, new)
    with pytest.raises(InputError, match=f"published.csv: {message}"):
        rows(FILE, catalog.PublishedValue)
