"""Susceptibility over a relation's complete answers against susceptibility over first tokens."""

from functools import partial

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
from swaymeter.reports.frames import Frames, Model, finite, where
from swaymeter.reports.style import QUERY_HUES

MEASURE = "answer_set_susceptibility"


def draw(model: Model, frames: Frames) -> Drawing | None:
    every = frames["answer_set_of_queries"]
    finite_rows = finite(every.assign(score=every[MEASURE], error=float("nan")), "score", "susceptibility", "mass")
    rows = with_readable(finite_rows.rows, frames["chosen_queries"])
    if rows.empty:
        return None
    correlations = where(frames["correlations"], measure_a=MEASURE)
    means = sorted_means(frames["means_beside_susceptibility"], MEASURE)
    relations = rows["relation"].nunique()
    caption = (
        "Each dot is a query: across, its susceptibility over the first token; up, over the complete answers of its "
        "relation, each with what ends it; a diamond is the mean of a relation's queries. On the dashed line both are "
        f"equal. The whole set has a mean probability of {masses(frames['measures_in_short'])}: the score says nothing "
        f"of the rest. {model}; n = {len(rows)} queries in {plural(relations, 'relation')}, "
        f"{span(rows['answers'].min(), rows['answers'].max())} answers a set, "
        f"{contexts_of(rows)}{correlation_note(correlations)}{finite_rows.note('queries')}"
    )
    shown = shown_means(means, "mean_answer_set_susceptibility")
    label = "answer-set susceptibility (nats)"
    painted = partial(paint, rows, means, correlations, label, same_unit=True)
    return Drawing(caption, every.drop(columns=["model", "dtype"]), shown, painted)


def masses(measures: pd.DataFrame) -> str:
    """The mean probability of the whole answer set, by query type, in words."""
    rows_of_mass = measures[measures["measure"] == "mass"].set_index("query_type")["mean"]
    return ", ".join(f"{rows_of_mass[kind]:.2f} for {kind} queries" for kind in QUERY_HUES if kind in rows_of_mass)


FIGURE = Figure(
    "answer-sets-against-first-tokens",
    "Are queries swayed over whole answers as they are over first tokens?",
    "Scatter plots of answer-set susceptibility against first-token susceptibility, both in nats",
    ("answer_set_of_queries", "means_beside_susceptibility", "measures_in_short", "correlations", "chosen_queries"),
    draw,
    measures=("answer_set_susceptibility", "susceptibility"),
)
