"""The page: one HTML file that needs nothing from outside.

What it shows comes from models and from the web: all of it is escaped.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from numbers import Integral, Real
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
from markupsafe import Markup, escape

from reports.card import StudyCard
from reports.figures.figure import Drawn
from reports.frames import SHARE
from reports.page.shell import asset, digest, template, themes
from reports.tables import Filled

MOST_ROWS = 120
_ADDRESS = re.compile(r"https?://[^\s<>\"'`{}|\\^]*[^\s<>\"'`{}|\\^.,;:!?)\]]")


@dataclass(frozen=True)
class Picture:
    """A drawn figure with its picture for the page, an SVG that knows both themes."""

    drawn: Drawn
    svg: str

    @property
    def address(self) -> Markup:
        """The picture as a data URI: nothing in it can end an attribute in double quotes."""
        return Markup("data:image/svg+xml,") + Markup(quote(self.svg.replace('"', "'"), safe=" /:;,.=()'+*!$[]{}"))


def page(
    card: StudyCard,
    findings: Mapping[str, Sequence[str]],
    pictures: Sequence[Picture],
    omitted: Sequence[str],
    tables: Sequence[Filled],
    *,
    overview: Mapping[str, Any],
    runs: pd.DataFrame,
    stand_ins: pd.DataFrame,
    answers: str = "",
) -> str:
    """The whole page as one self-contained HTML text. answers: the file to read them in, where there is one."""
    css = themes() + asset("reports.page", "page.css")
    filters = {"cell": cell, "heading": heading, "linked": linked, "numeric": _numeric}
    by_question = groupby(pictures, key=lambda picture: picture.drawn.figure.question)
    groups = [(question, list(same)) for question, same in by_question]
    return template("reports.page", "page.html", filters).render(
        card=card, findings=findings, groups=groups, omitted=omitted, tables=tables, overview=overview,
        runs=runs, stand_ins=stand_ins, answers=answers, most_rows=MOST_ROWS, css=Markup(css), style_hash=digest(css),
    )  # fmt: skip


def cell(value: object, unit: str = "") -> str:
    """A value as the page shows it; a dash where there is none. The CSV has the digits that this rounds away."""
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return "\N{EN DASH}"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    if not isinstance(value, Real):
        return str(value)
    number = float(value)
    if math.isinf(number):
        return "∞" if number > 0 else "\N{MINUS SIGN}∞"
    if unit == SHARE:
        return f"{100 * number:.1f}%"
    return _digits(number)


def heading(column: str, unit: str = "") -> str:
    """A column's name in words, with its unit."""
    words = column.replace("_", " ")
    if unit == SHARE:
        return f"% {words.removeprefix('share ')}"
    return f"{words} ({unit})" if unit else words


def linked(text: str) -> Markup:
    """The text with its web addresses as plain links, everything else escaped."""
    markup, at = Markup(), 0
    for match in _ADDRESS.finditer(text):
        markup += escape(text[at : match.start()])
        markup += Markup('<a href="{0}" rel="noopener noreferrer">{0}</a>').format(match.group())
        at = match.end()
    return markup + escape(text[at:])


def _digits(number: float) -> str:
    size = abs(number)
    if size and size < 0.001:
        return f"{number:.1e}"
    return f"{number:,.0f}" if size >= 1000 else f"{number:.3f}"


def _numeric(value: object) -> bool:
    return value is None or value is pd.NA or isinstance(value, Real)
