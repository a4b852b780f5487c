"""Figures of a second measure of queries against susceptibility: a dot per query, a diamond per relation's mean.

The second measure is susceptibility over a relation's complete answers, or Fisher susceptibility (Figs 1 and 6 of Liu
et al. 2024). Fisher susceptibility is also drawn for real and invented entities, by wording, and in bins of
susceptibility (Figs 2-5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swaymeter.reports.estimates import plural, span, too_few_for_r
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import (
    BINS,
    FEW_RELATIONS,
    SINGLE_ROW,
    Row,
    columns_of_bins,
    columns_of_groups,
    grid,
    how_to_read,
    type_panels,
)
from swaymeter.reports.frames import Frames, finite, in_order, present, records, unit_of, where, without_unit
from swaymeter.reports.models import Model, query_address
from swaymeter.reports.style import FEW_DOTS, INK, MUTED, QUERY_HUES, dots, headed, legend_above, link, mark, strokes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LEVELS = {"query": "query", "relation": "relation mean"}
"""Noun for the items of a correlation, by its level."""


def measure_against_susceptibility(axes: Axes, data: pd.DataFrame, means: pd.DataFrame) -> None:
    """Draw a dot per query and a diamond per relation's mean; x is susceptibility in nats, y the second measure.

    Args:
        axes: The panel.
        data: Queries of one type: susceptibility, score, error, query_id, and readable (True if the page of queries
            has its texts).
        means: A row per relation: mean_susceptibility, and mean (of the second measure).
    """
    hue, dense = QUERY_HUES[str(data["query_type"].iloc[0])], len(data) > FEW_DOTS
    x, y, error = (data[name].to_numpy(dtype=float) for name in ("susceptibility", "score", "error"))
    alpha = max(0.1, 0.7 * min(1.0, FEW_DOTS / len(data)))
    if np.isfinite(error).any():
        axes.plot(*strokes(x, x, y - error, y + error), color=hue, linewidth=0.6, alpha=alpha, rasterized=dense)
    dots(axes, x, y, color=hue, markersize=2.2, alpha=alpha, markeredgewidth=0)
    readable = data[data["readable"]]
    addresses = [query_address(query) for query in readable["query_id"]]
    link(axes, readable["susceptibility"], readable["score"], addresses)
    size = 5 if len(means) <= FEW_RELATIONS else 3.2
    mean_x, mean_y = means["mean_susceptibility"], means["mean"]
    axes.plot(mean_x, mean_y, "D", color=hue, markersize=size, markeredgecolor=INK, markeredgewidth=size / 6)


def correlation(correlations: pd.DataFrame, level: str, query_type: str) -> str:
    """Return Pearson's and Spearman's correlation in words; empty if no row has the level and query type.

    Args:
        correlations: Correlations of one model and measure.
        level: Key of LEVELS.
        query_type: "open", "closed" or "all".
    """
    for row in records(where(correlations, level=level, query_type=query_type)):
        over_items = f"over {plural(int(row['n']), LEVELS[level])}"
        if _reason_for_none(row):
            return f"no correlation {over_items}"
        if few := too_few_for_r(int(row["n"])):
            return few if level == "query" else f"{few}, each a {LEVELS[level]}"
        return f"Pearson {row['pearson']:z.2f}, Spearman {row['spearman']:z.2f} {over_items}"
    return ""


def correlation_note(correlations: pd.DataFrame) -> str:
    """Return the caption's sentences on correlations over all queries, and on reasons for missing correlations."""
    pooled = [words for level in LEVELS if (words := correlation(correlations, level, "all"))]
    together = f" Open and closed together: {'; '.join(pooled)}." if pooled else ""
    missing = [
        # plural(2, "query")[2:] is "queries"
        f"{row['query_type']}, {plural(2, LEVELS[row['level']])[2:]}: {_reason_for_none(row)}"
        for row in records(correlations)
        if _reason_for_none(row)
    ]
    return together + (f" No correlation: {'; '.join(missing)}." if missing else "")


def context_count(rows: pd.DataFrame) -> str:
    """Return the caption's words on the number of contexts of a query, with a warning if the number differs."""
    fewest, largest = rows["contexts"].min(), rows["contexts"].max()
    warning = "" if fewest == largest else ": values from different numbers of contexts are not to be compared"
    return f"{span(fewest, largest)} contexts a query{warning}."


