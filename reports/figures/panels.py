"""Layouts that figures share: a panel per query type, a row or a line per relation, a column of values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from swaymeter.reports.estimates import interval_over, percent
from swaymeter.reports.frames import records, where
from swaymeter.reports.style import INK, QUERY_HUES, blank, legend_above, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.lines import Line2D

Row = Mapping[str, Any]
T = TypeVar("T")
S = TypeVar("S")
FEW_RELATIONS = 40


def query_types(rows: pd.DataFrame) -> list[str]:
    """The query types that occur in the column query_type, open first."""
    return [kind for kind in QUERY_HUES if len(rows) and (rows["query_type"] == kind).any()]


def grid(
    down: Iterable[T],
    across: Sequence[S],
    height: float,
    panel: Callable[[Axes, T, S], object],
    marks: Sequence[Line2D] = (),
    *,
    share_x: str | bool = False,
    share_y: str | bool = True,
    y: Callable[[T], str] = lambda line_data: "",
    bottom: float | None = None,
) -> Canvas:
    """A figure with a line of panels for each of `down`, a panel in it for each of `across`, and a legend of marks.

    y: what the axes upward of a line are called; bottom: where they begin, of all lines that share them.
    """
    lines = list(down)
    canvas, panels = blank(len(lines), len(across), height, share_x=share_x, share_y=share_y)
    for line, line_data in zip(panels, lines, strict=True):
        line[0].set_ylabel(y(line_data))
        for axes, panel_data in zip(line, across, strict=True):
            panel(axes, line_data, panel_data)
    if bottom is not None:  # last: it ends the autoscaling of all panels that share the axis
        for line in panels[:1] if share_y is True else panels:
            line[0].set_ylim(bottom=bottom)
    if marks:
        legend_above(canvas, marks)
    return canvas


def type_panels(
    rows: pd.DataFrame, height: float, *, share_x: bool = True, share_y: bool = True, x: str = "", y: str = ""
) -> tuple[Canvas, dict[str, Axes]]:
    """An empty figure with a titled panel per query type that occurs in the rows; x, y: what the axes are called."""
    panels: dict[str, Axes] = {}

    def panel(axes: Axes, _: object, kind: str) -> None:
        axes.set(title=f"{kind} queries", xlabel=x)
        panels[kind] = axes

    return grid("-", query_types(rows), height, panel, share_x=share_x, share_y=share_y, y=lambda _: y), panels


def relations_by(rows: pd.DataFrame, column: str) -> list[str]:
    """The relations of the rows, those with the largest value before open queries first."""
    closed = rows.assign(closed=rows["query_type"] == "closed")
    order = closed.sort_values(["closed", column, "relation"], ascending=[True, False, True])
    return list(dict.fromkeys(order["relation"]))


def by_relation(
    draw: Callable[..., object],
    frames: Sequence[pd.DataFrame],
    relations: Sequence[str],
    inches: tuple[float, float],
    x: str,
    marks: Sequence[Line2D],
    *,
    left: float | None = 0,
) -> Canvas:
    """A figure with a panel per query type and in it a row per relation, the first at the top.

    draw: (axes, the rows of each of `frames` that are of a query type, the relations). inches: of a row, where these
    are few or many. left: where the axes across begin. Rows are named in the first panel alone: named ticks are what
    takes longest to draw.
    """
    height = inches[len(relations) > FEW_RELATIONS]
    canvas, panels = type_panels(frames[0], 1.5 + height * len(relations), share_y=False, x=x)
    for number, (kind, axes) in enumerate(panels.items()):
        names = () if number else relations
        axes.set_yticks(range(len(names)), [plain(name, 30) for name in names])
        axes.set_ylim(len(relations) - 0.4, -0.6)
        axes.grid(axis="y", visible=False)
        axes.locator_params(axis="x", nbins=6)
        axes.yaxis.set_label_coords(0, 0.5)  # no label: its place would be looked for among all ticks
        draw(axes, *(where(rows, query_type=kind) for rows in frames), relations)
    if left is not None:
        canvas.axes[0].set_xlim(left=left)  # last: it ends the autoscaling of all panels
    legend_above(canvas, marks)
    return canvas


def relation_lines(
    axes: Axes,
    single: pd.DataFrame,
    means: Iterable[Row],
    column: str,
    hue: str,
    labels: Mapping[str, str],
    alpha: float = 0.6,
) -> None:
    """Draws a thin line per relation across the values of a column, and a diamond with its interval for their mean.

    Lines of many relations have no dots at the values. `single` has a row per relation and a column per value, `means`
    the column, mean, low and high; `labels` names the values from left to right.
    """
    heights = single.reindex(columns=[*labels, "gap"]).to_numpy(dtype=float)
    across = np.tile([*range(len(labels)), np.nan], len(heights))
    line = "-o" if len(heights) <= FEW_RELATIONS else "-"
    axes.plot(across, heights.ravel(), line, color=hue, alpha=alpha, linewidth=0.8, markersize=2.6)
    places = {name: at for at, name in enumerate(labels)}
    for row in means:
        at = places[row[column]]
        axes.plot([at, at], [row["low"], row["high"]], color=hue, linewidth=2.6, solid_capstyle="butt")
        axes.plot([at], [row["mean"]], "D", color=hue, markersize=7, markeredgecolor=INK, markeredgewidth=0.8)
    axes.set_xticks(range(len(labels)), list(labels.values()))
    axes.set_xlim(-0.4, len(labels) - 0.6)
    axes.grid(axis="x", visible=False)


BINS = ("0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1", "over 1")
_EDGES = (0.2, 0.4, 0.6, 0.8, np.nextafter(1, 2))
FEWEST = 30
"""The fewest values that have a box."""
_BOX = {
    "whislo": "percentile_5",
    "q1": "lower_quartile",
    "med": "median",
    "q3": "upper_quartile",
    "whishi": "percentile_95",
}


def how_to_read(over: str) -> str:
    """A caption's words on a column; over: what the interval of the mean is over."""
    return (
        "A box is the middle half of the values, the line in it their median, whiskers from the 5th to the 95th "
        f"percentile (under {FEWEST} values, a dot each); a diamond is the mean with its {interval_over(over)}"
    )


