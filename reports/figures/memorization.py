"""Susceptibility by how often a conflicting context leaves the greedy answer as it was (as [D] Fig 3)."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.figures.plate import Plate
from reports.frames import Model, by_model, finite, numbers, records, stand_in_note
from reports.style import INK, QUERY_HUES, blank

TITLE = "Are queries whose answer the model holds on to swayed less?"
BINS = ("0 to 0.2", "0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 to 1")
FEWEST = 5
_EDGES = (0.2, 0.4, 0.6, 0.8)
_POINTS = [
    "relation",
    "query_type",
    "form",
    "entity",
    "invented",
    "query_id",
    "original",
    "substitute",
    "memorization_ratio",
    "negation_original",
    "negation_substitute",
    "all_original",
    "all_substitute",
    "memorization_ratio_all",
    "susceptibility",
]


def susceptibility_by_memorization(axes: Axes, data: pd.DataFrame) -> Axes:
    """Draws susceptibility in nats, a box per fifth of the memorization ratio; under five queries they are dots.

    `data` has query_type, bin (0 to 4), susceptibility; one query type.
    """
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    labels = []
    for at, name in enumerate(BINS):
        values = np.sort(data.loc[data["bin"] == at, "susceptibility"].to_numpy(dtype=float))
        if len(values) >= FEWEST:
            marks = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95])
            axes.bxp(
                [dict(zip(("whislo", "q1", "med", "q3", "whishi"), marks, strict=True))],
                positions=[at],
                widths=0.6,
                showfliers=False,
                patch_artist=True,
                manage_ticks=False,
                boxprops={"facecolor": f"{hue}40", "edgecolor": hue},
                medianprops={"color": INK, "linewidth": 1.6},
                whiskerprops={"color": hue},
                capprops={"color": hue},
            )
        else:
            axes.plot(np.full(len(values), at), values, "o", color=hue, markersize=3)
        labels.append(f"{name.replace(' to ', '–')}\n{100 * len(values) / len(data):.0f}%\nn = {len(values)}")
    axes.set_xticks(range(len(BINS)), labels, fontsize=7.5)
    axes.set_xlim(-0.5, len(BINS) - 0.5)
    axes.grid(axis="x", visible=False)
    return axes


def memorization_plates(frames: dict[str, pd.DataFrame]) -> list[Plate]:
    """One plate per model and dtype."""
    plates = []
    for model, rows in by_model(frames["memorization_of_queries"]):
        defined = rows[np.isfinite(numbers(rows["memorization_ratio"]))]
        note = finite(defined, "susceptibility").note("queries with a ratio")
        data = finite(defined, "susceptibility").rows
        if not data.empty:
            stand_in = stand_in_note(frames["stand_ins"], model, ("memorization_ratio", "susceptibility"))
            data["bin"] = np.digitize(numbers(data["memorization_ratio"]), _EDGES)
            plates.append(_plate(model, rows, data, len(rows) - len(defined), note + stand_in))
    return plates


def _plate(model: Model, every: pd.DataFrame, data: pd.DataFrame, undefined: int, notes: str) -> Plate:
    relations = data["relation"].nunique()
    caption = (
        "A query's memorization ratio is n(original) / (n(original) + n(context's)): which of the two the greedy "
        "answer is, counted over the contexts that state another answer about the query's entity. A box is the middle "
        "half of the queries in a fifth of the ratio, the line in it their median, whiskers from the 5th to the 95th "
        f"percentile (dots where there are under {FEWEST}); below it the fifth's share and number of queries. {model}; "
        f"n = {len(data)} queries in {relations} relation{'' if relations == 1 else 's'}. {undefined} of {len(every)} "
        f"queries have no ratio (0/0: no such answer was either) and are in no box.{notes}"
    )
    shown = _shown(data)
    said = "; ".join(f"{row['query_type']}, {row['memorization_ratio']}: {row['median']:.2f}" for row in records(shown))
    alt = (
        f"Box plots of susceptibility in nats in five bins of the memorization ratio, open and closed queries in "
        f"panels, for {model}. Medians: {said}."
    )
    return Plate(
        f"susceptibility-by-memorization-{model.slug}",
        TITLE,
        str(model),
        caption,
        alt,
        every[_POINTS],
        shown,
        partial(_paint, data),
    )


def _shown(data: pd.DataFrame) -> pd.DataFrame:
    made = []
    for kind in QUERY_HUES:
        part = data[data["query_type"] == kind]
        for at, name in enumerate(BINS):
            values = part.loc[part["bin"] == at, "susceptibility"].to_numpy(dtype=float)
            if len(values):
                low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
                made.append(
                    {
                        "query_type": kind,
                        "memorization_ratio": name,
                        "queries": len(values),
                        "share_queries": len(values) / len(part),
                        "mean": float(values.mean()),
                        "lower_quartile": low,
                        "median": median,
                        "upper_quartile": high,
                    }
                )
    return pd.DataFrame(made)


def _paint(data: pd.DataFrame) -> Figure:
    types = [kind for kind in QUERY_HUES if (data["query_type"] == kind).any()]
    figure, grid = blank(1, len(types), 3.4, share_y=True)
    for axes, kind in zip(grid[0], types, strict=True):
        susceptibility_by_memorization(axes, data[data["query_type"] == kind])
        axes.set_title(f"{kind} queries")
        axes.set_xlabel("memorization ratio (no unit)")
    grid[0][0].set_ylabel("susceptibility (nats)")
    grid[0][0].set_ylim(bottom=0)
    return figure