def paint(
    rows: pd.DataFrame, means: pd.DataFrame, correlations: pd.DataFrame, y_label: str, *, same_unit: bool
) -> Canvas:
    """Paint a panel per query type.

    Args:
        same_unit: True if both axes have the same unit. A panel then has the line y = x. Otherwise the y axis is
            logarithmic if all scores are positive.
    """
    canvas, panels = type_panels(rows, 3.9, x="susceptibility (nats)", y=y_label)
    first = canvas.axes[0]
    logarithmic = not same_unit and bool((rows["score"] > 0).all())
    for query_type, axes in panels.items():
        measure_against_susceptibility(axes, *(where(frame, query_type=query_type) for frame in (rows, means)))
        headed(axes, f"{query_type} queries", *(correlation(correlations, level, query_type) for level in LEVELS))
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
    """Make the y axis logarithmic, from `low` to `high`, both positive."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if np.log10(high / low) < 2 else (1,)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())


def _reason_for_none(row: dict[str, Any]) -> str:
    return "" if pd.isna(row["untestable"]) else str(row["untestable"])


def _draw(
    model: Model,
    frames: Frames,
    named_query: str,
    measure: str,
    explain: Callable[[pd.DataFrame, str], str],
    y_label: str,
    shown_as: str,
    required: Sequence[str] = (),
    error: pd.Series | float = np.nan,
) -> Drawing | None:
    """Draw a measure of queries against susceptibility.

    Args:
        named_query: Named query with the scores, a row for each query of the study.
        explain: Function from the rows and the measure's unit to the first sentences of the caption.
        y_label: Label of the y axis, with a gap for the unit.
        shown_as: Name of the column of means in the table of the page.
        required: Further columns in which a drawn row has finite numbers.
        error: Standard errors of the measure.
    """
    every, chosen = frames[named_query], frames["chosen_queries"]
    result = finite(every.assign(score=every[measure], error=error), "score", "susceptibility", *required)
    if result.rows.empty:
        return None
    rows = result.rows.assign(readable=result.rows["query_id"].isin(chosen["query_id"]) if len(chosen) else False)
    correlations = where(frames["correlations"], measure_a=measure)
    means = where(frames["means_beside_susceptibility"], measure=measure)
    if len(means):
        means = means.sort_values(["relation", "query_type"], ascending=[True, False]).reset_index(drop=True)
    unit, relations = unit_of(means), plural(rows["relation"].nunique(), "relation")
    sets = f"{span(rows['answers'].min(), rows['answers'].max())} answers a set, " if measure == ANSWER_SET else ""
    caption = (
        f"{explain(rows, unit)} {model}; n = {len(rows)} queries in {relations}, {sets}{context_count(rows)}"
        f"{correlation_note(correlations)}{result.note('queries')}"
    )
    shown = means.drop(columns=["model", "dtype", "measure", "unit", "unit_beside"]).rename(columns={"mean": shown_as})
    shown.attrs["units"] = {"mean_susceptibility": unit_of(means, "unit_beside"), shown_as: unit}
    paint_model = partial(paint, rows, means, correlations, y_label.format(unit), same_unit=measure == ANSWER_SET)
    return Drawing(caption, every.drop(columns=["model", "dtype"]), shown, paint_model)


ANSWER_SET = "answer_set_susceptibility"
"""Measure: susceptibility over the complete answers of a relation."""
_BESIDE = ("means_beside_susceptibility", "measures_summary", "correlations", "chosen_queries")
"""Named queries that a figure reads in addition to the named query with the scores."""


def masses(measures: pd.DataFrame) -> str:
    """Return the mean of the total probability of a relation's complete answers, in words, by query type."""
    rows_of_mass = measures[measures["measure"] == "mass"].set_index("query_type")["mean"]
    return ", ".join(
        f"{rows_of_mass[query_type]:.2f} for {query_type} queries"
        for query_type in QUERY_HUES
        if query_type in rows_of_mass
    )


def _draw_answer_sets(model: Model, frames: Frames) -> Drawing | None:
    def explain(rows: pd.DataFrame, unit: str) -> str:
        return (
            "Each dot is a query. The x axis has its susceptibility over the first token. The y axis has its "
            "susceptibility over the complete answers of its relation, each with the token that ends it. A diamond is "
            "the mean of a relation's queries. On the dashed line, both are equal. The whole set has a mean "
            f"probability of {masses(frames['measures_summary'])}; other answers are not in the score."
        )

    y_label = "answer-set susceptibility (nats)"
    named_query, shown_as = "answer_set_of_queries", "mean_answer_set_susceptibility"
    return _draw(model, frames, named_query, ANSWER_SET, explain, y_label, shown_as, required=["mass"])


ANSWER_SETS = Figure(
    "answer-sets-against-first-tokens",
    "Are queries swayed over whole answers as they are over first tokens?",
    "Scatter plots of answer-set susceptibility against first-token susceptibility, both in nats",
    ("answer_set_of_queries", *_BESIDE),
    _draw_answer_sets,
    measures=("answer_set_susceptibility", "susceptibility"),
)


