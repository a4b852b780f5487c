"""Fisher susceptibility, which needs no context, against susceptibility over contexts (as [L] Figs 1, 6)."""

from functools import partial

import numpy as np
import pandas as pd

from swaymeter.reports.estimates import plural, span
from swaymeter.reports.figures.against_susceptibility import (
    contexts_of,
    correlation_note,
    paint,
    shown_means,
    sorted_means,
    with_readable,
)
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.frames import Frames, Model, finite, records, unit_of, where


def draw(model: Model, frames: Frames) -> Drawing | None:
    """A model's queries: over the full vocabulary where that was drawn, else over the top answers."""
    every = frames["fisher_of_queries"]
    measure = measured(every)
    error = every["fisher_standard_error"] if measure == "fisher" else np.nan
    result = finite(every.assign(score=every[measure], error=error), "score", "susceptibility")
    rows = with_readable(result.rows, frames["chosen_queries"])
    if rows.empty:
        return None
    correlations = where(frames["correlations"], measure_a=measure)
    means = sorted_means(frames["means_beside_susceptibility"], measure)
    unit = unit_of(means)
    scale = "The scale upward is logarithmic. " if (rows["score"] > 0).all() else ""
    relations = rows["relation"].nunique()
    caption = (
        "Each dot is a query: further right the study's contexts sway it further, higher up its Fisher susceptibility "
        f"is larger ({_how(measure, rows, frames['measures_in_short'])}); a diamond is the mean of a relation's "
        f"queries. {scale}Fisher susceptibility is in {unit}: "
        f"values of different models are not comparable, only the order of a model's queries is. {model}; n = "
        f"{len(rows)} queries in {plural(relations, 'relation')}, "
        f"{contexts_of(rows)}{correlation_note(correlations)}{result.note('queries')}"
    )
    shown = shown_means(means, "mean_fisher")
    painted = partial(paint, rows, means, correlations, f"Fisher susceptibility\n({unit})", same_unit=False)
    return Drawing(caption, every.drop(columns=["model", "dtype"]), shown, painted)


def measured(rows: pd.DataFrame) -> str:
    """Which Fisher susceptibility of a model is shown: `fisher` where any query has it, else `fisher_top_k`."""
    return "fisher" if rows["fisher"].notna().any() else "fisher_top_k"


def _how(measure: str, rows: pd.DataFrame, measures: pd.DataFrame) -> str:
    if measure != "fisher":
        return f"over the top {span(rows['top_k'].min(), rows['top_k'].max())} answers, exact"
    relative = records(where(measures, measure="relative_standard_error_of_fisher"))
    median = f", in the median {100 * relative[0]['median']:.0f}%" if relative else ""
    return (
        f"over the full vocabulary, from {span(rows['draws'].min(), rows['draws'].max())} random draws; a thin stroke "
        f"reaches one standard error up and down{median}"
    )


FIGURE = Figure(
    "fisher-against-susceptibility",
    "Does Fisher susceptibility, which needs no context, find the queries that contexts sway?",
    "Scatter plots of Fisher susceptibility against susceptibility in nats",
    ("fisher_of_queries", "means_beside_susceptibility", "measures_in_short", "correlations", "chosen_queries"),
    draw,
    measures=("fisher_susceptibility", "susceptibility"),
    items=("liu-fig-1", "liu-fig-6", "liu-table-1"),
)
