"""Each table and figure of the papers is on the page of a study that has every measure."""

import pandas as pd
import pytest

from swaymeter.data.catalog import paper_items, papers
from swaymeter.data.errors import InputError
from swaymeter.reports.figures import FIGURES
from swaymeter.reports.figures.figure import as_in, draw_all
from swaymeter.reports.tables import TABLES, filled

THERE = [key for key, item in paper_items().items() if not item.lacks]


@pytest.fixture(scope="module")
def shown(known: dict[str, pd.DataFrame]) -> set[str]:
    """The items that a figure draws, or a table shows in rows."""
    drawn = {item for one in draw_all(FIGURES.values(), known)[0] for item in one.figure.items}
    return drawn | {item for table in TABLES.values() if len(filled(table, known).rows) for item in table.items}


@pytest.mark.parametrize("item", THERE)
def test_an_item_is_on_the_page(item: str, shown: set[str]) -> None:
    assert item in shown


def test_captions_name_papers_and_items(known: dict[str, pd.DataFrame]) -> None:
    drawn = {one.figure.name: one.caption for one in draw_all([FIGURES["persuasion-by-followed"]], known)[0]}
    assert "As in Du et al. 2024, Fig. 2." in drawn["persuasion-by-followed"]


def test_an_item_that_no_paper_has_is_refused() -> None:
    with pytest.raises(InputError, match=r"'Fig. 3', which papers.yaml lacks; its keys are such as du-"):
        as_in(["Fig. 3"])


def test_items_that_lack_are_drawn_by_nothing() -> None:
    declared = {item for one in (*FIGURES.values(), *TABLES.values()) for item in one.items}
    assert declared == set(THERE)
    assert {paper_items()[item].paper.short for item in declared} == {paper.short for paper in papers().values()}
