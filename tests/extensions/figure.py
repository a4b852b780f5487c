"""Figure of the persuasion range of queries, by relation."""

from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.frames import Frames, finite, units
from swaymeter.reports.models import Model
from swaymeter.reports.style import QUERY_HUES, blank, dots, legend_above, mark, plain


def persuasion_range_by_relation(axes: Axes, data: pd.DataFrame, unit: str) -> Axes:
    """Draw the persuasion range of each query, in a row per relation and a hue per query type."""
    names = list(dict.fromkeys(data["relation"]))
    for number, (query_type, hue) in enumerate(QUERY_HUES.items()):
        rows = data[data["query_type"] == query_type]
        y = rows["relation"].map({name: position + 0.3 * number - 0.15 for position, name in enumerate(names)})
        dots(axes, rows["persuasion_range"], y, alpha=0.5, color=hue, markersize=4)
    axes.set_yticks(range(len(names)), [plain(name, 30) for name in names])
    axes.set_xlim(left=0)
    axes.set_xlabel(f"persuasion range ({unit})")
    return axes


def draw(model: Model, frames: Frames) -> Drawing | None:
    """Return the drawing of a model's queries, or None if no query has a finite value."""
    frame = frames["persuasion_range_of_queries"]
    queries = finite(frame, "persuasion_range")
    if queries.rows.empty:
        return None
    unit, relations = units(frame)["persuasion_range"], queries.rows["relation"].nunique()
    caption = (
        "Each dot is a query; further right the study's contexts differ more in how far they persuade. "
        f"{model}; n = {len(queries.rows)} queries in {relations} relations.{queries.note('queries')}"
    )
    numbers = frame.drop(columns=["model", "dtype"])
    return Drawing(caption, numbers, numbers.head(20), partial(_paint, queries.rows, unit))


def _paint(rows: pd.DataFrame, unit: str) -> Canvas:
    canvas, ((axes,),) = blank(1, 1, 1.5 + 0.3 * rows["relation"].nunique())
    persuasion_range_by_relation(axes, rows, unit)
    legend_above(canvas, [mark("o", f"{kind} queries", hue) for kind, hue in QUERY_HUES.items()])
    return canvas


FIGURE = Figure(
    "persuasion-range-by-relation",
    "How far apart do contexts pull a query?",
    "Dot plot of the persuasion range of queries by relation",
    ("persuasion_range_of_queries",),
    draw,
    measures=("persuasion_range", "persuasion"),
)
