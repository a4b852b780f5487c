"""How easily queries are swayed, relation by relation: real entities beside invented ones (as [D] Fig 8)."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from reports.figures.figure import Drawing, Figure
from reports.frames import Frames, Model, numbers, records, span, without_unit
from reports.style import QUERY_HUES, blank, legend_above, mark, plain, strokes

_OFFSET = 0.17


def susceptibility_by_relation(axes: Axes, data: pd.DataFrame) -> Axes:
    """Draws mean susceptibility in nats, a row per relation, real filled and invented hollow.

    `data` has relation (an ordered category), query_type, invented, mean, low, high; one query type.
    """
    names = list(data["relation"].cat.categories)
    places = {name: at for at, name in enumerate(names)}
    for (query_type, invented), rows in data.groupby(["query_type", "invented"]):
        y = rows["relation"].map(places).to_numpy(dtype=float) + (_OFFSET if invented else -_OFFSET)
        hue = QUERY_HUES[str(query_type)]
        axes.plot(*strokes(rows["low"], rows["high"], y, y), color=hue, linewidth=1.4)
        face = "none" if invented else hue
        axes.plot(rows["mean"], y, "o", color=hue, markersize=4.6, markeredgewidth=1.2, markerfacecolor=face)
    axes.set_yticks(range(len(names)), [plain(name, 30) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("susceptibility (nats)")
    return axes


def draw(model: Model, frames: Frames) -> Drawing | None:
    """The means of a model's relations."""
    if frames["susceptibility_of_relations"].empty:
        return None
    means = _sorted(without_unit(frames["susceptibility_of_relations"]).drop(columns=["model", "dtype"]))
    known = records(frames["coverage_of_susceptibility"])[0]
    contexts, most = span(known["fewest_contexts"], known["most_contexts"]), int(known["most_contexts"])
    unequal = "" if contexts == str(most) else " Values from different numbers of contexts are not to be compared."
    caption = (
        "Each mark is the mean over a relation's entities (each entity's forms averaged first), filled for real "
        "and hollow for invented ones, with its 95% bootstrap interval; further right is more easily swayed. "
        f"{model}; n = {known['queries']} queries, {known['entities']} entities, {known['relations']} relations; "
        f"{contexts} contexts a query, so no value can pass ln {most} = {np.log(most):.2f} nats.{unequal} Sorted by "
        "the open queries' mean of both groups, largest first."
    )
    alt = (
        f"Dot plot of mean susceptibility in nats for {known['relations']} relations, open and closed queries in two "
        f"panels, real and invented entities, for {model}; from {means['relation'].iloc[0]} at the top to "
        f"{means['relation'].iloc[-1]} at the bottom."
    )
    return Drawing(caption, alt, means, means, partial(_paint, means))


def _sorted(means: pd.DataFrame) -> pd.DataFrame:
    """The rows by relation, those whose open queries are swayed most first."""
    means = means.assign(invented=means["invented"].astype(bool), mean=numbers(means["mean"]))
    both = means.assign(closed=means["query_type"] == "closed").groupby(["relation", "closed"])["mean"].mean()
    order = both.reset_index().sort_values(["closed", "mean", "relation"], ascending=[True, False, True])
    rank = {name: at for at, name in enumerate(dict.fromkeys(order["relation"]))}
    keys = ["rank", "query_type", "invented"]
    ranked = means.assign(rank=means["relation"].map(rank)).sort_values(keys, ascending=[True, False, True])
    return ranked.drop(columns="rank").reset_index(drop=True)


def _paint(means: pd.DataFrame) -> Canvas:
    order = list(dict.fromkeys(means["relation"]))
    data = means.assign(relation=pd.Categorical(means["relation"], categories=order, ordered=True))
    types = [kind for kind in QUERY_HUES if (data["query_type"] == kind).any()]
    height = 1.5 + (0.24 if len(order) <= 40 else 0.18) * len(order)
    canvas, grid = blank(1, len(types), height, share_x=True, share_y=True)
    for axes, kind in zip(grid[0], types, strict=True):
        susceptibility_by_relation(axes, data[data["query_type"] == kind])
        axes.set_title(f"{kind} queries")
        axes.set_xlim(left=0)
    legend_above(canvas, [mark("o", "real entities"), mark("o", "invented entities", filled=False)])
    return canvas


FIGURE = Figure(
    "susceptibility-by-relation",
    "How easily are queries about real and invented entities swayed, relation by relation?",
    ("susceptibility_of_relations", "coverage_of_susceptibility"),
    draw,
    measures=("susceptibility",),
)
