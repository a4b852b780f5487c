"""How far contexts persuade whatever the entity asked about, by relation and kind of context (as [D] App. B)."""

from collections.abc import Mapping
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.data.records import CONTEXT_KINDS
from swaymeter.reports.estimates import plural, span
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import relation_panels, relations_by
from swaymeter.reports.frames import Frames, Model, in_order, records, without_unit
from swaymeter.reports.style import INK, KIND_MARKERS, QUERY_HUES, legend_above, mark, strokes

_OFFSETS: Mapping[str, float] = dict(zip(CONTEXT_KINDS, (-0.26, 0.0, 0.26), strict=True))


def entity_independent_persuasion(axes: Axes, data: pd.DataFrame, relations: list[str]) -> None:
    """Draws the spread of contexts' entity-independent persuasion in nats: a row per relation, a strip per kind.

    `data` has relation, query_type, kind, smallest, lower_quartile, median, upper_quartile, largest; one query type.
    The thin line is all contexts, the thick one their middle half, the mark the median.
    """
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    for kind, shape in KIND_MARKERS.items():
        rows = data[data["kind"] == kind]
        y = rows["relation"].map(relations.index).to_numpy(dtype=float) + _OFFSETS[kind]
        axes.plot(*strokes(rows["smallest"], rows["largest"], y, y), color=hue, linewidth=0.7, alpha=0.7)
        ends = strokes(rows["lower_quartile"], rows["upper_quartile"], y, y)
        axes.plot(*ends, color=hue, linewidth=2.6, alpha=0.6, solid_capstyle="butt")
        axes.plot(rows["median"], y, shape, color=hue, markersize=5, markeredgecolor=INK, markeredgewidth=0.6)
    axes.set_xlabel("entity-independent persuasion (nats)")


def draw(model: Model, frames: Frames) -> Drawing:
    spread = without_unit(frames["entity_independent_of_relations"])
    relations = relations_by(spread, "mean_of_kinds")
    spread = in_order(spread, relation=relations, query_type=QUERY_HUES, kind=CONTEXT_KINDS)
    spread = spread.drop(columns="mean_of_kinds")
    known = records(frames["coverage_of_entity_independent"])[0]
    caption = (
        "A context's entity-independent persuasion is its mean persuasion over the entities of a query form. A row is "
        "a relation, a strip a kind of context: the thin line spans all contexts, the thick one their middle half, "
        f"the mark is the median; further right persuades more. {model}; n = {known['rows']} contexts before a query "
        f"form ({known['contexts']} contexts) in {plural(len(relations), 'relation')}, "
        f"{span(known['fewest_entities'], known['most_entities'])} entities a form. Sorted by the open queries' mean, "
        "largest first."
    )
    return Drawing(caption, spread, spread, partial(_paint, spread, relations))


def _paint(spread: pd.DataFrame, relations: list[str]) -> Canvas:
    canvas, panels = relation_panels(spread, relations, 0.36, 0.26)
    for kind, axes in panels.items():
        entity_independent_persuasion(axes, spread[spread["query_type"] == kind], relations)
        axes.set_xlim(left=0)
    legend_above(canvas, [mark(shape, f"{kind} contexts") for kind, shape in KIND_MARKERS.items()])
    return canvas


FIGURE = Figure(
    "entity-independent-persuasion",
    "How far do contexts persuade, whatever the entity asked about?",
    "Strips of entity-independent persuasion in nats by relation and kind of context",
    ("entity_independent_of_relations", "entity_independent_in_short", "coverage_of_entity_independent"),
    draw,
    measures=("entity_independent_persuasion",),
    items=("du-app-b",),
)
