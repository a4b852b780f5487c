"""How easily queries are swayed, relation by relation: real entities beside invented ones (as [D] Fig 8)."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.figures.plate import Plate
from reports.frames import Finite, Model, by_model, finite, stand_in_note
from reports.intervals import mean_interval
from reports.style import QUERY_HUES, blank, legend_above, mark, plain, strokes

TITLE = "How easily are queries about real and invented entities swayed, relation by relation?"
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


def susceptibility_plates(frames: dict[str, pd.DataFrame]) -> list[Plate]:
    """One plate per model and dtype."""
    plates = []
    for model, rows in by_model(frames["susceptibility_of_queries"]):
        found = finite(rows, "susceptibility")
        if not found.rows.empty:
            plates.append(_plate(model, found, stand_in_note(frames["stand_ins"], model, ("susceptibility",))))
    return plates


def _plate(model: Model, found: Finite, stand_in: str) -> Plate:
    numbers = _means(found.rows)
    contexts = sorted(found.rows["contexts"].astype(int).unique())
    asked = f"{contexts[0]}" if len(contexts) == 1 else f"{contexts[0]} to {contexts[-1]}"
    cap = f"no value can pass ln {contexts[-1]} = {np.log(contexts[-1]):.2f} nats"
    unequal = "" if len(contexts) == 1 else " Values from different numbers of contexts are not to be compared."
    caption = (
        "Each mark is the mean over a relation's entities (each entity's forms averaged first), filled for real "
        "and hollow for invented ones, with its 95% bootstrap interval; further right is more easily swayed. "
        f"{model}; n = {len(found.rows)} queries, {found.rows['entity'].nunique()} entities, "
        f"{found.rows['relation'].nunique()} relations; {asked} contexts a query, so {cap}.{unequal} Sorted by the "
        f"open queries' mean of both groups, largest first.{found.note('queries')}{stand_in}"
    )
    top, bottom = numbers["relation"].iloc[0], numbers["relation"].iloc[-1]
    alt = (
        f"Dot plot of mean susceptibility in nats for {found.rows['relation'].nunique()} relations, open and closed "
        f"queries in two panels, real and invented entities, for {model}; from {top} at the top to {bottom} at the "
        "bottom."
    )
    return Plate(
        f"susceptibility-by-relation-{model.slug}",
        TITLE,
        str(model),
        caption,
        alt,
        numbers,
        numbers,
        partial(_paint, numbers),
    )


def _means(rows: pd.DataFrame) -> pd.DataFrame:
    keys = ["relation", "query_type", "invented"]
    per_entity = rows.groupby([*keys, "entity"], observed=True)["susceptibility"].mean().reset_index()
    made = []
    for (relation, query_type, invented), group in per_entity.groupby(keys, observed=True):
        found = mean_interval(group["susceptibility"])
        made.append(
            {
                "relation": relation,
                "query_type": query_type,
                "invented": bool(invented),
                "entities": found.n,
                "mean": found.mean,
                "low": found.low,
                "high": found.high,
            }
        )
    numbers = pd.DataFrame(made)
    both = numbers.assign(closed=numbers["query_type"] == "closed").groupby(["relation", "closed"])["mean"].mean()
    order = both.reset_index().sort_values(["closed", "mean", "relation"], ascending=[True, False, True])
    rank = {name: at for at, name in enumerate(dict.fromkeys(order["relation"]))}
    numbers["rank"] = numbers["relation"].map(rank)
    return (
        numbers.sort_values(["rank", "query_type", "invented"], ascending=[True, False, True])
        .drop(columns="rank")
        .reset_index(drop=True)
    )


def _paint(numbers: pd.DataFrame) -> Figure:
    order = list(dict.fromkeys(numbers["relation"]))
    data = numbers.assign(relation=pd.Categorical(numbers["relation"], categories=order, ordered=True))
    types = [kind for kind in QUERY_HUES if (data["query_type"] == kind).any()]
    figure, grid = blank(
        1, len(types), 1.5 + (0.24 if len(order) <= 40 else 0.18) * len(order), share_x=True, share_y=True
    )
    for axes, kind in zip(grid[0], types, strict=True):
        susceptibility_by_relation(axes, data[data["query_type"] == kind])
        axes.set_title(f"{kind} queries")
        axes.set_xlim(left=0)
    legend_above(figure, [mark("o", "real entities"), mark("o", "invented entities", filled=False)])
    return figure
