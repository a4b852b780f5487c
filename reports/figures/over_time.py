"""The headline numbers of a study, run by run: a panel for each quantity, with a line and intervals for each group."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from swaymeter.data.records import OWN_CONDITIONS
from swaymeter.data.records.statistics import SHARE
from swaymeter.reports.estimates import plural
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.frames import Frames, records, unit_of, where, without_unit
from swaymeter.reports.models import Model
from swaymeter.reports.style import INK, blank, plain
from swaymeter.reports.words import CONDITION_NAMES, quantities

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

PANELS_PER_ROW = 2
SHAPES = "os^vDP"
"""Markers of matplotlib for the groups of a panel, in turn."""


def _draw(model: Model, frames: Frames) -> Drawing | None:
    rows = frames["headline_numbers_over_time"].dropna(subset=["mean"])
    if rows["run"].nunique() < 2:
        return None
    first, last = rows["completed_at"].min(), rows["completed_at"].max()
    caption = (
        "Each mark is a headline number of a completed run, from left to right, with its 95% interval as a bar. A ring "
        "marks a number that changed since the previous run: on the same items, the interval of the change excludes 0, "
        "and p is at most 0.05 after Benjamini-Hochberg over the numbers of the run. "
        f"{plural(rows['run'].nunique(), 'run')}, {first} to {last}. {model}."
    )
    names = quantities(own=bool(rows["group"].isin(OWN_CONDITIONS).any()))
    titles = {name: words for name, words in names.items() if (rows["quantity"] == name).any()}
    numbers = rows.drop(columns=["model", "dtype"])
    return Drawing(caption, numbers, without_unit(rows), partial(_paint, rows, titles))


def _paint(rows: pd.DataFrame, titles: Mapping[str, str]) -> Canvas:
    row_count = math.ceil(len(titles) / PANELS_PER_ROW)
    canvas, panel_rows = blank(row_count, PANELS_PER_ROW, 0.6 + 1.9 * row_count)
    panels = [axes for panel_row in panel_rows for axes in panel_row]
    for axes, (quantity, title) in zip(panels, titles.items(), strict=False):
        over_runs(axes, where(rows, quantity=quantity), title)
    for axes in panels[len(titles) :]:  # the last row of panels may be incomplete
        axes.remove()
    return canvas


def over_runs(axes: Axes, data: pd.DataFrame, title: str) -> None:
    """Draw a line per group: x is the run, y the mean with its interval, shares in percent."""
    from matplotlib.ticker import MaxNLocator

    factor, unit = (100, "%") if unit_of(data) == SHARE else (1, unit_of(data))
    for index, group in enumerate(dict.fromkeys(data["group"])):
        group_rows, hue, shape = where(data, group=group), f"C{index % 10}", SHAPES[index % len(SHAPES)]
        axes.plot(
            group_rows["run"],
            factor * group_rows["mean"],
            f"-{shape}",
            color=hue,
            markersize=3,
            label=plain(CONDITION_NAMES.get(group, group)),
        )
        for row in records(group_rows.dropna(subset=["low", "high"])):
            axes.plot([row["run"]] * 2, [factor * row["low"], factor * row["high"]], color=hue, lw=0.7, alpha=0.6)
        changed = group_rows[group_rows["direction"].isin(["larger", "smaller"])]
        axes.plot(changed["run"], factor * changed["mean"], "o", color=INK, markersize=9, fillstyle="none")
    axes.set_title(plain(title, 48), fontsize=7)  # 48 characters fill the width of a panel
    axes.set(xlabel="run", ylabel=unit)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if data["group"].nunique() > 1:
        axes.legend(fontsize=6.5, labelspacing=0.2)


OVER_TIME = Figure(
    "over-time",
    "How have the headline numbers changed over time?",
    "Lines of each headline number over the runs of the study, with intervals",
    ("headline_numbers_over_time",),
    _draw,
    expected=lambda frames: False,  # the page does not mention this figure if it is missing
)
