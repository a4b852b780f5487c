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
"""Number of relations above which the rows of a panel are lower, and its marks are smaller or left out."""
SINGLE_ROW = "-"
"""Argument `row_items` of `grid` for a single row of panels. The function `panel` then ignores its row item."""


def query_types(rows: pd.DataFrame) -> list[str]:
    """Return the query types that occur in the column `query_type`, open first."""
    return [query_type for query_type in QUERY_HUES if len(rows) and (rows["query_type"] == query_type).any()]


def grid(
    row_items: Iterable[T],
    column_items: Sequence[S],
    height: float,
    panel: Callable[[Axes, T, S], object],
    marks: Sequence[Line2D] = (),
    *,
    share_x: str | bool = False,
    share_y: str | bool = True,
    y: Callable[[T], str] = lambda row_item: "",
    bottom: float | None = None,
) -> Canvas:
    """Return a figure with a grid of panels.

    Args:
        row_items: An item for each row of panels.
        column_items: An item for each panel of a row.
        height: Height of the figure in inches.
        panel: Function that draws a panel from its axes, the item of its row and the item of its column.
        marks: Marks of the legend; no legend if empty.
        share_x: Panels that share the x axis, as in matplotlib's `subplots`.
        share_y: Panels that share the y axis.
        y: Function from the item of a row of panels to its y label.
        bottom: Lower limit of the y axes.
    """
    all_row_items = list(row_items)
    canvas, panels = blank(len(all_row_items), len(column_items), height, share_x=share_x, share_y=share_y)
    for panel_row, row_item in zip(panels, all_row_items, strict=True):
        panel_row[0].set_ylabel(y(row_item))
        for axes, column_item in zip(panel_row, column_items, strict=True):
            panel(axes, row_item, column_item)
    if bottom is not None:  # last, because a limit ends the autoscaling of all panels that share the axis
        for panel_row in panels[:1] if share_y is True else panels:
            panel_row[0].set_ylim(bottom=bottom)
    if marks:
        legend_above(canvas, marks)
    return canvas


def type_panels(
    rows: pd.DataFrame, height: float, *, share_x: bool = True, share_y: bool = True, x: str = "", y: str = ""
) -> tuple[Canvas, dict[str, Axes]]:
    """Return an empty figure, and its titled panels by query type; x and y are the labels of the axes."""
    panels: dict[str, Axes] = {}

    def panel(axes: Axes, _: object, query_type: str) -> None:
        axes.set(title=f"{query_type} queries", xlabel=x)
        panels[query_type] = axes

    return grid(SINGLE_ROW, query_types(rows), height, panel, share_x=share_x, share_y=share_y, y=lambda _: y), panels


def relations_by(rows: pd.DataFrame, column: str) -> list[str]:
    """Return the relations sorted by a column's value for open queries, the largest first."""
    by_type = rows.assign(is_closed=rows["query_type"] == "closed")  # False (open) sorts first
    order = by_type.sort_values(["is_closed", column, "relation"], ascending=[True, False, True])
    return list(dict.fromkeys(order["relation"]))


def by_relation(
    draw: Callable[..., object],
    frames: Sequence[pd.DataFrame],
    relations: Sequence[str],
    row_heights: tuple[float, float],
    x: str,
    marks: Sequence[Line2D],
    *,
    left: float | None = 0,
) -> Canvas:
    """Return a figure with a panel per query type and in it a row per relation, the first at the top.

    Args:
        draw: Function that draws a panel from its axes, the rows of its query type in each frame, and the relations.
        frames: Frames with the column `query_type`.
        relations: Relations from top to bottom.
        row_heights: Height of a row in inches, with few relations and with many.
        x: Label of the x axes.
        marks: Marks of the legend.
        left: Lower limit of the x axes.
    """
    few_height, many_height = row_heights
    height = many_height if len(relations) > FEW_RELATIONS else few_height
    canvas, panels = type_panels(frames[0], 1.5 + height * len(relations), share_y=False, x=x)
    for index, (query_type, axes) in enumerate(panels.items()):
        names = () if index else relations  # only in the first panel, because labelled ticks take longest to draw
        axes.set_yticks(range(len(names)), [plain(name, 30) for name in names])
        axes.set_ylim(len(relations) - 0.4, -0.6)
        axes.grid(axis="y", visible=False)
        axes.locator_params(axis="x", nbins=6)
        axes.yaxis.set_label_coords(0, 0.5)  # fixed, because an automatic position measures all ticks
        draw(axes, *(where(rows, query_type=query_type) for rows in frames), relations)
    if left is not None:
        canvas.axes[0].set_xlim(left=left)  # last, because a limit ends the autoscaling of all panels
    legend_above(canvas, marks)
    return canvas


