"""Figures of the tests on scores, as Figs 5-7 and 13-16 of Du et al. 2024.

Forest plots show effect sizes by relation (as Figs 6, 7 and 13-16). One figure shows the share of relations with a
significant test and the mean effect size, model by model (as Fig. 5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from swaymeter.data.records.statistics import ALPHA, FEWEST_FOR_INTERVAL, SHARE
from swaymeter.reports.estimates import span
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import by_relation, query_types, relations_by
from swaymeter.reports.frames import Frames, as_published, by_entity, in_order, records, unit_of, units, where
from swaymeter.reports.models import RUNS, Model, models, sizes
from swaymeter.reports.published import aliases, significant
from swaymeter.reports.style import INK, QUERY_HUES, blank, legend_above, mark, plain, strokes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.lines import Line2D

SHOWN = (
    "relation",
    "query_type",
    "group_a",
    "group_b",
    "n_a",
    "n_b",
    "mean_a",
    "mean_b",
    "effect_size",
    "p",
    "p_adjusted",
    "untestable",
)
"""Columns of a test that the tables show."""


def draw_effects(axes: Axes, data: pd.DataFrame, relations: list[str]) -> None:
    """Draw Cohen's d of each test as a stroke from the zero line; a diamond ends a significant d, a tick any other."""
    axes.axvline(0, color=INK, linewidth=1)
    for (query_type, is_significant), rows in data.groupby(["query_type", "significant"]):
        y = rows["relation"].map(relations.index).to_numpy(dtype=float)
        hue, effect = QUERY_HUES[str(query_type)], rows["effect_size"].to_numpy(dtype=float)
        axes.plot(*strokes(0 * effect, effect, y, y), color=hue, linewidth=1.6 if is_significant else 0.9)
        shape, size = ("D", 5) if is_significant else ("|", 7)
        axes.plot(effect, y, shape, color=hue, markersize=size, markeredgewidth=1.4)


def _draw_forest(comparison: str, model: Model, frames: Frames) -> Drawing | None:
    compared = where(frames["statistics"], comparison=comparison)
    rows, rows_by_entity = as_published(compared), by_entity(compared)
    if rows["untestable"].notna().all():
        return None
    testable = rows[rows["untestable"].isna()]
    testable = testable.assign(significant=testable["p_adjusted"] <= ALPHA)
    relations = relations_by(testable, "effect_size")
    untestable_relations = sorted(set(rows["relation"]) - set(relations))
    order = {"relation": [*relations, *untestable_relations], "query_type": QUERY_HUES}
    numbers = in_order(rows, **order)
    shown = in_order(pd.concat([rows_by_entity, rows]), unit_of_analysis=("entity",), **order)
    shown = shown[["unit_of_analysis", *SHOWN]]
    numbers.attrs["units"] = shown.attrs["units"] = units(rows)
    first, second, measure = (testable[name].iloc[0] for name in ("group_a", "group_b", "measure"))
    row_counts = testable["n_a"] + testable["n_b"]
    sided = "two-sided" if (testable["alternative"] == "two-sided").all() else "one-sided"
    significant_by_entity = _significant_by_type(rows_by_entity[rows_by_entity["untestable"].isna()])
    caption = (
        f"Right of the zero line, the mean {measure} in {unit_of(rows)} is larger for {first} than for {second}; a "
        f"diamond is significant ({sided} {testable['test'].iloc[0]} test, p ≤ {ALPHA} after Benjamini-Hochberg over "
        f"relations), a tick is not. {model}; n = {len(testable)} tests in {len(relations)} relations, "
        f"{span(row_counts.min(), row_counts.max())} rows a test. If each row of a test is an entity: "
        f"{significant_by_entity or 'no test'}; untestable: {_untestable_count(rows_by_entity)}. As published and "
        f"as drawn, a row is a {rows['unit_of_analysis'].iloc[0]}, and the rows of an entity are dependent: "
        f"{_significant_by_type(testable)}; untestable: {_untestable_count(rows)}. Sorted by the open queries' d."
    )
    x_label, marks = "effect size (Cohen's d, no unit)", [mark("D", "significant"), mark("|", "not significant")]
    paint = partial(by_relation, draw_effects, [testable], relations, (0.22, 0.16), x_label, marks, left=None)
    return Drawing(caption, numbers, shown, paint)


