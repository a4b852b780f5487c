"""How far contexts persuade whatever the entity asked about, by relation and kind of context (as [D] App. B)."""

from collections.abc import Mapping
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from data.records import CONTEXT_KINDS
from reports.figures.figure import Drawing, Figure
from reports.frames import Frames, Model, records, span, without_unit
from reports.style import INK, KIND_MARKERS, QUERY_HUES, blank, legend_above, mark, plain, strokes

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


def draw(model: Model, frames: Frames) -> Drawing | None:
    """The spread of a model's contexts."""
    if frames["entity_independent_of_relations"].empty:
        return None
    spread = _sorted(without_unit(frames["entity_independent_of_relations"]).drop(columns=["model", "dtype"]))
    known = records(frames["coverage_of_entity_independent"])[0]
    relations = known["relations"]
    caption = (
        "A context's entity-independent persuasion is its mean persuasion over the entities of a query form. A row is "
        "a relation, a strip a kind of context: the thin line spans all contexts, the thick one their middle half, "
        f"the mark is the median; further right persuades more. {model}; n = {known['rows']} contexts before a query "
        f"form ({known['contexts']} contexts) in {relations} relation{'' if relations == 1 else 's'}, "
        f"{span(known['fewest_entities'], known['most_entities'])} entities a form. Sorted by the open queries' mean, "
        "largest first."
    )
    medians = {
        (row["query_type"], row["kind"]): row["median"] for row in records(frames["entity_independent_in_short"])
    }
    words = "; ".join(
        f"{kind}, {context} {medians[kind, context]:.2f}"
        for kind in QUERY_HUES
        for context in CONTEXT_KINDS
        if (kind, context) in medians
    )
    alt = (
        f"Strips of contexts' entity-independent persuasion in nats by kind of context for {relations} relations, open "
        f"and closed queries in panels, for {model}. Medians: {words}."
    )
    return Drawing(caption, alt, spread, spread, partial(_paint, spread))


def _sorted(spread: pd.DataFrame) -> pd.DataFrame:
    """The rows by relation, those whose contexts before open queries persuade most first."""
    means = spread.assign(closed=spread["query_type"] == "closed")
    order = means.sort_values(["closed", "mean_of_kinds", "relation"], ascending=[True, False, True])["relation"]
    rank = {name: at for at, name in enumerate(dict.fromkeys(order))}
    place = {kind: at for at, kind in enumerate(CONTEXT_KINDS)}
    ranked = spread.assign(rank=spread["relation"].map(rank), place=spread["kind"].map(place))
    ranked = ranked.sort_values(["rank", "query_type", "place"], ascending=[True, False, True])
    return ranked.drop(columns=["rank", "place", "mean_of_kinds"]).reset_index(drop=True)


def _paint(spread: pd.DataFrame) -> Canvas:
    order = list(dict.fromkeys(spread["relation"]))
    data = spread.assign(relation=pd.Categorical(spread["relation"], categories=order, ordered=True))
    types = [kind for kind in QUERY_HUES if (data["query_type"] == kind).any()]
    height = 1.5 + (0.36 if len(order) <= 40 else 0.26) * len(order)
    canvas, grid = blank(1, len(types), height, share_x=True, share_y=True)
    for axes, kind in zip(grid[0], types, strict=True):
        entity_independent_persuasion(axes, data[data["query_type"] == kind])
        axes.set_title(f"{kind} queries")
        axes.set_xlim(left=0)
    legend_above(canvas, [mark(shape, f"{kind} contexts") for kind, shape in KIND_MARKERS.items()])
    return canvas


FIGURE = Figure(
    "entity-independent-persuasion",
    "How far do contexts persuade, whatever the entity asked about?",
    ("entity_independent_of_relations", "entity_independent_in_short", "coverage_of_entity_independent"),
    draw,
    measures=("entity_independent_persuasion",),
)
