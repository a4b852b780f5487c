"""How easily queries are swayed, relation by relation: real entities beside invented ones (as [D] Fig 8)."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.reports.estimates import interval_over, span
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import relation_panels, relations_by
from swaymeter.reports.frames import Frames, Model, in_order, records, without_unit
from swaymeter.reports.style import QUERY_HUES, legend_above, mark, strokes

_OFFSET = 0.17


def susceptibility_by_relation(axes: Axes, data: pd.DataFrame, relations: list[str]) -> None:
    """Draws mean susceptibility in nats, a row per relation, real filled and invented hollow.

    `data` has relation, query_type, invented, mean, low, high; one query type.
    """
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    for invented, rows in data.groupby("invented"):
        y = rows["relation"].map(relations.index).to_numpy(dtype=float) + (_OFFSET if invented else -_OFFSET)
        axes.plot(*strokes(rows["low"], rows["high"], y, y), color=hue, linewidth=1.4)
        face = "none" if invented else hue
        axes.plot(rows["mean"], y, "o", color=hue, markersize=4.6, markeredgewidth=1.2, markerfacecolor=face)
    axes.set_xlabel("susceptibility (nats)")


def draw(model: Model, frames: Frames) -> Drawing:
    means = without_unit(frames["susceptibility_of_relations"])
    means["invented"] = means["invented"].astype(bool)
    relations = relations_by(means.groupby(["relation", "query_type"], as_index=False)[["mean"]].mean(), "mean")
    means = in_order(means, relation=relations, query_type=QUERY_HUES, invented=(False, True))
    known = records(frames["coverage_of_susceptibility"])[0]
    contexts, most = span(known["fewest_contexts"], known["most_contexts"]), int(known["most_contexts"])
    unequal = "" if contexts == str(most) else " Values from different numbers of contexts are not to be compared."
    caption = (
        "Each mark is the mean over a relation's entities (each entity's forms averaged first), filled for real "
        f"and hollow for invented ones, with its {interval_over('entities')}; further right is more easily swayed. "
        f"{model}; n = {known['queries']} queries, {known['entities']} entities, {known['relations']} relations; "
        f"{contexts} contexts a query, so no value can pass ln {most} = {np.log(most):.2f} nats.{unequal} Sorted by "
        "the open queries' mean of both groups, largest first."
    )
    return Drawing(caption, means, means, partial(_paint, means, relations))


def _paint(means: pd.DataFrame, relations: list[str]) -> Canvas:
    canvas, panels = relation_panels(means, relations, 0.24, 0.18)
    for kind, axes in panels.items():
        susceptibility_by_relation(axes, means[means["query_type"] == kind], relations)
        axes.set_xlim(left=0)
    words = {False: "real entities", True: "invented entities"}
    there = [invented for invented in words if (means["invented"] == invented).any()]
    legend_above(canvas, [mark("o", words[invented], filled=not invented) for invented in there])
    return canvas


FIGURE = Figure(
    "susceptibility-by-relation",
    "How easily are queries swayed, relation by relation?",
    "Dot plot of mean susceptibility in nats by relation, real and invented entities",
    ("susceptibility_of_relations", "coverage_of_susceptibility"),
    draw,
    measures=("susceptibility",),
)
