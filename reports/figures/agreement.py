"""Another measure of the same queries against susceptibility: a query a dot, a relation's mean a diamond.

The correlations come ready-made, from the table `agreement`.
"""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from reports.frames import numbers, records
from reports.style import INK, MUTED, QUERY_HUES, blank, headed, legend_above, mark, strokes

MANY = 600
LEVELS = {"query": ("query", "queries"), "relation": ("relation mean", "relation means")}


def measure_against_susceptibility(axes: Axes, data: pd.DataFrame) -> Axes:
    """Draws a query a dot, susceptibility in nats across and the other measure up, and relation means as diamonds.

    `data` has relation, query_type, susceptibility, score, error (a stroke's half length; NaN: none); one query type.
    """
    hue, dense = QUERY_HUES[str(data["query_type"].iloc[0])], len(data) > MANY
    x, y, error = (data[name].to_numpy(dtype=float) for name in ("susceptibility", "score", "error"))
    lines = strokes(x, x, y - error, y + error)
    alpha = max(0.1, 0.7 * min(1.0, MANY / len(data)))
    axes.plot(*lines, color=hue, linewidth=0.6, alpha=alpha, rasterized=dense)
    axes.plot(x, y, "o", color=hue, markersize=2.2, alpha=alpha, markeredgewidth=0, rasterized=dense)
    means = relation_means(data)
    size = 5 if len(means) <= 40 else 3.2
    at = (means["susceptibility"], means["score"])
    axes.plot(*at, "D", color=hue, markersize=size, markeredgecolor=INK, markeredgewidth=size / 6)
    return axes


def relation_means(rows: pd.DataFrame) -> pd.DataFrame:
    """The mean of score and susceptibility by relation and query type, with the number of queries."""
    return (
        rows.groupby(["relation", "query_type"], sort=True)
        .agg(queries=("query_id", "nunique"), susceptibility=("susceptibility", "mean"), score=("score", "mean"))
        .reset_index()
        .sort_values(["relation", "query_type"], ascending=[True, False])
        .reset_index(drop=True)
    )


def correlation(agreement: pd.DataFrame, level: str, query_type: str) -> str:
    """Both correlations of a measure in words; `agreement` is of one model and measure. Empty where none was made."""
    one, several = LEVELS[level]
    for row in records(agreement[(agreement["level"] == level) & (agreement["query_type"] == query_type)]):
        n = int(row["n"])
        over = f"over {n} {one if n == 1 else several}"
        if _reason(row):
            return f"no correlation {over}"
        return f"Pearson {row['pearson']:.2f}, Spearman {row['spearman']:.2f} {over}"
    return ""


def agreement_note(agreement: pd.DataFrame) -> str:
    """A caption's sentences: the correlations over open and closed queries together, and why any is missing."""
    pooled = [said for level in LEVELS if (said := correlation(agreement, level, "all"))]
    together = f" Open and closed together: {'; '.join(pooled)}." if pooled else ""
    lost = [
        f"{row['query_type']}, {LEVELS[row['level']][1]}: {_reason(row)}" for row in records(agreement) if _reason(row)
    ]
    return together + (f" No correlation: {'; '.join(lost)}." if lost else "")


def asked_by(rows: pd.DataFrame) -> str:
    """How many contexts stood before each query, with a warning where they differ; for a caption."""
    found = sorted(set(numbers(rows["contexts"]).astype(int)))
    if len(found) == 1:
        return f"{found[0]} contexts a query."
    return f"{found[0]} to {found[-1]} contexts a query: values from different numbers are not to be compared."


def painted(rows: pd.DataFrame, agreement: pd.DataFrame, label: str, *, same_unit: bool) -> Figure:
    """A panel per query type; the scale upward is logarithmic where all scores are positive and the units differ."""
    types = [kind for kind in QUERY_HUES if (rows["query_type"] == kind).any()]
    figure, grid = blank(1, len(types), 3.9, share_x=True, share_y=True)
    for axes, kind in zip(grid[0], types, strict=True):
        measure_against_susceptibility(axes, rows[rows["query_type"] == kind])
        headed(axes, f"{kind} queries", *(correlation(agreement, level, kind) for level in LEVELS))
        axes.set_xlabel("susceptibility (nats)")
        axes.locator_params(axis="x", nbins=4)
        if same_unit:
            axes.axline((0, 0), slope=1, color=MUTED, linewidth=0.9, linestyle="--", zorder=1)
    first = grid[0][0]
    first.set_ylabel(label)
    first.set_xlim(left=0)
    if not same_unit and (rows["score"] > 0).all():
        _logarithmic(first, rows)
    else:
        first.set_ylim(bottom=min(0.0, float(rows["score"].min())))
    stroke = [mark("|", "its standard error")] if rows["error"].notna().any() else []
    legend_above(figure, [mark("o", "a query"), *stroke, mark("D", "a relation's mean")])
    return figure


def _logarithmic(axes: Axes, rows: pd.DataFrame) -> None:
    low, high = float(rows["score"].min()) / 1.3, float((rows["score"] + rows["error"].fillna(0)).max()) * 1.3
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if np.log10(high / low) < 2 else (1,)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())


def _reason(row: dict[str, Any]) -> str:
    """Why a row of `agreement` has no correlation; empty where it has one."""
    return "" if pd.isna(row["untestable"]) else str(row["untestable"])
