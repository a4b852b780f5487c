"""The page: one HTML file that needs nothing from outside.

What it shows comes from models and from the web: all of it is escaped.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import quote

import pandas as pd
from markupsafe import Markup

from swaymeter.data.catalog import paper_items, papers
from swaymeter.reports.card import StudyCard
from swaymeter.reports.figures.figure import Drawn
from swaymeter.reports.figures.rendering import Links
from swaymeter.reports.models import of_relation
from swaymeter.reports.page.cells import cell, heading, linked, numeric
from swaymeter.reports.page.shell import asset, digest, template, themes
from swaymeter.reports.tables import Filled

__all__ = ["MOST_ROWS", "Picture", "cell", "heading", "in_common", "linked", "page"]

MOST_ROWS = 120


@dataclass(frozen=True)
class Picture:
    """A drawn figure with its picture for the page, an SVG that knows both themes."""

    drawn: Drawn
    svg: str
    links: Links | None = None

    @property
    def address(self) -> Markup:
        """The picture as a data URI: nothing in it can end an attribute in double quotes."""
        return Markup("data:image/svg+xml,") + Markup(quote(self.svg.replace('"', "'"), safe=" /:;,.=()'+*!$[]{}<>"))


@dataclass(frozen=True)
class Question:
    """A question of the page, its figures model by model, and what the captions of all have in common."""

    text: str
    pictures: Sequence[Picture]
    shared: str
    captions: Sequence[str]


def page(
    card: StudyCard,
    findings: Mapping[str, Sequence[str]],
    pictures: Sequence[Picture],
    omitted: Sequence[str],
    tables: Sequence[Filled],
    *,
    overview: Mapping[str, Any],
    runs: pd.DataFrame,
    readings: pd.DataFrame,
    stand_ins: pd.DataFrame,
    example: str = "",
    answers: str = "",
    queries: str = "",
    relations: frozenset[str] = frozenset(),
) -> str:
    """The whole page as one self-contained HTML text.

    example: a part of the page, as Markup. answers, queries: the files to read them in, where there are any;
    relations: those on the page of queries.
    """
    css = themes() + asset("swaymeter.reports.page", "page.css")
    filters = {"cell": cell, "heading": heading, "linked": linked, "numeric": numeric, "of_relation": of_relation}
    return template("swaymeter.reports.page", "page.html", filters).render(
        card=card, findings=findings, papers=_by_paper(pictures), omitted=omitted, tables=tables, overview=overview,
        runs=runs, readings=readings, stand_ins=stand_ins, example=example, answers=answers, queries=queries,
        relations=relations,
        most_rows=MOST_ROWS, css=Markup(css), style_hash=digest(css),
    )  # fmt: skip


def in_common(captions: Sequence[str]) -> tuple[str, list[str]]:
    """The sentences that all captions have, once, and what is left of each; nothing in common of a single caption."""
    if len(captions) < 2:
        return "", list(captions)
    sentences = [re.split(r"(?<=\.)(?<!et al\.)(?<!Fig\.) ", caption) for caption in captions]
    shared = [one for one in sentences[0] if all(one in others for others in sentences)]
    return " ".join(shared), [" ".join(one for one in some if one not in shared) for some in sentences]


def _by_paper(pictures: Sequence[Picture]) -> list[tuple[str, list[Question]]]:
    """The headings of papers, each with the questions that are theirs, in the order of the figures."""
    by_question = groupby(pictures, key=lambda picture: picture.drawn.figure.question)
    questions = [_question(text, list(same)) for text, same in by_question]
    titles = {key: f"{paper.short}: {paper.title}" for key, paper in papers().items()} | {"": "Beyond the papers"}
    of_papers: dict[str, list[Question]] = {key: [] for key in titles}
    for question in questions:
        items = question.pictures[0].drawn.figure.items
        of_papers[paper_items()[items[0]].paper.key if items else ""].append(question)
    return [(titles[key], asked) for key, asked in of_papers.items() if asked]


def _question(text: str, pictures: Sequence[Picture]) -> Question:
    shared, captions = in_common([picture.drawn.caption for picture in pictures])
    return Question(text, pictures, shared, captions)