def _significant_by_type(rows: pd.DataFrame) -> str:
    by_type = {
        query_type: rows.loc[rows["query_type"] == query_type, "p_adjusted"] <= ALPHA
        for query_type in query_types(rows)
    }
    return "; ".join(
        f"{query_type} {passed.sum()} of {len(passed)} significant" for query_type, passed in by_type.items()
    )


def _untestable_count(rows: pd.DataFrame) -> str:
    reasons = [str(reason) for reason in rows["untestable"].dropna()] if len(rows) else []
    return f"{len(reasons)} ({'; '.join(sorted(set(reasons)))})" if reasons else "none"


FAMILIARITY, RELEVANCE, ASSERTIVENESS, NEGATION = (
    Figure(
        f"{comparison}-of-{measure}",
        question,
        f"Forest plot of Cohen's d of {measure} by relation",
        ("statistics",),
        partial(_draw_forest, comparison),
        measures=(measure,),
        items=items,
    )
    for comparison, measure, question, items in (
        (
            "familiarity",
            "susceptibility",
            "Are invented entities swayed more easily than real ones?",
            ("du-fig-16", "du-section-4.4.1", "du-app-f.1"),
        ),
        (
            "relevance",
            "persuasion",
            "Does a context that mentions the entity persuade more than one that does not?",
            ("du-fig-13",),
        ),
        (
            "assertiveness",
            "persuasion",
            "Does an assertive context persuade more than a base one?",
            ("du-fig-6", "du-fig-14"),
        ),
        (
            "negation",
            "persuasion",
            "Does a negation persuade more or less than a base context?",
            ("du-fig-7", "du-fig-15"),
        ),
    )
)


COMPARISONS = ("relevance", "familiarity", "assertiveness", "negation", "followed")
"""Comparisons of the figure of all models, from left to right."""
_SHAPES: Mapping[str, str] = {"open": "o", "closed": "s"}
_QUANTITIES = (
    ("share_significant", "share_low", "share_high", "significant\nrelations (%)", 100.0),
    ("mean_effect_size", "effect_low", "effect_high", "mean effect\nsize d (no unit)", 1.0),
)
"""For each row of panels: column of the quantity, columns of its interval, label of the y axis, and factor."""
_MIN_GAP = 0.03  # between two models, as a share of the axis
_MAX_NAME = 18
"""Characters of a model's name that fit below a panel. If a name is longer, ticks have numbers from the caption."""
_SUMMARY_COLUMNS = [
    "comparison",
    "test",
    "unit_of_analysis",
    "query_type",
    "tested",
    "untestable",
    "significant",
    "share_significant",
    "share_low",
    "share_high",
    "published",
    "mean_effect_size",
    "effect_low",
    "effect_high",
]


def positions(drawn_models: Sequence[Model], parameters: Mapping[Model, int]) -> tuple[dict[Model, float], bool]:
    """Return the position of each model on the axis, and True if positions are logarithms of the models' sizes.

    Positions are logarithms if all sizes are known and far enough apart. Otherwise models stand at 0, 1, 2 and so on,
    sorted by size, name and dtype; models of unknown size come last.

    Args:
        drawn_models: The models in any order.
        parameters: Sizes of models: their numbers of parameters. A model of unknown size has no entry.
    """
    ordered = sorted(drawn_models, key=lambda model: (parameters.get(model, np.inf), model))
    logarithms = [float(np.log10(parameters[model])) for model in ordered if model in parameters]
    if len(logarithms) == len(ordered) > 1 and min(np.diff(logarithms)) > _MIN_GAP * np.ptp(logarithms):
        return dict(zip(ordered, logarithms, strict=True)), True
    return {model: float(at) for at, model in enumerate(ordered)}, False


