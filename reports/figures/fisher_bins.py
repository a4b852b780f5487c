"""Fisher susceptibility in bins of susceptibility over contexts, from 0 to 1 nat (as [L] Figs 2, 5)."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.reports.estimates import percent, plural
from swaymeter.reports.figures.against_susceptibility import contexts_of, logarithmic_upward
from swaymeter.reports.figures.boxes import column_of_values, how_to_read, named_columns
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import type_panels
from swaymeter.reports.frames import Frames, Model, finite, in_order, records, unit_of, where, without_unit
from swaymeter.reports.style import QUERY_HUES

BINS = ("0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1", "over 1")
_EDGES = (0.2, 0.4, 0.6, 0.8, np.nextafter(1, 2))
_SHOWN = [
    "query_type", "bin", "queries", "share_queries", "mean", "low", "high", "lower_quartile", "median",
    "upper_quartile",
]  # fmt: skip


def fisher_by_bin(axes: Axes, data: pd.DataFrame, bins: pd.DataFrame, shown: list[str]) -> None:
    """Draws Fisher susceptibility, a column for each shown bin of susceptibility.

    `data` has susceptibility and fisher; `bins` bin, queries, share_queries, mean, low, high and the quantiles; one
    query type.
    """
    hue = QUERY_HUES[str(bins["query_type"].iloc[0])]
    place = np.digitize(data["susceptibility"], _EDGES)
    rows, labels = {row["bin"]: row for row in records(bins)}, []
    for at, name in enumerate(shown):
        row = rows.get(name)
        if row:
            values = data.loc[place == BINS.index(name), "fisher"].to_numpy(dtype=float)
            column_of_values(axes, at, values, row, hue)
        share = f"{percent(row['share_queries'])}\nn = {row['queries']}" if row else "0.0%\nn = 0"
        labels.append(f"{name.replace(' to ', '–')}\n{share}")
    named_columns(axes, labels)


def draw(model: Model, frames: Frames) -> Drawing | None:
    """A model's queries that have both measures."""
    every = frames["both_susceptibilities_of_queries"]
    rows = finite(every, "susceptibility", "fisher").rows
    bins = where(frames["both_susceptibilities_in_short"], measure="fisher", grouped_by="susceptibility")
    if rows.empty or bins.empty:
        return None
    unit = unit_of(bins)
    bins = without_unit(bins).rename(columns={"of_group": "bin"})
    bins = in_order(bins, query_type=[*QUERY_HUES, "all"], bin=BINS)
    over = int((rows["susceptibility"] > 1).sum())
    caption = (
        f"From left to right, queries that the study's contexts sway further. {how_to_read('entities')}; "
        f"below it the bin's share and number of queries. A bin holds its lower edge, the last up to 1 both; "
        f"{over} of {len(rows)} queries are over 1 nat. Fisher susceptibility is in {unit}: values of different models "
        f"are not comparable. {model}; n = {len(rows)} queries in {plural(rows['relation'].nunique(), 'relation')}, "
        f"{contexts_of(rows)}"
    )
    shown = bins[_SHOWN]
    shown.attrs["units"] = bins.attrs["units"]
    return Drawing(caption, every.drop(columns=["model", "dtype"]), shown, partial(_paint, rows, bins, unit))


def _paint(rows: pd.DataFrame, bins: pd.DataFrame, unit: str) -> Canvas:
    of_types = where(bins, query_type="open"), where(bins, query_type="closed")
    label = f"Fisher susceptibility\n({unit})"
    canvas, panels = type_panels(pd.concat(of_types), 3.4, share_x=False, x="susceptibility (nats)", y=label)
    shown = [name for name in BINS if name != "over 1" or (bins["bin"] == name).any()]
    first = canvas.axes[0]
    first.set_yscale("log" if (rows["fisher"] > 0).all() else "linear")
    for kind, axes in panels.items():
        fisher_by_bin(axes, rows[rows["query_type"] == kind], where(bins, query_type=kind), shown)
    if first.get_yscale() == "log":
        logarithmic_upward(first, *first.get_ylim())
    return canvas


FIGURE = Figure(
    "fisher-in-bins-of-susceptibility",
    "Is Fisher susceptibility larger where contexts sway a query further?",
    "Box plots of Fisher susceptibility in bins of susceptibility in nats",
    ("both_susceptibilities_of_queries", "both_susceptibilities_in_short"),
    draw,
    measures=("fisher_susceptibility", "susceptibility"),
    items=("liu-fig-2", "liu-fig-5"),
)
