"""Tooltips of a figure's marks, and the search on the page of queries."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure as Canvas

from swaymeter.reports.figures import FIGURES
from swaymeter.reports.figures.figure import Drawing, DrawnFigure, Figure, draw_all
from swaymeter.reports.figures.marks import marks_of, numbers_of
from swaymeter.reports.figures.rendering import rendered
from swaymeter.reports.models import Model
from swaymeter.reports.page.tooltips import tooltips
from swaymeter.reports.style import FEW_DOTS, blank
from tests.reports.browser import Browser

HOSTILE = "</script><script>alert(1)</script>"


def drawing(rows: pd.DataFrame, factor: float = 1.0) -> Drawing:
    """Return a drawing with a dot for each row: its value on the x axis, its name on the y axis."""
    return Drawing("", rows, rows.iloc[:0], partial(_paint, rows, factor))


def _paint(rows: pd.DataFrame, factor: float) -> Canvas:
    canvas, ((axes,),) = blank(1, 1, 2.0)
    axes.plot(factor * rows["value"], range(len(rows)), "o", linestyle="-")
    axes.plot([0.1, 0.2], [0.5, 0.5], linewidth=1)  # an interval, without marks
    axes.set_yticks(range(len(rows)), [str(name) for name in rows["relation"]])
    return canvas


ROWS = pd.DataFrame({"relation": ["capital", "author", "genre"], "value": [0.251, 0.512, 0.251], "n": [4, 5, 6]})


@pytest.mark.parametrize("factor", [1.0, 100.0])  # 100: shares that are drawn in percent
def test_a_mark_has_the_row_of_its_position(factor: float) -> None:
    dots = drawing(ROWS, factor)
    assert [mark.row for mark in marks_of(dots.paint(), dots)] == [0, 1, 2]


def test_an_ambiguous_mark_has_no_row() -> None:
    dots = drawing(ROWS.assign(relation="capital", value=0.251))
    assert marks_of(dots.paint(), dots) == ()


def test_too_many_marks_have_no_rows() -> None:
    rows = pd.DataFrame({"relation": "r", "value": [number / 10_000 for number in range(FEW_DOTS + 1)]})
    dots = drawing(rows)
    assert marks_of(dots.paint(), dots) == ()


def test_a_tooltip_cannot_end_its_script() -> None:
    rows = ROWS.assign(relation=[HOSTILE, "author", "genre"], value=[0.251, 0.512, 0.253])
    drawn = DrawnFigure(Figure("f", "How?", "Dots", (), lambda model, frames: None), Model("m", ""), drawing(rows), "")
    block = tooltips(drawn, rendered(drawn))
    assert block is not None
    assert "<" not in block
    assert json.loads(block)["items"][0] == HOSTILE


def test_figures_have_tooltips_for_their_marks(study_frames: Mapping[str, pd.DataFrame]) -> None:
    names = ("susceptibility-by-relation", "persuasion-by-kind", "coherent-persuasion", "fisher-against-susceptibility")
    for drawn in draw_all([FIGURES[name] for name in names], study_frames)[0]:
        marks = marks_of(drawn.drawing.paint(), drawn.drawing)
        assert {mark.row for mark in marks} >= set(range(len(drawn.drawing.numbers))), drawn.name
        assert max(mark.row for mark in marks) < len(numbers_of(drawn.drawing))


POINT = """(() => {
  const figure = figures.find((one) => one.items.some((name) => name in names));
  for (let at = figure.picture; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  figure.picture.scrollIntoView({block: "center", behavior: "instant"});
  const box = figure.picture.getBoundingClientRect(), scale = box.width / figure.size[0], mark = figure.marks[0];
  return [box.left + mark[0] * scale, box.top + mark[1] * scale, names[figure.items[figure.rows[mark[2]][0]]]];
})()"""
"""JavaScript that scrolls to a figure of questions and returns x and y of its first mark, and the mark's question."""


def test_the_pointer_shows_numbers_and_rings_marks(browser: Browser, report: Path) -> None:
    browser.emulate(1400, "light")
    browser.open(report / "index.html")
    x, y, question = browser.ask(POINT)
    for offset in (0, 1):
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + offset, y=y)
    browser.wait("!document.querySelector('.tip').hidden")
    text = browser.ask("document.querySelector('.tip').innerText")
    assert text.startswith(question)
    assert "nats" in text
    assert browser.ask("figures.filter((one) => one.rings.childElementCount).length") > 1
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
    browser.wait("document.querySelector('.tip').hidden")
    assert browser.trouble() == []


def test_queries_are_searched(browser: Browser, report: Path) -> None:
    browser.open(report / "queries.html")
    total = browser.ask("document.querySelectorAll('article').length")
    browser.choose("search", "AUTHOR closed")
    shown = browser.ask("document.querySelectorAll('article:not([hidden])').length")
    assert 0 < shown < total
    assert browser.ask("document.getElementById('count').textContent") == f"{shown} of {total} queries"
    assert browser.ask("document.querySelectorAll('main > section:not([hidden])').length") == 1
    browser.choose("search", "")
    assert browser.ask("document.querySelectorAll('article[hidden]').length") == 0
    assert browser.trouble() == []
