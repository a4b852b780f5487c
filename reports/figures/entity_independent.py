"""How far contexts persuade whatever the entity asked about, by relation and kind of context (as [D] App. B)."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from data.records import CONTEXT_KINDS
from reports.figures.plate import Plate
from reports.frames import Finite, Model, by_model, finite, stand_in_note
from reports.style import INK, KIND_MARKERS, QUERY_HUES, blank, legend_above, mark, plain, strokes

TITLE = "How far do contexts persuade, whatever the entity asked about?"
SCORE = "entity_independent_persuasion"
_OFFSETS: Mapping[str, float] = dict(zip(CONTEXT_KINDS, (-0.26, 0.0, 0.26), strict=True))


def entity_independent_persuasion(axes: Axes, data: pd.DataFrame) -> Axes:
    """Draws the spread of contexts' entity-independent persuasion in nats: a row per relation, a strip per kind.

    `data` has relation (an ordered category), query_type, kind, smallest, lower_quartile, median, upper_quartile,
    largest; one query type. The thin line is all contexts, the thick one their middle half, the mark the median.
    """
    places = {name: at for at, name in enumerate(data["relation"].cat.categories)}
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    for kind, shape in KIND_MARKERS.items():
        rows = data[data["kind"] == kind]
        y = rows["relation"].map(places).to_numpy(dtype=float) + _OFFSETS[kind]
        axes.plot(*strokes(rows["smallest"], rows["largest"], y, y), color=hue, linewidth=0.7, alpha=0.7)
        ends = strokes(rows["lower_quartile"], rows["upper_quartile"], y, y)
        axes.plot(*ends, color=hue, linewidth=2.6, alpha=0.6, solid_capstyle="butt")
        axes.plot(rows["median"], y, shape, color=hue, markersize=5, markeredgecolor=INK, markeredgewidth=0.6)
    axes.set_yticks(range(len(places)), [plain(name, 30) for name in places])
    axes.set_ylim(len(places) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("entity-independent persuasion (nats)")
    return axes


def entity_independent_plates(frames: dict[str, pd.DataFrame]) -> list[Plate]:
    """One plate per model and dtype."""
    plates = []
    for model, rows in by_model(frames["entity_independent_of_contexts"]):
        found = finite(rows, SCORE)
        if not found.rows.empty:
            plates.append(_plate(model, found, stand_in_note(frames["stand_ins"], model, (SCORE,))))
    return plates


def _plate(model: Model, found: Finite, stand_in: str) -> Plate:
    rows, spread = found.rows, _spread(found.rows)
    relations = rows["relation"].nunique()
    entities = sorted(set(rows["entities"].astype(int)))
    asked = f"{entities[0]}" if len(entities) == 1 else f"{entities[0]} to {entities[-1]}"
    caption = (
        "A context's entity-independent persuasion is its mean persuasion over the entities of a query form. A row is "
        "a relation, a strip a kind of context: the thin line spans all contexts, the thick one their middle half, "
        f"the mark is the median; further right persuades more. {model}; n = {len(rows)} contexts before a query form "
        f"({rows['context_id'].nunique()} contexts) in {relations} relation{'' if relations == 1 else 's'}, {asked} "
        f"entities a form. Sorted by the open queries' mean, largest first.{found.note('contexts of a form')}{stand_in}"
    )
    medians = rows.groupby(["query_type", "kind"])[SCORE].median()
    said = "; ".join(
        f"{kind}, {context} {medians[kind, context]:.2f}"
        for kind in QUERY_HUES
        for context in CONTEXT_KINDS
        if (kind, context) in medians
    )
    alt = (
        f"Strips of contexts' entity-independent persuasion in nats by kind of context for {relations} relations, open "
        f"and closed queries in panels, for {model}. Medians: {said}."
    )
    return Plate(
        f"entity-independent-persuasion-{model.slug}",
        TITLE,
        str(model),
        caption,
        alt,
        spread,
        spread,
        partial(_paint, spread),
    )


def _spread(rows: pd.DataFrame) -> pd.DataFrame:
    made = []
    for (relation, query_type, kind), part in rows.groupby(["relation", "query_type", "kind"], sort=True):
        values = part[SCORE].to_numpy(dtype=float)
        marks = np.quantile(values, [0, 0.25, 0.5, 0.75, 1])
        made.append(
            {
                "relation": relation,
                "query_type": query_type,
                "kind": kind,
                "contexts": part["context_id"].nunique(),
                "rows": len(values),
                "mean": float(values.mean()),
                **dict(zip(("smallest", "lower_quartile", "median", "upper_quartile", "largest"), marks, strict=True)),
            }
        )
    means = rows.groupby(["relation", "query_type"])[SCORE].mean().reset_index()
    means["closed"] = means["query_type"] == "closed"
    order = means.sort_values(["closed", SCORE, "relation"], ascending=[True, False, True])["relation"]
    rank = {name: at for at, name in enumerate(dict.fromkeys(order))}
    spread = pd.DataFrame(made)
    spread["rank"] = spread["relation"].map(rank)
    spread["place"] = spread["kind"].map({kind: at for at, kind in enumerate(CONTEXT_KINDS)})
    return (
        spread.sort_values(["rank", "query_type", "place"], ascending=[True, False, True])
        .drop(columns=["rank", "place"])
        .reset_index(drop=True)
    )


def _paint(spread: pd.DataFrame) -> Figure:
    order = list(dict.fromkeys(spread["relation"]))
    data = spread.assign(relation=pd.Categorical(spread["relation"], categories=order, ordered=True))
    types = [kind for kind in QUERY_HUES if (data["query_type"] == kind).any()]
    height = 1.5 + (0.36 if len(order) <= 40 else 0.26) * len(order)
    figure, grid = blank(1, len(types), height, share_x=True, share_y=True)
    for axes, kind in zip(grid[0], types, strict=True):
        entity_independent_persuasion(axes, data[data["query_type"] == kind])
        axes.set_title(f"{kind} queries")
        axes.set_xlim(left=0)
    legend_above(figure, [mark(shape, f"{kind} contexts") for kind, shape in KIND_MARKERS.items()])
    return figure
