"""Susceptibility by how often a context leaves the greedy answer as it was, conflicting or any ([D] Fig 3)."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.reports.estimates import percent, plural
from swaymeter.reports.figures.boxes import column_of_values, how_to_read, named_columns
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import query_types
from swaymeter.reports.frames import Frames, Model, finite, in_order, records, where, without_unit
from swaymeter.reports.style import QUERY_HUES, blank

RATIOS = {"conflicting contexts": "memorization_ratio", "every context": "memorization_ratio_all"}
_FIFTHS = ("0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1")
_EDGES = (0.2, 0.4, 0.6, 0.8)
_SHOWN = [
    "contexts", "query_type", "memorization_ratio", "queries", "share_queries", "mean", "low", "high", "lower_quartile",
    "median", "upper_quartile",
]  # fmt: skip


def susceptibility_by_memorization(
    axes: Axes, data: pd.DataFrame, fifths: pd.DataFrame, ratio: str = "memorization_ratio"
) -> None:
    """Draws susceptibility in nats, a column per fifth of a memorization ratio.

    `data` has the column `ratio` and susceptibility; `fifths` memorization_ratio, queries, share_queries, the mean with
    its interval and the quantiles; one query type.
    """
    hue = QUERY_HUES[str(fifths["query_type"].iloc[0])]
    fifth = np.digitize(data[ratio], _EDGES)
    result, labels = {row["memorization_ratio"]: row for row in records(fifths)}, []
    for at, name in enumerate(_FIFTHS):
        row = result.get(name, {"queries": 0, "share_queries": 0.0})
        if row["queries"]:
            column_of_values(axes, at, data.loc[fifth == at, "susceptibility"], row, hue)
        labels.append(f"{name.replace(' to ', '–')}\n{percent(row['share_queries'])}\nn = {row['queries']}")
    named_columns(axes, labels)


def draw(model: Model, frames: Frames) -> Drawing | None:
    every, fifths = frames["memorization_of_queries"], frames["memorization_in_short"]
    fifths = without_unit(fifths[fifths["memorization_ratio"].notna()])
    if fifths.empty:
        return None
    fifths = in_order(fifths, contexts=RATIOS, query_type=QUERY_HUES, memorization_ratio=_FIFTHS)
    result = finite(every, "susceptibility")
    undefined = {name: int(every[ratio].isna().sum()) for name, ratio in RATIOS.items()}
    without = "; ".join(f"{name}: {count}" for name, count in undefined.items())
    caption = (
        "A query's memorization ratio is n(original) / (n(original) + n(context's)): which of the two the greedy "
        "answer is. Above, it is counted over the contexts that conflict, that is state another answer about the "
        "query's entity; below, over every context, which the authors' released code counts, but with each output at "
        "its own context, where that code sorts one and not the other. A column is a fifth of the ratio. "
        f"{how_to_read('entities')}; below "
        f"it the fifth's share and number of queries. {model}; n = {len(every)} "
        f"queries in {plural(every['relation'].nunique(), 'relation')}. Queries without a ratio, in no box (0/0: no "
        f"answer was either): {without}.{result.note('queries')}"
    )
    points = every.drop(columns=["model", "dtype"])
    return Drawing(caption, points, fifths[_SHOWN], partial(_paint, result.rows, fifths))


def _paint(data: pd.DataFrame, fifths: pd.DataFrame) -> Canvas:
    types, counted = query_types(fifths), [name for name in RATIOS if (fifths["contexts"] == name).any()]
    canvas, grid = blank(len(counted), len(types), 0.5 + 2.9 * len(counted), share_y=True)
    for line, contexts in zip(grid, counted, strict=True):
        ratio = RATIOS[contexts]
        defined = data[data[ratio].notna()]
        for axes, kind in zip(line, types, strict=True):
            of_type = where(fifths, contexts=contexts, query_type=kind)
            axes.set(title=f"{kind} queries, {contexts}", xlabel="memorization ratio (no unit)")
            if len(of_type):
                susceptibility_by_memorization(axes, where(defined, query_type=kind), of_type, ratio)
        line[0].set_ylabel("susceptibility (nats)")
    grid[0][0].set_ylim(bottom=0)
    return canvas


FIGURE = Figure(
    "susceptibility-by-memorization",
    "Are queries whose answer the model holds on to swayed less?",
    "Box plots of susceptibility in nats by fifths of the memorization ratio",
    ("memorization_of_queries", "memorization_in_short"),
    draw,
    measures=("memorization_ratio", "susceptibility"),
    items=("du-fig-3",),
)