def column_of_values(
    axes: Axes, at: float, values: ArrayLike, row: Mapping[str, Any], hue: str, *, filled: bool = True
) -> None:
    """Draws values at a place of the x axis; row: their quantiles, mean, low and high, as `summaries` has them."""
    ordered = np.sort(np.asarray(values, dtype=float))
    if len(ordered) >= FEWEST:
        box = {part: row[column] for part, column in _BOX.items()}
        axes.bxp(
            [box],
            positions=[at - 0.08],
            widths=0.5,
            showfliers=False,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": f"{hue}40" if filled else "none", "edgecolor": hue},
            medianprops={"color": INK, "linewidth": 1.6},
            whiskerprops={"color": hue},
            capprops={"color": hue},
        )
    else:
        places = np.full(len(ordered), at - 0.08)
        axes.plot(places, ordered, "o", color=hue, markersize=3, markerfacecolor=hue if filled else "none")
    if pd.notna(row["low"]):
        axes.plot([at + 0.3] * 2, [row["low"], row["high"]], color=hue, linewidth=2, solid_capstyle="butt")
    axes.plot([at + 0.3], [row["mean"]], "D", color=hue, markersize=4.5, markeredgecolor=INK, markeredgewidth=0.8)


def columns_of_groups(
    axes: Axes,
    data: pd.DataFrame,
    groups: pd.DataFrame,
    value: str,
    by: str,
    label: Callable[[Row], str],
    hollow: str = "",
) -> None:
    """Draws a column of values for each row of `groups`, in the hue of its query type.

    `data` has query_type, the column `by` and that of the values; `groups` query_type, `by`, mean, low, high and the
    quantiles, in the order of the columns. The group `hollow` is not filled.
    """
    for at, row in enumerate(records(groups)):
        values = where(data, **{name: row[name] for name in ("query_type", by)})[value]
        column_of_values(axes, at, values, row, QUERY_HUES[row["query_type"]], filled=row[by] != hollow)
    named_columns(axes, [label(row) for row in records(groups)])


def columns_of_bins(axes: Axes, values: pd.Series, along: pd.Series, bins: pd.DataFrame, name: str, last: int) -> None:
    """Draws a column of values for each of the bins up to the last one; values (n,) lie at `along` (n,).

    `bins` has the column `name` with the bin, query_type, queries, share_queries, mean, low, high and the quantiles;
    one query type.
    """
    hue, by_name = QUERY_HUES[str(bins["query_type"].iloc[0])], {row[name]: row for row in records(bins)}
    bin_numbers, labels = np.digitize(along, _EDGES), []
    for at, bin_name in enumerate(BINS[:last]):
        row = by_name.get(bin_name, {"queries": 0, "share_queries": 0.0})
        if row["queries"]:
            column_of_values(axes, at, values[bin_numbers == at], row, hue)
        labels.append(f"{bin_name.replace(' to ', '–')}\n{percent(row['share_queries'])}\nn = {row['queries']}")
    named_columns(axes, labels)


def named_columns(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_xticks(range(len(labels)), labels, fontsize=7.5)
    axes.set_xlim(-0.5, len(labels) - 0.5)
    axes.grid(axis="x", visible=False)
