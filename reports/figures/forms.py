"""The susceptibility of one relation's queries, real entities beside invented ones, form by form ([D] Fig 8)."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.reports.estimates import span
from swaymeter.reports.figures.boxes import FEWEST, column_of_values, how_to_read, named_columns
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.frames import Frames, Model, finite, in_order, records, where, without_unit
from swaymeter.reports.style import QUERY_HUES, blank, legend_above, mark

RELATION = "officialLanguage"
MOST_FORMS = 6
"""More panels beside each other cannot be read: texts of one's own may have many forms."""
_GROUPS = {False: "real", True: "invented"}


def susceptibility_of_form(axes: Axes, data: pd.DataFrame, groups: pd.DataFrame) -> None:
    """Draws every query's susceptibility in nats as a dot, real filled and invented hollow; a box behind many.

    `data` has query_type, invented, susceptibility; `groups` has invented, queries, mean, low, high and the quantiles;
    one form.
    """
    hue = QUERY_HUES[str(groups["query_type"].iloc[0])]
    labels = []
    for at, row in enumerate(records(groups)):
        values = data.loc[data["invented"] == row["invented"], "susceptibility"].to_numpy(dtype=float)
        filled = not row["invented"]
        column_of_values(axes, at, values, row, hue, filled=filled)
        if len(values) >= FEWEST:
            beside = at - 0.08 + 0.16 * np.sin(2.4 * np.arange(len(values)))  # side by side, the same every time
            face = hue if filled else "none"
            axes.plot(beside, np.sort(values), "o", color=hue, markersize=2.4, alpha=0.6, markerfacecolor=face)
        labels.append(f"{_GROUPS[bool(row['invented'])]}\nn = {row['queries']}")
    named_columns(axes, labels)


def relation_of(forms: pd.DataFrame) -> str:
    """The relation that is drawn: the paper's where the study has it, else the one with most queries."""
    counts = forms.groupby("relation")["queries"].sum()
    return RELATION if RELATION in counts else str(counts.sort_index().idxmax())


def draw(model: Model, frames: Frames) -> Drawing | None:
    every = frames["susceptibility_of_forms"].astype({"invented": bool})
    relation = relation_of(every)
    groups = without_unit(in_order(where(every, relation=relation), query_type=QUERY_HUES, form=(1, 2)))
    found = finite(where(frames["susceptibility_of_queries"], relation=relation), "susceptibility")
    queries = found.rows.astype({"invented": bool})
    if len(groups[["query_type", "form"]].drop_duplicates()) > MOST_FORMS:
        return None
    sizes = span(groups["queries"].min(), groups["queries"].max())
    caption = (
        f"Each dot is a query of the relation {relation}, filled about a real entity and hollow about an invented one; "
        f"higher up contexts sway it further. {how_to_read('entities')}. A panel is a query form. "
        f"{model}; n = {len(queries)} "
        f"queries, {sizes} a form and group. The "
        f"CSV file has every relation.{found.note('queries')}"
    )
    return Drawing(caption, without_unit(every), groups, partial(_paint, queries, groups))


def _paint(queries: pd.DataFrame, groups: pd.DataFrame) -> Canvas:
    forms = [(str(kind), int(form)) for kind, form in groups[["query_type", "form"]].drop_duplicates().to_numpy()]
    canvas, (line,) = blank(1, len(forms), 3.4, share_y=True)
    for axes, (kind, form) in zip(line, forms, strict=True):
        of_form = {"query_type": kind, "form": form}
        susceptibility_of_form(axes, where(queries, **of_form), where(groups, **of_form))
        axes.set_title(f"{kind}, form {form}")
    line[0].set_ylabel("susceptibility (nats)")
    line[0].set_ylim(bottom=0)
    legend_above(canvas, [mark("o", "real entities"), mark("o", "invented entities", filled=False), mark("D", "mean")])
    return canvas


FIGURE = Figure(
    "susceptibility-by-form",
    "How far apart are queries of one relation, form by form?",
    "Dot and box plots of susceptibility in nats of a relation, real and invented entities, by query form",
    ("susceptibility_of_forms", "susceptibility_of_queries"),
    draw,
    measures=("susceptibility",),
    items=("du-fig-8",),
)