def relation_lines(
    axes: Axes,
    relation_means: pd.DataFrame,
    means: Iterable[Row],
    column: str,
    hue: str,
    labels: Mapping[str, str],
    alpha: float = 0.6,
) -> None:
    """Draw a thin line per relation across its groups, and a diamond with its interval for the mean of each group.

    Args:
        axes: The panel.
        relation_means: A row per relation, a column per group. With more than FEW_RELATIONS, lines have no dots.
        means: Rows with the group in `column`, and mean, low and high.
        column: Column of the group in `means`, such as "relevant".
        hue: Colour of lines and diamonds.
        labels: Labels of the groups, from left to right.
        alpha: Opacity of the lines.
    """
    # One line for all relations: the column "gap" is new and has only NaN, which ends the line of a relation.
    y = relation_means.reindex(columns=[*labels, "gap"]).to_numpy(dtype=float)
    x = np.tile([*range(len(labels)), np.nan], len(y))
    line = "-o" if len(y) <= FEW_RELATIONS else "-"
    axes.plot(x, y.ravel(), line, color=hue, alpha=alpha, linewidth=0.8, markersize=2.6)
    positions = {name: at for at, name in enumerate(labels)}
    for row in means:
        at = positions[row[column]]
        axes.plot([at, at], [row["low"], row["high"]], color=hue, linewidth=2.6, solid_capstyle="butt")
        axes.plot([at], [row["mean"]], "D", color=hue, markersize=7, markeredgecolor=INK, markeredgewidth=0.8)
    axes.set_xticks(range(len(labels)), list(labels.values()))
    axes.set_xlim(-0.4, len(labels) - 0.6)
    axes.grid(axis="x", visible=False)


BINS = ("0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1", "over 1")
_EDGES = (0.2, 0.4, 0.6, 0.8, np.nextafter(1, 2))  # the last edge is above 1, because 1 is in the bin "0.8 to 1"
FEWEST_FOR_BOX = 30
"""Minimum number of values for a box."""
_BOX = {
    "whislo": "percentile_5",
    "q1": "lower_quartile",
    "med": "median",
    "q3": "upper_quartile",
    "whishi": "percentile_95",
}
"""Column of each quantile, by matplotlib's name for the part of a box."""


def how_to_read(over: str) -> str:
    """Explain a column of values for a caption; `over` names the items of the mean's interval, such as "entities"."""
    return (
        "A box is the middle half of the values, the line in it is their median, and its whiskers reach from the 5th "
        f"to the 95th percentile (fewer than {FEWEST_FOR_BOX} values: a dot each); a diamond is the mean with its "
        f"{interval_over(over)}"
    )


def column_of_values(
    axes: Axes, at: float, values: ArrayLike, row: Mapping[str, Any], hue: str, *, filled: bool = True
) -> None:
    """Draw values (n,) as a box or dots at a position of the x axis, and their mean with its interval beside them.

    Args:
        axes: The panel.
        at: Position on the x axis.
        values: The values.
        row: Quantiles, mean, low and high of the values; the keys are columns of `Summary` in `data/records`.
        hue: Colour in hexadecimal digits, such as "#1f77b4".
        filled: True if boxes and dots are filled.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    if len(ordered) >= FEWEST_FOR_BOX:
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
        x = np.full(len(ordered), at - 0.08)
        axes.plot(x, ordered, "o", color=hue, markersize=3, markerfacecolor=hue if filled else "none")
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
    """Draw a column of values for each group, in the hue of its query type.

    Args:
        axes: The panel.
        data: Rows with query_type, the group in `by`, and a value.
        groups: A row per group, from left to right: query_type, `by`, mean, low, high and the quantiles.
        value: Column of the values in `data`.
        by: Column of the group in both frames.
        label: Function from a row of `groups` to its label on the x axis.
        hollow: Group that is not filled.
    """
    for at, row in enumerate(records(groups)):
        values = where(data, **{name: row[name] for name in ("query_type", by)})[value]
        column_of_values(axes, at, values, row, QUERY_HUES[row["query_type"]], filled=row[by] != hollow)
    named_columns(axes, [label(row) for row in records(groups)])


def columns_of_bins(
    axes: Axes, values: pd.Series, positions: pd.Series, bins: pd.DataFrame, name: str, count: int
) -> None:
    """Draw a column of values for each of the first bins.

    Args:
        axes: The panel.
        values: Values (n,) of one query type.
        positions: Number (n,) that puts each value into a bin, such as the memorization ratio of its query.
        bins: A row per bin: query_type, queries, share_queries, mean, low, high and the quantiles.
        name: Column of `bins` with the name of the bin, such as "0 to 0.2".
        count: Number of drawn bins, from the first of BINS.
    """
    hue, by_name = QUERY_HUES[str(bins["query_type"].iloc[0])], {row[name]: row for row in records(bins)}
    bin_indices, labels = np.digitize(positions, _EDGES), []
    for at, bin_name in enumerate(BINS[:count]):
        row = by_name.get(bin_name, {"queries": 0, "share_queries": 0.0})
        if row["queries"]:
            column_of_values(axes, at, values[bin_indices == at], row, hue)
        labels.append(f"{bin_name.replace(' to ', '–')}\n{percent(row['share_queries'])}\nn = {row['queries']}")
    named_columns(axes, labels)


def named_columns(axes: Axes, labels: Sequence[str]) -> None:
    """Label the columns of a panel, which stand at 0, 1, 2 and so on."""
    axes.set_xticks(range(len(labels)), labels, fontsize=7.5)
    axes.set_xlim(-0.5, len(labels) - 0.5)
    axes.grid(axis="x", visible=False)
