"""How far each kind of context persuades: base, assertive, negation; about the query's entity or about others."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from data.records import CONTEXT_KINDS
from reports.figures.figure import Drawing, Figure
from reports.frames import Frames, Model, records, without_unit
from reports.style import INK, QUERY_HUES, blank, legend_above, mark

_EVERY = "(mean of relations)"


def persuasion_by_kind(axes: Axes, data: pd.DataFrame) -> Axes:
    """Draws mean persuasion in nats by kind of context: a thin line a relation, the relations' mean with its interval.

    `data` has relation, kind, query_type, mean, low, high; one query type and one relevance.
    """
    places = {kind: at for at, kind in enumerate(CONTEXT_KINDS)}
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    single = data[data["relation"] != _EVERY].pivot(index="relation", columns="kind", values="mean")
    single = single.reindex(columns=[*CONTEXT_KINDS, "gap"])
    across = np.tile([*places.values(), np.nan], len(single))
    axes.plot(across, single.to_numpy(dtype=float).ravel(), "-o", color=hue, alpha=0.45, linewidth=0.8, markersize=2.6)
    for row in records(data[data["relation"] == _EVERY]):
        at = places[row["kind"]]
        axes.plot([at, at], [row["low"], row["high"]], color=hue, linewidth=2.6, solid_capstyle="butt")
        axes.plot([at], [row["mean"]], "D", color=hue, markersize=7, markeredgecolor=INK, markeredgewidth=0.8)
    axes.set_xticks(range(len(CONTEXT_KINDS)), list(CONTEXT_KINDS))
    axes.set_xlim(-0.4, len(CONTEXT_KINDS) - 0.6)
    axes.grid(axis="x", visible=False)
    return axes


def draw(model: Model, frames: Frames) -> Drawing | None:
    """The means of a model's relations, and over them."""
    rows = frames["persuasion_of_relations"]
    if rows.empty:
        return None
    means = _sorted(without_unit(rows).drop(columns=["model", "dtype"]))
    short = frames["persuasion_in_short"]
    known = records(short[short["relevant"].isna()])[0]
    relations = means["relation"].nunique() - 1
    caption = (
        "Each thin line is a relation, a diamond is the mean of the relations' means with its 95% bootstrap "
        "interval; higher is further moved. Above, contexts that mention the query's entity; below, those about "
        f"other entities, on a scale of their own. {model}; n = {known['queries']} queries in {relations} relations, "
        f"{known['pairs']} pairs of query and context, real and invented entities together."
        f"{'' if relations > 1 else ' One relation gives no interval.'}"
    )
    alt = (
        f"Mean persuasion in nats of base, assertive and negation contexts for {model}, open and closed queries in "
        f"columns, contexts about the entity and about others in rows; {relations} relations as lines, their mean "
        "as diamonds."
    )
    return Drawing(caption, alt, means, means, partial(_paint, means))


def _sorted(means: pd.DataFrame) -> pd.DataFrame:
    """The rows over all relations first, then relation by relation; kinds in their fixed order."""
    places = {kind: at for at, kind in enumerate(CONTEXT_KINDS)}
    single = means["relation"] != "all"
    means = means.assign(
        relation=means["relation"].where(single, _EVERY),
        relevant=means["relevant"].astype(bool),
        single=single,
        place=means["kind"].map(places),
    )
    keys = ["single", "relation", "query_type", "relevant", "place"]
    ranked = means.sort_values(keys, ascending=[True, True, False, False, True])
    return ranked.drop(columns=["place", "single"]).reset_index(drop=True)


def _paint(means: pd.DataFrame) -> Canvas:
    types = [kind for kind in QUERY_HUES if (means["query_type"] == kind).any()]
    about = [relevant for relevant in (True, False) if (means["relevant"] == relevant).any()]
    canvas, grid = blank(len(about), len(types), 0.6 + 2.5 * len(about), share_y="row")
    for line, relevant in zip(grid, about, strict=True):
        words = "about the entity" if relevant else "about others"
        for axes, kind in zip(line, types, strict=True):
            data = means[(means["query_type"] == kind) & (means["relevant"] == relevant)]
            if not data.empty:
                persuasion_by_kind(axes, data)
            axes.set_title(f"{kind} queries, contexts {words}")
            axes.set_ylim(bottom=0)
        line[0].set_ylabel("mean persuasion (nats)")
    legend_above(canvas, [mark("o", "a relation"), mark("D", "mean of the relations")])
    return canvas


FIGURE = Figure(
    "persuasion-by-kind",
    "Which kind of context persuades most?",
    ("persuasion_of_relations", "persuasion_in_short"),
    draw,
    measures=("persuasion",),
)