def draw_along_models(axes: Axes, data: pd.DataFrame, columns: Sequence[str], factor: float, shift: float) -> None:
    """Draw a quantity of one query type and unit of analysis along the models, with intervals and a line.

    Args:
        axes: The panel.
        data: A row per model, with its position in `at`.
        columns: Columns of the quantity and the ends of its interval.
        factor: Factor of the values, 100 for percent.
        shift: Distance from the models' positions, so that lines do not overlap.
    """
    value, low, high = (factor * data[column].to_numpy(dtype=float) for column in columns)
    query_type, is_by_entity = str(data["query_type"].iloc[0]), data["unit_of_analysis"].iloc[0] == "entity"
    hue, x = QUERY_HUES[query_type], data["at"].to_numpy(dtype=float) + shift
    axes.vlines(x, low, high, color=hue, linewidth=1.0, alpha=0.7)
    axes.plot(
        x,
        value,
        marker=_SHAPES[query_type],
        color=hue,
        linestyle=":" if is_by_entity else "-",
        markersize=4.2,
        markerfacecolor="none" if is_by_entity else hue,
        markeredgewidth=1.0,
    )


def _draw_models(model: Model, frames: Frames) -> Drawing | None:
    tests = frames["statistics_summary"]
    tests = tests[tests["comparison"].isin(COMPARISONS)]
    rows = pd.concat([as_published(tests), by_entity(tests)]) if len(tests) else tests
    rows = rows[rows["tested"] > 0]
    if rows.empty:
        return None
    drawn_models = models(rows)
    parameters = sizes(frames[RUNS])
    model_positions, is_by_size = positions(drawn_models, parameters)
    rows = rows.assign(
        at=[model_positions[Model(name, dtype)] for name, dtype in zip(rows["model"], rows["dtype"], strict=True)]
    )
    rows = in_order(rows, comparison=COMPARISONS, query_type=QUERY_HUES, at=sorted(model_positions.values()))
    ordered = sorted(drawn_models, key=model_positions.__getitem__)
    names = "; ".join(f"{number} {entry}" for number, entry in enumerate(ordered, 1))
    order = "in the order of their size, if known,"
    if is_by_size:
        order = "by their size in parameters on a logarithmic scale,"
    caption = (
        f"The models, {order} from left to right: {names}. The upper panels have the share of a comparison's testable "
        "relations with a significant difference (p ≤ 0.05 after Benjamini-Hochberg), with Wilson's 95% interval over "
        "relations. The lower panels have the relations' mean signed effect size (Cohen's d, above zero if the first "
        "group is larger), with 1.96 standard "
        f"errors on either side; fewer than {FEWEST_FOR_INTERVAL} relations have no interval. Filled marks are the "
        "paper's tests: a row is a query, or in tests of followed contexts an answer. Hollow marks are tests with "
        "entities as rows. n = "
        f"{span(rows['tested'].min(), rows['tested'].max())} relations a comparison and query type."
    )
    alias_of_model = aliases((model.name for model in drawn_models), frames[RUNS])
    keys = zip(rows["model"].map(alias_of_model), rows["comparison"], rows["query_type"], strict=True)
    published = [significant(*key) for key in keys]  # the number of relations in words, and the share
    rows = rows.assign(published=[np.nan if value is None else value[1] for value in published])
    if len(drawn_models) < 2 and rows["published"].isna().all():  # a single model without a published value
        return None
    caption += " A star is the share that the paper prints for the model." if rows["published"].notna().any() else ""
    numbers = rows.drop(columns="at").reset_index(drop=True)
    numbers.attrs["units"] = {**tests.attrs.get("units", {}), "published": SHARE}
    return Drawing(
        caption,
        numbers,
        numbers[["model", "dtype", *_SUMMARY_COLUMNS]],
        partial(_paint_models, rows, model_positions, parameters if is_by_size else {}),
    )


