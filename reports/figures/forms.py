"""The susceptibility of one relation's queries, real entities beside invented ones, form by form ([D] Fig 8)."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from reports.figures.figure import Drawing, Figure
from reports.frames import Frames, Model, finite, in_order, records, span, where, without_unit
from reports.style import INK, QUERY_HUES, blank, legend_above, mark

RELATION = "officialLanguage"
FEWEST = 30
_GROUPS = {False: "real", True: "invented"}
_BOX = {"whislo": "percentile_5", "q1": "lower_quartile", "med": "median", "q3": "upper_quartile",
        "whishi": "percentile_95"}  # fmt: skip


def susceptibility_of_form(axes: Axes, data: pd.DataFrame, groups: pd.DataFrame) -> None:
    """Draws every query's susceptibility in nats as a dot, real filled and invented hollow; boxes around many.

    `data` has query_type, invented, susceptibility; `groups` has invented, queries, mean, low, high and the quantiles;
    one form.
    """
    hue = QUERY_HUES[str(groups["query_type"].iloc[0])]
    for row in records(groups):
        at = int(row["invented"])
        values = np.sort(data.loc[data["invented"] == row["invented"], "susceptibility"].to_numpy(dtype=float))
        beside = at + 0.16 * np.sin(2.4 * np.arange(len(values)))  # side by side, the same every time
        style: dict[str, Any] = {"markerfacecolor": "none" if row["invented"] else hue, "markeredgewidth": 0.8}
        axes.plot(beside, values, "o", color=hue, markersize=2.8, alpha=0.7, **style)
        if row["queries"] >= FEWEST:
            axes.bxp(
                [{part: row[column] for part, column in _BOX.items()}], positions=[at], widths=0.5, showfliers=False,
                manage_ticks=False, boxprops={"color": hue}, medianprops={"color": INK, "linewidth": 1.6},
                whiskerprops={"color": hue}, capprops={"color": hue},
            )  # fmt: skip
        axes.plot([at + 0.36] * 2, [row["low"], row["high"]], color=hue, linewidth=1.8)
        axes.plot([at + 0.36], [row["mean"]], "D", color=hue, markersize=4.5, markeredgecolor=INK, markeredgewidth=0.7)
    names = {int(row["invented"]): f"{_GROUPS[bool(row['invented'])]}\nn = {row['queries']}" for row in records(groups)}
    axes.set_xticks(list(names), list(names.values()))
    axes.set_xlim(-0.5, 1.6)
    axes.grid(axis="x", visible=False)


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
    sizes = span(groups["queries"].min(), groups["queries"].max())
    caption = (
        f"Each dot is a query of the relation {relation}, filled about a real entity and hollow about an invented one; "
        "higher up contexts sway it further. A box is the middle half, the line in it the median, whiskers from the "
        f"5th to the 95th percentile (none under {FEWEST} queries); a diamond is the mean with its 95% bootstrap "
        f"interval. A panel is a query form. {model}; n = {len(queries)} queries, {sizes} a form and group. The "
        f"numbers have every relation.{found.note('queries')}"
    )
    words = "; ".join(
        f"{row['query_type']} form {row['form']}, {_GROUPS[bool(row['invented'])]} {row['mean']:.2f}"
        for row in records(groups)
    )
    alt = (
        f"Dot and box plots of susceptibility in nats of the relation {relation}, real against invented entities, a "
        f"panel for each query form, for {model}. Means: {words}."
    )
    return Drawing(caption, alt, without_unit(every), groups, partial(_paint, queries, groups))


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
    ("susceptibility_of_forms", "susceptibility_of_queries"),
    draw,
    measures=("susceptibility",),
    items=("du-fig-8",),
)
