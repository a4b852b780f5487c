"""Another measure of the same queries against susceptibility: a query a dot, a relation's mean a diamond.

It is susceptibility over a relation's complete answers, or Fisher susceptibility, which needs no context ([L] Figs 1,
6). The means come ready-made from the table `summaries`, the correlations from `correlations`."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from swaymeter.reports.estimates import plural, span, too_few_for_r
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import FEW_RELATIONS, type_panels
from swaymeter.reports.frames import Frames, finite, records, unit_of, where
from swaymeter.reports.models import Model, of_query
from swaymeter.reports.style import FEW_DOTS, INK, MUTED, QUERY_HUES, dots, headed, legend_above, link, mark, strokes

LEVELS = {"query": "query", "relation": "relation mean"}


def measure_against_susceptibility(axes: Axes, data: pd.DataFrame, means: pd.DataFrame) -> None:
    """Draws a query a dot, susceptibility in nats across and the other measure up, and relation means as diamonds.

    `data` has query_type, susceptibility, score, error (a stroke's half length; NaN: none), query_id and readable;
    `means` has mean_susceptibility and mean; one query type.
    """
    hue, dense = QUERY_HUES[str(data["query_type"].iloc[0])], len(data) > FEW_DOTS
    x, y, error = (data[name].to_numpy(dtype=float) for name in ("susceptibility", "score", "error"))
    alpha = max(0.1, 0.7 * min(1.0, FEW_DOTS / len(data)))
    if np.isfinite(error).any():
        axes.plot(*strokes(x, x, y - error, y + error), color=hue, linewidth=0.6, alpha=alpha, rasterized=dense)
    dots(axes, x, y, color=hue, markersize=2.2, alpha=alpha, markeredgewidth=0)
    near = data[data["readable"]]
    link(axes, near["susceptibility"], near["score"], [of_query(query) for query in near["query_id"]])
    size = 5 if len(means) <= FEW_RELATIONS else 3.2
    at = (means["mean_susceptibility"], means["mean"])
    axes.plot(*at, "D", color=hue, markersize=size, markeredgecolor=INK, markeredgewidth=size / 6)


def with_readable(rows: pd.DataFrame, chosen: pd.DataFrame) -> pd.DataFrame:
    """The rows with the column `readable`: whether the report shows a query with its contexts."""
    return rows.assign(readable=rows["query_id"].isin(chosen["query_id"]) if len(chosen) else False)


def sorted_means(means: pd.DataFrame, measure: str) -> pd.DataFrame:
    """The rows of means_beside_susceptibility about a measure, by relation, open queries first."""
    rows = where(means, measure=measure)
    rows = rows.sort_values(["relation", "query_type"], ascending=[True, False]) if len(rows) else rows
    return rows.reset_index(drop=True)


def shown_means(means: pd.DataFrame, name: str) -> pd.DataFrame:
    """The sorted means for the page, with their units; the measure's mean under this name."""
    shown = means.drop(columns=["model", "dtype", "measure", "unit", "unit_beside"]).rename(columns={"mean": name})
    shown.attrs["units"] = {"mean_susceptibility": unit_of(means, "unit_beside"), name: unit_of(means)}
    return shown


def correlation(correlations: pd.DataFrame, level: str, query_type: str) -> str:
    """Both correlations of a measure in words; the rows are of one model and measure. Empty where none was made."""
    for row in records(where(correlations, level=level, query_type=query_type)):
        over = f"over {plural(int(row['n']), LEVELS[level])}"
        if _reason(row):
            return f"no correlation {over}"
        if few := too_few_for_r(int(row["n"])):
            return few if level == "query" else f"{few}, each a {LEVELS[level]}"
        return f"Pearson {row['pearson']:.2f}, Spearman {row['spearman']:.2f} {over}"
    return ""


def correlation_note(correlations: pd.DataFrame) -> str:
    """A caption's sentences: the correlations over open and closed queries together, and why any is missing."""
    pooled = [words for level in LEVELS if (words := correlation(correlations, level, "all"))]
    together = f" Open and closed together: {'; '.join(pooled)}." if pooled else ""
    lost = [
        f"{row['query_type']}, {plural(2, LEVELS[row['level']])[2:]}: {_reason(row)}"
        for row in records(correlations)
        if _reason(row)
    ]
    return together + (f" No correlation: {'; '.join(lost)}." if lost else "")


def contexts_of(rows: pd.DataFrame) -> str:
    """How many contexts stood before each query, with a warning where they differ; for a caption."""
    fewest, most = rows["contexts"].min(), rows["contexts"].max()
    warning = "" if fewest == most else ": values from different numbers are not to be compared"
    return f"{span(fewest, most)} contexts a query{warning}."


def paint(
    rows: pd.DataFrame, means: pd.DataFrame, correlations: pd.DataFrame, label: str, *, same_unit: bool
) -> Canvas:
    """A panel per query type; the scale upward is logarithmic where all scores are positive and the units differ."""
    canvas, panels = type_panels(rows, 3.9, x="susceptibility (nats)", y=label)
    first = canvas.axes[0]
    logarithmic = not same_unit and bool((rows["score"] > 0).all())
    for kind, axes in panels.items():
        of_kind = (frame[frame["query_type"] == kind] for frame in (rows, means))
        measure_against_susceptibility(axes, *of_kind)
        headed(axes, f"{kind} queries", *(correlation(correlations, level, kind) for level in LEVELS))
        axes.locator_params(axis="x", nbins=4)
        if same_unit:
            axes.axline((0, 0), slope=1, color=MUTED, linewidth=0.9, linestyle="--", zorder=1)
    first.set_xlim(left=0)
    if logarithmic:
        top = (rows["score"] + rows["error"].fillna(0)).max()
        logarithmic_upward(first, float(rows["score"].min()) / 1.3, float(top) * 1.3)
    else:
        first.set_ylim(bottom=min(0.0, float(rows["score"].min())))
    stroke = [mark("|", "its standard error")] if rows["error"].notna().any() else []
    legend_above(canvas, [mark("o", "a query"), *stroke, mark("D", "a relation's mean")])
    return canvas


def logarithmic_upward(axes: Axes, low: float, high: float) -> None:
    """Makes the scale upward logarithmic, from `low` to `high`, both positive."""
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if np.log10(high / low) < 2 else (1,)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())


