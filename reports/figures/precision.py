"""What a reduced precision costs: susceptibility in it against float32, on a sample of queries."""

from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.reports.estimates import plural, too_few_for_r
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import type_panels
from swaymeter.reports.frames import Frames, Model, finite, in_order, models, records, unit_of, where, without_unit
from swaymeter.reports.style import INK, QUERY_HUES, plain

SCORES = ("susceptibility", "susceptibility_reference", "largest_difference", "mean_difference")

_DIFFERENCES = tuple(
    f"{which}_difference_of_{score}" for score in ("susceptibility", "persuasion") for which in ("mean", "largest")
)


def difference_of_precisions(axes: Axes, data: pd.DataFrame) -> None:
    """Draws a query a dot: susceptibility in the reference precision across, the difference to it up, both in nats."""
    axes.axhline(0, color=INK, linewidth=1)
    hue, exact = QUERY_HUES[str(data["query_type"].iloc[0])], data["susceptibility_reference"]
    axes.plot(exact, data["susceptibility"] - exact, "o", color=hue, markersize=3.6, alpha=0.8, markeredgewidth=0)


def cost(short: pd.DataFrame, queries: pd.DataFrame, dtype: str) -> str:
    """The cost over all sampled queries of a model, as a clause; empty where it was not measured."""
    row = next(iter(records(where(short, query_type="all"))), None)
    if row is None:
        return ""
    has_rank = pd.notna(row["spearman"]) and not too_few_for_r(int(row["queries"]))
    rank = f"; Spearman {row['spearman']:.3f}" if has_rank else ""
    return (
        f"{dtype} against {reference(queries)} on {plural(row['queries'], 'sampled query')}: susceptibility differs by "
        f"{row['mean_difference_of_susceptibility']:.2g} nats on average, at most "
        f"{row['largest_difference_of_susceptibility']:.2g}{rank}; a context's persuasion by "
        f"{row['mean_difference_of_persuasion']:.2g} on average, at most "
        f"{row['largest_difference_of_persuasion']:.2g} nats"
    )


def reference(queries: pd.DataFrame) -> str:
    """The precision that a model was compared with."""
    return " and ".join(sorted(set(queries["reference"].astype(str))))


def draw(model: Model, frames: Frames) -> Drawing | None:
    every = frames["precision_of_queries"]
    result = finite(every, *SCORES)
    rows = result.rows
    if rows.empty:
        return None
    against, words = reference(rows), cost(frames["precision_in_short"], rows, model.dtype)
    caption = (
        f"Each dot is a sampled query: across, its susceptibility in {against}; up, how much more it is in "
        f"{model.dtype}, with the same contexts; on the zero line the precision costs nothing. "
        f"{words}. {model}; n = {len(rows)} queries in "
        f"{plural(rows['relation'].nunique(), 'relation')}.{result.note('sampled queries')}"
    )
    short = frames["precision_in_short"]
    shown = without_unit(short).replace({"query_type": {"all": "both"}})
    shown = in_order(shown, query_type=[*QUERY_HUES, "both"])
    shown.attrs["units"] = dict.fromkeys(_DIFFERENCES, unit_of(short))
    painted = partial(_paint, rows, model.dtype, against)
    return Drawing(caption, every.drop(columns=["model", "dtype"]), shown, painted)


def _paint(rows: pd.DataFrame, dtype: str, reference: str) -> Canvas:
    x, y = f"susceptibility in {plain(reference)} (nats)", f"{plain(dtype)} minus {plain(reference)}"
    canvas, panels = type_panels(rows, 2.9, x=x, y=f"susceptibility (nats),\n{y}")
    for kind, axes in panels.items():
        difference_of_precisions(axes, rows[rows["query_type"] == kind])
    canvas.axes[0].set_xlim(left=0)
    return canvas


def _any_reduced(frames: Frames) -> bool:
    """Whether any model was asked in a precision whose cost could be shown."""
    known = frames.get("coverage_of_susceptibility")
    return known is not None and any(model.reduced for model in models(known))


FIGURE = Figure(
    "precision",
    "What does a reduced precision cost?",
    "Scatter plots of the difference in susceptibility between two precisions, in nats",
    ("precision_of_queries", "precision_in_short"),
    draw,
    expected=_any_reduced,
)
