"""The headline numbers of a study, run by run: a panel for each quantity, a line with its intervals for each group."""

from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from swaymeter.data.records.statistics import SHARE
from swaymeter.reports.estimates import plural
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.frames import Frames, records, unit_of, where, without_unit
from swaymeter.reports.models import Model
from swaymeter.reports.style import INK, blank, plain
from swaymeter.reports.words import CONDITION_NAMES, QUANTITIES

ACROSS = 2


def _draw(model: Model, frames: Frames) -> Drawing | None:
    rows = frames["headline_numbers_over_time"].dropna(subset=["mean"])
    if rows["run"].nunique() < 2:
        return None
    first, last = rows["completed_at"].min(), rows["completed_at"].max()
    caption = (
        "Each mark is a headline number of a completed run, from left to right; bars are its 95% intervals, and a ring "
        "is a number that moved by more than its interval since the run before, on the same items, after "
        f"Benjamini-Hochberg over the numbers of the run. {plural(rows['run'].nunique(), 'run')}, {first} to {last}. "
        f"{model}."
    )
    quantities = [name for name in QUANTITIES if (rows["quantity"] == name).any()]
    numbers = rows.drop(columns=["model", "dtype"])
    return Drawing(caption, numbers, without_unit(rows), partial(_paint, rows, quantities))


def _paint(rows: pd.DataFrame, quantities: list[str]) -> Canvas:
    lines = -(-len(quantities) // ACROSS)
    canvas, panels = blank(lines, ACROSS, 0.6 + 1.9 * lines)
    every = [axes for line in panels for axes in line]
    for axes, quantity in zip(every, quantities, strict=False):
        over_runs(axes, where(rows, quantity=quantity), QUANTITIES[quantity])
    for axes in every[len(quantities) :]:
        axes.remove()
    return canvas


def over_runs(axes: Axes, data: pd.DataFrame, title: str) -> None:
    """Draws a line for each group: run across, the mean with its interval up, shares in percent."""
    factor, unit = (100, "%") if unit_of(data) == SHARE else (1, unit_of(data))
    for number, group in enumerate(dict.fromkeys(data["group"])):
        of_group, hue = where(data, group=group), f"C{number % 10}"
        axes.plot(of_group["run"], factor * of_group["mean"], "-o", color=hue, markersize=3,
                  label=plain(CONDITION_NAMES.get(group, group)))  # fmt: skip
        for row in records(of_group.dropna(subset=["low", "high"])):
            axes.plot([row["run"]] * 2, [factor * row["low"], factor * row["high"]], color=hue, lw=0.7, alpha=0.6)
        moved = of_group[of_group["verdict"].isin(["larger", "smaller"])]
        axes.plot(moved["run"], factor * moved["mean"], "o", color=INK, markersize=9, fillstyle="none")
    axes.set(title=plain(title, 48), xlabel="run", ylabel=unit)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if data["group"].nunique() > 1:
        axes.legend(fontsize=7)


OVER_TIME = Figure(
    "over-time", "How have the headline numbers changed over time?",
    "Lines of each headline number over the runs of the study, with intervals",
    ("headline_numbers_over_time",), _draw, expected=lambda frames: False,
)