def _draw_fisher(model: Model, frames: Frames) -> Drawing | None:
    """Draw Fisher susceptibility over the full vocabulary; if no query has this score, over the likeliest tokens."""
    every = frames["fisher_of_queries"]
    measure = "fisher" if every["fisher"].notna().any() else "fisher_top_k"

    def explain(rows: pd.DataFrame, unit: str) -> str:
        scale = "The scale upward is logarithmic. " if (rows["score"] > 0).all() else ""
        return (
            "Each dot is a query. The further right a dot, the further the study's contexts sway the query. The higher "
            "a dot, the larger the query's Fisher susceptibility "
            f"({_estimator(measure, rows, frames['measures_summary'])}). A diamond is the mean of a relation's "
            f"queries. {scale}Fisher susceptibility is in {unit}: values of different models are "
            "not comparable, only the order of a model's queries is."
        )

    error = every["fisher_standard_error"] if measure == "fisher" else np.nan
    y_label = "Fisher susceptibility\n({})"
    return _draw(model, frames, "fisher_of_queries", measure, explain, y_label, "mean_fisher", error=error)


def _estimator(measure: str, rows: pd.DataFrame, measures: pd.DataFrame) -> str:
    if measure != "fisher":
        return f"over the {span(rows['top_k'].min(), rows['top_k'].max())} likeliest tokens, exact"
    relative = records(where(measures, measure="relative_standard_error_of_fisher"))
    median = f"; the median standard error is {100 * relative[0]['median']:.0f}% of the score" if relative else ""
    return (
        f"over the full vocabulary, from {span(rows['draws'].min(), rows['draws'].max())} random draws; a thin stroke "
        f"reaches one standard error up and down{median}"
    )


FISHER = Figure(
    "fisher-against-susceptibility",
    "Does Fisher susceptibility, which needs no context, find the queries that contexts sway?",
    "Scatter plots of Fisher susceptibility against susceptibility in nats",
    ("fisher_of_queries", *_BESIDE),
    _draw_fisher,
    measures=("fisher_susceptibility", "susceptibility"),
    items=("liu-fig-1", "liu-fig-6", "liu-table-1"),
)


PANEL_TITLES = {"susceptibility": "susceptibility over contexts", "fisher": "Fisher susceptibility"}
"""Title of each measure's panel, from left to right."""
GROUPS = {"entities": ("real", "invented"), "wording": ("question", "completion")}
"""Names of the groups of queries from left to right, by the column that has these names."""
HOLLOW = "invented"
"""Group whose boxes and dots are not filled."""
_EXPLANATIONS = {
    "susceptibility": "Susceptibility over contexts is how far the study's contexts sway a query.",
    "fisher": "Fisher susceptibility is how far small changes of a query's embeddings would sway it.",
}
_CSV_COLUMNS = ["relation", "query_type", "of_group", "entity", "query_id", "susceptibility", "fisher"]
_TABLE_COLUMNS = [
    "measure",
    "query_type",
    "of_group",
    "queries",
    "entities",
    "mean",
    "low",
    "high",
    "lower_quartile",
    "median",
    "upper_quartile",
    "unit",
]


def _draw_groups(grouped_by: str, words: str, model: Model, frames: Frames) -> Drawing | None:
    every = frames["both_susceptibilities_of_queries"]
    every = every.assign(entities=every["invented"].astype(bool).map({True: "invented", False: "real"}))
    rows = every.assign(of_group=every[grouped_by].astype(str))
    summary = where(frames["both_susceptibilities_summary"], grouped_by=grouped_by)
    if not (summary.groupby("query_type")["of_group"].nunique() > 1).any():  # no query type has two groups to compare
        return None
    groups = in_order(summary, measure=PANEL_TITLES, query_type=QUERY_HUES, of_group=GROUPS[grouped_by])
    measures = present(groups, "measure", [*PANEL_TITLES])
    if len(measures) < 2:  # the figure's question is about both measures
        return None
    rows_of_measure = {measure: finite(rows, measure).rows for measure in measures}
    n = " and ".join(f"{len(frame)} queries ({PANEL_TITLES[measure]})" for measure, frame in rows_of_measure.items())
    relations = plural(rows["relation"].nunique(), "relation")
    caption = (
        f"{words} {' '.join(_EXPLANATIONS[measure] for measure in measures)}{_single_groups(groups)} "
        f"{how_to_read('entities')}. The measures have different units, and Fisher susceptibilities of different "
        f"models are not comparable. {model}; n = {n} in {relations}. "
        f"{context_count(rows_of_measure['susceptibility'])}"
    )
    shown = groups[_TABLE_COLUMNS].rename(columns={"of_group": "group"})
    shown.attrs["units"] = {}
    numbers = rows[_CSV_COLUMNS].rename(columns={"of_group": grouped_by})

    def panel(axes: Axes, _: object, measure: str) -> None:
        measure_rows, measure_groups = rows_of_measure[measure], where(groups, measure=measure)
        logarithmic = measure == "fisher" and bool((measure_rows[measure] > 0).all())
        axes.set_yscale("log" if logarithmic else "linear")
        columns_of_groups(axes, measure_rows, measure_groups, measure, "of_group", _column_label, HOLLOW)
        axes.set(title=PANEL_TITLES[measure], ylabel=f"({measure_groups['unit'].iloc[0]})")
        if logarithmic:
            logarithmic_upward(axes, *axes.get_ylim())
        else:
            axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]) if (measure_rows[measure] < 0).any() else 0)

    return Drawing(caption, numbers, shown, partial(grid, SINGLE_ROW, measures, 3.5, panel, share_y=False))


