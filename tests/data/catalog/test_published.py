"""Values of the papers are read with their source, and refused where they break their form."""

import pytest

from data import catalog
from data.catalog import published_values
from data.catalog.reading import rows
from data.errors import InputError, UnknownName
from tests.data.conftest import Change


def test_values_of_an_item_are_found_by_quantity() -> None:
    spearman = catalog.published("liu-table-1", "spearman")
    assert {row.query_type: row.value for row in spearman} == {"open": 0.76, "closed": 0.47}
    names = ("llama-3-8b-instruct", "meta-llama/Meta-Llama-3-8B-Instruct", "gpt2")
    assert [spearman[0].is_of(name) for name in names] == [True, True, False]


def test_shares_are_the_counts_that_the_paper_states() -> None:
    shares = {row.query_type: row for row in catalog.published("du-fig-2", "share_significant")}
    assert {kind: row.words for kind, row in shares.items()} == {"open": "59%", "closed": "34%"}
    assert [round(n * shares[kind].value, 2) for n, kind in ((108, "open"), (122, "closed"))] == [64, 42]


@pytest.mark.parametrize("names", [("du-fig-99",), ("du-fig-2", "spearman")])
def test_an_unknown_item_or_quantity_is_an_error(names: tuple[str, ...]) -> None:
    with pytest.raises(UnknownName):
        catalog.published(*names)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (",0.76,", ",much,", r"line \d+: value: .*'much'"),
        ("llama-3-8b-instruct,open,,spearman", "llama,open,,spearman", r"line \d+: model: the model is not in"),
        ("du-fig-9,", "fig-9,", r"line \d+: item: "),
    ],
)
def test_a_broken_row_is_refused_with_its_line(change: Change, old: str, new: str, message: str) -> None:
    change("published.csv", old, new)
    with pytest.raises(InputError, match=f"published.csv: {message}"):
        rows(published_values.FILE, catalog.PublishedValue)
