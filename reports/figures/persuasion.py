"""How far each kind of context persuades: base, assertive, negation; about the query's entity or about others."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.data.records import CONTEXT_KINDS
from swaymeter.reports.estimates import interval_over
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import query_types, relation_lines
from swaymeter.reports.frames import Frames, Model, in_order, present, records, where, without_unit
from swaymeter.reports.style import QUERY_HUES, blank, legend_above, mark

_EVERY = "(mean of relations)"


def persuasion_by_kind(axes: Axes, data: pd.DataFrame, kinds: Sequence[str]) -> None:
    """Draws mean persuasion in nats by kind of context: a thin line a relation, the relations' mean with its interval.

    `data` has relation, kind, query_type, mean, low, high; one query type and one relevance. `kinds`: from left
    to right.
    """
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    single = data[data["relation"] != _EVERY].pivot(index="relation", columns="kind", values="mean")
    means = records(where(data, relation=_EVERY))
    relation_lines(axes, single, means, "kind", hue, dict(zip(kinds, kinds, strict=True)))


def draw(model: Model, frames: Frames) -> Drawing | None:
    means = (
        without_unit(frames["persuasion_of_relations"])
        .replace({"relation": {"all": _EVERY}})
        .astype({"relevant": bool})
    )
    relations = sorted(set(means["relation"]) - {_EVERY})
    means = in_order(
        means, relation=[_EVERY, *relations], query_type=QUERY_HUES, relevant=(True, False), kind=CONTEXT_KINDS
    )
    kinds = present(means, "kind", CONTEXT_KINDS)
    if len(kinds) < 2:
        return None
    short = frames["persuasion_in_short"]
    known = records(short[short["relevant"].isna()])[0]
    caption = (
        "Each thin line is a relation, a diamond is the mean of the relations' means with its "
        f"{interval_over('relations')}; higher is further moved. Above, contexts that mention the query's entity; "
        "below, those about "
        f"other entities, on a scale of their own. {model}; n = {known['queries']} queries in {len(relations)} "
        f"relations, {known['pairs']} pairs of query and context, real and invented entities together."
    )
    return Drawing(caption, means, means, partial(_paint, means, kinds))


def _paint(means: pd.DataFrame, kinds: Sequence[str]) -> Canvas:
    types = query_types(means)
    about = [relevant for relevant in (True, False) if (means["relevant"] == relevant).any()]
    canvas, grid = blank(len(about), len(types), 0.6 + 2.5 * len(about), share_y="row")
    for line, relevant in zip(grid, about, strict=True):
        words = "about the entity" if relevant else "about others"
        for axes, kind in zip(line, types, strict=True):
            data = where(means, query_type=kind, relevant=relevant)
            if not data.empty:
                persuasion_by_kind(axes, data, kinds)
            axes.set_title(f"{kind} queries, contexts {words}")
            axes.set_ylim(bottom=0)
        line[0].set_ylabel("mean persuasion (nats)")
    legend_above(canvas, [mark("o", "a relation"), mark("D", "mean of the relations")])
    return canvas


FIGURE = Figure(
    "persuasion-by-kind",
    "Which kind of context persuades most?",
    "Lines of mean persuasion in nats by kind of context, one for each relation",
    ("persuasion_of_relations", "persuasion_in_short"),
    draw,
    measures=("persuasion",),
)
