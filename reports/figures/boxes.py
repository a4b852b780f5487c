"""A column of values: a box of many, points of few, and the mean with its interval beside them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from swaymeter.reports.estimates import interval_over
from swaymeter.reports.style import INK

FEWEST = 30
"""The fewest values that have a box."""
_BOX = {"whislo": "percentile_5", "q1": "lower_quartile", "med": "median", "q3": "upper_quartile",
        "whishi": "percentile_95"}  # fmt: skip


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
            [box], positions=[at - 0.08], widths=0.5, showfliers=False, patch_artist=True, manage_ticks=False,
            boxprops={"facecolor": f"{hue}40" if filled else "none", "edgecolor": hue},
            medianprops={"color": INK, "linewidth": 1.6}, whiskerprops={"color": hue}, capprops={"color": hue},
        )  # fmt: skip
    else:
        places = np.full(len(ordered), at - 0.08)
        axes.plot(places, ordered, "o", color=hue, markersize=3, markerfacecolor=hue if filled else "none")
    if pd.notna(row["low"]):
        axes.plot([at + 0.3] * 2, [row["low"], row["high"]], color=hue, linewidth=2, solid_capstyle="butt")
    axes.plot([at + 0.3], [row["mean"]], "D", color=hue, markersize=4.5, markeredgecolor=INK, markeredgewidth=0.8)


def named_columns(axes: Axes, labels: Sequence[str]) -> None:
    """Names the columns from left to right."""
    axes.set_xticks(range(len(labels)), labels, fontsize=7.5)
    axes.set_xlim(-0.5, len(labels) - 0.5)
    axes.grid(axis="x", visible=False)