def _paint_models(
    rows: pd.DataFrame, model_positions: Mapping[Model, float], parameters: Mapping[Model, int]
) -> Canvas:
    comparisons = [name for name in COMPARISONS if (rows["comparison"] == name).any()]
    canvas, grid = blank(len(_QUANTITIES), len(comparisons), 4.4, share_x=True, share_y="row")
    step = min(np.diff(sorted(model_positions.values())), default=1.0)
    for panels, (value, low, high, label, factor) in zip(grid, _QUANTITIES, strict=True):
        panels[0].set_ylabel(label)
        for axes, comparison in zip(panels, comparisons, strict=True):
            compared = where(rows, comparison=comparison)
            # A model has up to four marks side by side: two query types, each with two units of analysis.
            for index, (_, group) in enumerate(compared.groupby(["query_type", "unit_of_analysis"], sort=False)):
                draw_along_models(
                    axes, group.sort_values("at"), (value, low, high), factor, step * (index - 1.5) * 0.16
                )
            axes.grid(axis="x", visible=False)
        if factor > 1:  # shares in percent, with room for marks at 0 and 100
            panels[0].set_ylim(-3, 103)
    for axes, comparison in zip(grid[0], comparisons, strict=True):
        # The column `asked` has the compared groups, such as "invented > real".
        axes.set_title(f"{comparison}\n{rows.loc[rows['comparison'] == comparison, 'asked'].iloc[0]}", fontsize=7)
    published = rows[rows["published"].notna()]
    for row in records(published):
        axes, hue = grid[0][comparisons.index(row["comparison"])], QUERY_HUES[row["query_type"]]
        axes.plot(row["at"], 100 * row["published"], "*", color=hue, markersize=8, markeredgecolor=INK, zorder=3)
    for axes in grid[1]:
        axes.axhline(0, color=INK, linewidth=0.8)
    canvas.supxlabel(_name_models(grid[-1], model_positions, parameters, step), fontsize=8.5)
    types = query_types(rows)
    marks: list[Line2D] = [
        mark(_SHAPES[query_type], f"{query_type} queries", QUERY_HUES[query_type]) for query_type in types
    ]
    marks += [mark("D", "the paper's test"), mark("D", "by entity", filled=False)]
    legend_above(canvas, [*marks, mark("*", "published")] if len(published) else marks)
    return canvas


def _name_models(
    panels: Sequence[Axes], model_positions: Mapping[Model, float], parameters: Mapping[Model, int], step: float
) -> str:
    """Label the ticks of the models below a row of panels, and return the label of the x axis.

    Args:
        parameters: Sizes of the models; empty if the positions are not logarithms of sizes.
        step: Smallest distance between two models.
    """
    from matplotlib.ticker import NullLocator

    has_dtypes = len({model.name for model in model_positions}) < len(model_positions)
    names = {position: str(model) if has_dtypes else model.name for model, position in model_positions.items()}
    if parameters:
        axis_label = "parameters"
        labels = {position: _size(parameters[model]) for model, position in model_positions.items()}
    elif max(map(len, names.values())) <= _MAX_NAME:
        axis_label, labels = "model", {position: plain(name) for position, name in names.items()}
    else:
        axis_label = "model, by its number in the caption"
        labels = {position: str(number) for number, position in enumerate(sorted(names), 1)}
    for axes in panels:
        axes.set_xticks(list(labels), list(labels.values()), fontsize=7)
        for label in axes.get_xticklabels():
            label.set_rotation(90 if max(map(len, labels.values())) > 2 else 0)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlim(min(labels) - 0.6 * step, max(labels) + 0.6 * step)
    return axis_label


def _size(size: int) -> str:
    return f"{size / 1e9:.3g}B" if size >= 1e9 else f"{size / 1e6:.3g}M"


BY_MODEL = Figure(
    "tests-by-model",
    "In how many relations does each comparison hold, and how large is its effect, model by model?",
    "Shares of significant relations and mean effect sizes (Cohen's d) along the models",
    ("statistics_summary", RUNS),
    _draw_models,
    measures=("persuasion", "susceptibility"),
    items=("du-fig-5", "du-fig-2", "du-fig-7", "du-section-4.4.1", "du-app-f.1"),
    shows_all_models=True,
    expected=lambda frames: len(models(frames.get("statistics_summary", pd.DataFrame()))) > 1,
)