def _reason(row: dict[str, Any]) -> str:
    return "" if pd.isna(row["untestable"]) else str(row["untestable"])


ANSWER_SET = "answer_set_susceptibility"


def _draw_answer_sets(model: Model, frames: Frames) -> Drawing | None:
    every = frames["answer_set_of_queries"]
    finite_rows = finite(every.assign(score=every[ANSWER_SET], error=float("nan")), "score", "susceptibility", "mass")
    rows = with_readable(finite_rows.rows, frames["chosen_queries"])
    if rows.empty:
        return None
    correlations = where(frames["correlations"], measure_a=ANSWER_SET)
    means = sorted_means(frames["means_beside_susceptibility"], ANSWER_SET)
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


ANSWER_SETS = Figure(
    "answer-sets-against-first-tokens",
    "Are queries swayed over whole answers as they are over first tokens?",
    "Scatter plots of answer-set susceptibility against first-token susceptibility, both in nats",
    ("answer_set_of_queries", "means_beside_susceptibility", "measures_in_short", "correlations", "chosen_queries"),
    _draw_answer_sets,
    measures=("answer_set_susceptibility", "susceptibility"),
)


def _draw_fisher(model: Model, frames: Frames) -> Drawing | None:
    """A model's queries: over the full vocabulary where that was drawn, else over the top answers."""
    every = frames["fisher_of_queries"]
    measure = _measured(every)
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
        f"is larger ({_estimator(measure, rows, frames['measures_in_short'])}); a diamond is the mean of a relation's "
        f"queries. {scale}Fisher susceptibility is in {unit}: "
        f"values of different models are not comparable, only the order of a model's queries is. {model}; n = "
        f"{len(rows)} queries in {plural(relations, 'relation')}, "
        f"{contexts_of(rows)}{correlation_note(correlations)}{result.note('queries')}"
    )
    shown = shown_means(means, "mean_fisher")
    painted = partial(paint, rows, means, correlations, f"Fisher susceptibility\n({unit})", same_unit=False)
    return Drawing(caption, every.drop(columns=["model", "dtype"]), shown, painted)


def _measured(rows: pd.DataFrame) -> str:
    """Which Fisher susceptibility of a model is shown: `fisher` where any query has it, else `fisher_top_k`."""
    return "fisher" if rows["fisher"].notna().any() else "fisher_top_k"


def _estimator(measure: str, rows: pd.DataFrame, measures: pd.DataFrame) -> str:
    if measure != "fisher":
        return f"over the top {span(rows['top_k'].min(), rows['top_k'].max())} answers, exact"
    relative = records(where(measures, measure="relative_standard_error_of_fisher"))
    median = f", in the median {100 * relative[0]['median']:.0f}%" if relative else ""
    return (
        f"over the full vocabulary, from {span(rows['draws'].min(), rows['draws'].max())} random draws; a thin stroke "
        f"reaches one standard error up and down{median}"
    )


FISHER = Figure(
    "fisher-against-susceptibility",
    "Does Fisher susceptibility, which needs no context, find the queries that contexts sway?",
    "Scatter plots of Fisher susceptibility against susceptibility in nats",
    ("fisher_of_queries", "means_beside_susceptibility", "measures_in_short", "correlations", "chosen_queries"),
    _draw_fisher,
    measures=("fisher_susceptibility", "susceptibility"),
    items=("liu-fig-1", "liu-fig-6", "liu-table-1"),
)
