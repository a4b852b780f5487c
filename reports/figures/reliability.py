"""Reliability of scores: the cost of a reduced precision, and the variance between seeds and between query forms.

The cost is measured on a sample of queries. Each seed draws a sample of contexts (as in Fig. 4 of Du et al. 2024).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from swaymeter.reports.estimates import plural, span, too_few_for_r
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import (
    SINGLE_ROW,
    Row,
    columns_of_groups,
    grid,
    how_to_read,
    query_types,
    type_panels,
)
from swaymeter.reports.frames import Frames, finite, in_order, present, records, unit_of, where, without_unit
from swaymeter.reports.models import Model, models
from swaymeter.reports.style import INK, QUERY_HUES, mark, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_FINITE_COLUMNS = ("susceptibility", "susceptibility_reference", "largest_difference", "mean_difference")
"""Columns that are finite in a drawn row: susceptibility in both precisions, and differences of persuasion."""
_DIFFERENCES = tuple(
    f"{summary}_difference_of_{score}" for score in ("susceptibility", "persuasion") for summary in ("mean", "largest")
)


def difference_of_precisions(axes: Axes, data: pd.DataFrame) -> None:
    """Draw a dot per query in nats: x is susceptibility in the reference precision, y that in the other minus x."""
    axes.axhline(0, color=INK, linewidth=1)
    hue, in_reference = QUERY_HUES[str(data["query_type"].iloc[0])], data["susceptibility_reference"]
    difference = data["susceptibility"] - in_reference
    axes.plot(in_reference, difference, "o", color=hue, markersize=3.6, alpha=0.8, markeredgewidth=0)


def cost(summary: pd.DataFrame, queries: pd.DataFrame, dtype: str) -> str:
    """Return a sentence on the cost of a precision over all sampled queries; empty if no query was sampled."""
    row = next(iter(records(where(summary, query_type="all"))), None)
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
    """Return the precision that a model is compared with, such as "float32"."""
    return " and ".join(sorted(set(queries["reference"].astype(str))))


def by_query_type(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of each query type; if there are two types, also the rows of both together."""
    types = query_types(rows)
    shown = where(rows, query_type=[*types, "all"] if len(types) > 1 else types)
    return in_order(shown.replace({"query_type": {"all": "both"}}), query_type=[*QUERY_HUES, "both"])


def _draw_precision(model: Model, frames: Frames) -> Drawing | None:
    every = frames["precision_of_queries"]
    result = finite(every, *_FINITE_COLUMNS)
    rows = result.rows
    if rows.empty:
        return None
    summary = frames["precision_summary"]
    reference_dtype, cost_words = reference(rows), cost(summary, rows, model.dtype)
    caption = (
        f"Each dot is a sampled query. The x axis has its susceptibility in {reference_dtype}. The y axis has its "
        f"susceptibility in {model.dtype}, with the same contexts, minus that in {reference_dtype}; on the zero line, "
        f"the precision costs nothing. {cost_words}. {model}; "
        f"n = {len(rows)} queries in {plural(rows['relation'].nunique(), 'relation')}.{result.note('sampled queries')}"
    )
    shown = by_query_type(without_unit(summary))
    shown.attrs["units"] = dict.fromkeys(_DIFFERENCES, unit_of(summary))
    paint = partial(_paint_precision, rows, model.dtype, reference_dtype)
    return Drawing(caption, every.drop(columns=["model", "dtype"]), shown, paint)


def _paint_precision(rows: pd.DataFrame, dtype: str, reference: str) -> Canvas:
    x, y = f"susceptibility in {plain(reference)} (nats)", f"{plain(dtype)} minus {plain(reference)}"
    canvas, panels = type_panels(rows, 2.9, x=x, y=f"susceptibility (nats),\n{y}")
    for query_type, axes in panels.items():
        difference_of_precisions(axes, rows[rows["query_type"] == query_type])
    canvas.axes[0].set_xlim(left=0)
    return canvas


def _any_reduced(frames: Frames) -> bool:
    coverage = frames.get("coverage_of_susceptibility")
    return coverage is not None and any(model.reduced for model in models(coverage))


PRECISION = Figure(
    "precision",
    "What does a reduced precision cost?",
    "Scatter plots of the difference in susceptibility between two precisions, in nats",
    ("precision_of_queries", "precision_summary"),
    _draw_precision,
    expected=_any_reduced,
)


MEASURES = ("persuasion", "susceptibility")
OVER = {"seeds": "over seeds", "forms": "over forms"}
"""Words for the column `over`: variance between seeds, or between query forms."""


def _draw_variance(model: Model, frames: Frames) -> Drawing | None:
    rows = frames["reliability_of_relations"]
    compared = rows.dropna(subset=["variance"])
    groups = in_order(frames["reliability_summary"], measure=MEASURES, over=OVER, query_type=QUERY_HUES)
    if compared.empty:
        return None
    seeds = where(compared, over="seeds")
    seed_words = f" ({span(seeds['scores'].min(), seeds['scores'].max())} seeds)" if len(seeds) else ""
    undefined = rows[rows["variance"].isna()]
    reasons = "; ".join(sorted({str(reason) for reason in undefined["untestable"]}))
    untestable = f" {len(undefined)} of {len(rows)} comparisons have no variance: {reasons}." if len(undefined) else ""
    caption = (
        f"Over seeds{seed_words}: each seed draws a sample of contexts about the same entities. The figure has the "
        "sample variance of a query's susceptibility, and of its persuasion by a context that all samples have. This "
        "persuasion varies with the other contexts of the sample, because persuasion compares the distribution after a "
        "context with the mean distribution after all contexts. Over forms: the variance of an entity's "
        "scores between the forms of a query type, in one sample. A value is the mean variance in a "
        f"relation. {how_to_read('relations')}. {model}; n = {plural(compared['relation'].nunique(), 'relation')} with "
        f"{int(compared['n'].sum())} variances.{untestable}"
    )

    def panel(axes: Axes, _: object, measure: str) -> None:
        data, measure_groups = where(compared, measure=measure), where(groups, measure=measure)
        columns_of_groups(axes, data, measure_groups, "variance", "over", _label)
        axes.set(title=measure, ylabel="variance (squared nats)", ylim=(0, None))

    marks = [mark("o", f"{query_type} queries", hue) for query_type, hue in QUERY_HUES.items()]
    paint = partial(grid, SINGLE_ROW, present(groups, "measure", MEASURES), 3.5, panel, marks, share_y=False)
    numbers, shown = (frame.drop(columns=["model", "dtype"]) for frame in (rows, groups))
    return Drawing(caption, numbers, shown, paint)


def _label(row: Row) -> str:
    return f"{OVER[row['over']]}\n{row['query_type']}\nn = {row['relations']}"


VARIANCE = Figure(
    "variance-of-scores",
    "How far do scores vary with the sample, and with the form of the query?",
    "Variances of persuasion and susceptibility in squared nats, over seeds and query forms",
    ("reliability_of_relations", "reliability_summary"),
    _draw_variance,
    measures=MEASURES,
    expected=lambda frames: False,  # the page does not mention this figure if it is missing
    items=("du-fig-4",),
)
