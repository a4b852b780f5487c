"""Susceptibility by how often a conflicting context leaves the greedy answer as it was (as [D] Fig 3)."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from reports.figures.figure import Drawing, Figure
from reports.figures.panels import type_panels
from reports.frames import Frames, Model, finite, in_order, plural, records, without_unit
from reports.style import INK, QUERY_HUES

FEWEST = 30
_FIFTHS = ("0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1")
_EDGES = (0.2, 0.4, 0.6, 0.8)
_BOX = {"whislo": "percentile_5", "q1": "lower_quartile", "med": "median", "q3": "upper_quartile",
        "whishi": "percentile_95"}  # fmt: skip
_SHOWN = [
    "query_type", "memorization_ratio", "queries", "share_queries", "mean", "lower_quartile", "median",
    "upper_quartile",
]  # fmt: skip


def susceptibility_by_memorization(axes: Axes, data: pd.DataFrame, fifths: pd.DataFrame) -> None:
    """Draws susceptibility in nats, a box per fifth of the memorization ratio; under 30 queries they are dots.

    `data` has memorization_ratio and susceptibility; `fifths` memorization_ratio, queries, share_queries and the
    quantiles; one query type.
    """
    hue = QUERY_HUES[str(fifths["query_type"].iloc[0])]
    fifth = np.digitize(data["memorization_ratio"], _EDGES)
    result, labels = {row["memorization_ratio"]: row for row in records(fifths)}, []
    for at, name in enumerate(_FIFTHS):
        row = result.get(name, {"queries": 0, "share_queries": 0.0})
        if row["queries"] >= FEWEST:
            box = {part: row[column] for part, column in _BOX.items()}
            axes.bxp(
                [box], positions=[at], widths=0.6, showfliers=False, patch_artist=True, manage_ticks=False,
                boxprops={"facecolor": f"{hue}40", "edgecolor": hue}, medianprops={"color": INK, "linewidth": 1.6},
                whiskerprops={"color": hue}, capprops={"color": hue},
            )  # fmt: skip
        else:
            values = np.sort(data.loc[fifth == at, "susceptibility"])
            axes.plot(np.full(len(values), at), values, "o", color=hue, markersize=3)
        labels.append(f"{name.replace(' to ', '–')}\n{100 * row['share_queries']:.0f}%\nn = {row['queries']}")
    axes.set_xticks(range(len(_FIFTHS)), labels, fontsize=7.5)
    axes.set_xlim(-0.5, len(_FIFTHS) - 0.5)
    axes.grid(axis="x", visible=False)


def draw(model: Model, frames: Frames) -> Drawing | None:
    every, fifths = frames["memorization_of_queries"], frames["memorization_in_short"]
    fifths = without_unit(fifths[fifths["memorization_ratio"].notna()])
    if fifths.empty:
        return None
    fifths = in_order(fifths, query_type=QUERY_HUES, memorization_ratio=_FIFTHS)
    defined = finite(every, "memorization_ratio")
    result = finite(defined.rows, "susceptibility")
    relations = result.rows["relation"].nunique()
    caption = (
        "A query's memorization ratio is n(original) / (n(original) + n(context's)): which of the two the greedy "
        "answer is, counted over the contexts that state another answer about the query's entity. A box is the middle "
        "half of the queries in a fifth of the ratio, the line in it their median, whiskers from the 5th to the 95th "
        f"percentile (dots where there are under {FEWEST}); below it the fifth's share and number of queries. {model}; "
        f"n = {len(result.rows)} queries in {plural(relations, 'relation')}. {defined.missing} of "
        f"{len(every)} queries have no ratio (0/0: no such answer was either) and are in no "
        f"box.{result.note('queries with a ratio')}"
    )
    medians = zip(fifths["query_type"], fifths["memorization_ratio"], fifths["median"], strict=True)
    words = "; ".join(f"{kind}, {fifth}: {median:.2f}" for kind, fifth, median in medians)
    alt = (
        f"Box plots of susceptibility in nats in five bins of the memorization ratio, open and closed queries in "
        f"panels, for {model}. Medians: {words}."
    )
    points = every.drop(columns=["model", "dtype"])
    return Drawing(caption, alt, points, fifths[_SHOWN], partial(_paint, result.rows, fifths))


def _paint(data: pd.DataFrame, fifths: pd.DataFrame) -> Canvas:
    canvas, panels = type_panels(
        fifths, 3.4, share_x=False, x="memorization ratio (no unit)", y="susceptibility (nats)"
    )
    for kind, axes in panels.items():
        susceptibility_by_memorization(axes, data[data["query_type"] == kind], fifths[fifths["query_type"] == kind])
    canvas.axes[0].set_ylim(bottom=0)
    return canvas


FIGURE = Figure(
    "susceptibility-by-memorization",
    "Are queries whose answer the model holds on to swayed less?",
    ("memorization_of_queries", "memorization_in_short"),
    draw,
    measures=("memorization_ratio", "susceptibility"),
    items=("du-fig-3",),
)