def _single_groups(groups: pd.DataFrame) -> str:
    groups_of_type = {
        query_type: set(groups.loc[groups["query_type"] == query_type, "of_group"]) for query_type in QUERY_HUES
    }
    single = {query_type: min(names) for query_type, names in groups_of_type.items() if len(names) == 1}
    return "".join(f" All {query_type} queries are of one group: {name}." for query_type, name in single.items())


def _column_label(row: Row) -> str:
    return f"{row['query_type']}\n{row['of_group']}\nn = {row['queries']}"


BY_ENTITIES, BY_WORDING = (
    Figure(
        f"both-susceptibilities-by-{grouped_by}",
        question,
        f"Box plots of susceptibility in nats and of Fisher susceptibility by query type and {grouped_by}",
        ("both_susceptibilities_of_queries", "both_susceptibilities_summary"),
        partial(_draw_groups, grouped_by, words),
        measures=("susceptibility", "fisher_susceptibility"),
        items=(item,),
    )
    for grouped_by, question, words, item in (
        (
            "entities",
            "Do both susceptibilities tell real from invented entities?",
            "Queries about real and about invented entities.",
            "liu-fig-3",
        ),
        (
            "wording",
            "Does it matter to both susceptibilities whether a query is a question or a sentence to complete?",
            "Queries that are questions (with a question mark outside the entity's name) and sentences to complete.",
            "liu-fig-4",
        ),
    )
)


_TABLE_COLUMNS_OF_BINS = [
    "query_type",
    "bin",
    "queries",
    "share_queries",
    "mean",
    "low",
    "high",
    "lower_quartile",
    "median",
    "upper_quartile",
]


def _draw_bins(model: Model, frames: Frames) -> Drawing | None:
    every = frames["both_susceptibilities_of_queries"]
    rows = finite(every, "susceptibility", "fisher").rows
    bins = where(frames["both_susceptibilities_summary"], measure="fisher", grouped_by="susceptibility")
    if rows.empty or bins.empty:
        return None
    unit = unit_of(bins)
    bins = without_unit(bins).rename(columns={"of_group": "bin"})
    bins = in_order(bins, query_type=[*QUERY_HUES, "all"], bin=BINS)
    count_over = int((rows["susceptibility"] > 1).sum())
    caption = (
        f"From left to right, queries that the study's contexts sway further. {how_to_read('entities')}. Below each "
        "column stand the share and the number of the bin's queries. A bin includes its lower edge, and 1 is in the "
        f"bin from 0.8 to 1. {count_over} of {len(rows)} queries are over 1 nat. Fisher susceptibility is in {unit}: "
        "values of different models are not comparable. "
        f"{model}; n = {len(rows)} queries in {plural(rows['relation'].nunique(), 'relation')}, {context_count(rows)}"
    )

    def paint() -> Canvas:
        y_label = f"Fisher susceptibility\n({unit})"
        typed_bins = where(bins, query_type=[*QUERY_HUES])
        canvas, panels = type_panels(typed_bins, 3.4, share_x=False, x="susceptibility (nats)", y=y_label)
        count = len(BINS) if (bins["bin"] == BINS[-1]).any() else len(BINS) - 1  # "over 1" only if it has queries
        first = canvas.axes[0]
        first.set_yscale("log" if (rows["fisher"] > 0).all() else "linear")
        for query_type, axes in panels.items():
            data = where(rows, query_type=query_type)
            columns_of_bins(
                axes, data["fisher"], data["susceptibility"], where(bins, query_type=query_type), "bin", count
            )
        if first.get_yscale() == "log":
            logarithmic_upward(first, *first.get_ylim())
        return canvas

    return Drawing(caption, every.drop(columns=["model", "dtype"]), bins[_TABLE_COLUMNS_OF_BINS], paint)


BINNED = Figure(
    "fisher-in-bins-of-susceptibility",
    "Is Fisher susceptibility larger where contexts sway a query further?",
    "Box plots of Fisher susceptibility in bins of susceptibility in nats",
    ("both_susceptibilities_of_queries", "both_susceptibilities_summary"),
    _draw_bins,
    measures=("fisher_susceptibility", "susceptibility"),
    items=("liu-fig-2", "liu-fig-5"),
)
