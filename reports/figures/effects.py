"""The tests on scores as a forest: Cohen's d per relation, sorted, significant marked (as [D] Figs 6, 7, 13-16)."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from reports.figures.figure import Drawing, Figure
from reports.frames import ALPHA, Frames, Model, is_null, numbers, units
from reports.style import INK, QUERY_HUES, blank, legend_above, mark, plain, strokes

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


def effect_of_relations(axes: Axes, data: pd.DataFrame) -> Axes:
    """Draws Cohen's d, a row per relation, from the zero line: significant ones a filled diamond, others a small tick.

    `data` has relation (an ordered category), query_type, effect_size, significant; one query type, finite effects.
    """
    names = data["relation"].cat.categories
    axes.axvline(0, color=INK, linewidth=1)
    places = {name: at for at, name in enumerate(names)}
    for (query_type, hit), rows in data.groupby(["query_type", "significant"]):
        y = rows["relation"].map(places).to_numpy(dtype=float)
        hue, effect = QUERY_HUES[str(query_type)], rows["effect_size"].to_numpy(dtype=float)
        axes.plot(*strokes(0 * effect, effect, y, y), color=hue, linewidth=1.6 if hit else 0.9)
        shape, size = ("D", 5) if hit else ("|", 7)
        axes.plot(effect, y, shape, color=hue, markersize=size, markeredgewidth=1.4)
    axes.set_yticks(range(len(names)), [plain(name, 30) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("effect size (Cohen's d, no unit)")
    return axes


def drawable(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Where a test was made and gave a finite effect size."""
    return is_null(rows["untestable"]) & np.isfinite(numbers(rows["effect_size"]))


def significant(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Where a test was made and its p-value after Benjamini-Hochberg is under 0.05; NULL and NaN are not."""
    adjusted = pd.Series(numbers(rows["p_adjusted"]), index=rows.index)
    return is_null(rows["untestable"]) & (adjusted < ALPHA)


def draw(comparison: str, model: Model, frames: Frames) -> Drawing | None:
    """The tests of a comparison, relation by relation."""
    rows = frames["statistics"]
    rows = rows[rows["comparison"] == comparison] if len(rows) else rows
    if rows.empty or not drawable(rows).any():
        return None
    rows = rows.assign(effect_size=numbers(rows["effect_size"]), significant=significant(rows))
    drawn = rows[drawable(rows)]
    order = drawn.assign(second=drawn["query_type"] == "closed").sort_values(
        ["second", "effect_size", "relation"], ascending=[True, False, True]
    )
    relations = list(dict.fromkeys(order["relation"]))
    table = (
        rows.assign(rank=rows["relation"].map({name: at for at, name in enumerate(relations)}))
        .sort_values(["rank", "relation", "query_type"], ascending=[True, True, False])
        .drop(columns=["rank", "significant"])
        .reset_index(drop=True)
    )
    table.attrs["units"] = units(rows)
    untestable = int((~is_null(rows["untestable"])).sum())
    odd = len(rows) - len(drawn) - untestable
    first, second, measure = (drawn[name].iloc[0] for name in ("group_a", "group_b", "measure"))
    unit = str(rows["unit"].iloc[0])
    sided = "two-sided" if (drawn["alternative"] == "two-sided").all() else "one-sided"
    words = "; ".join(
        f"{kind} {int(part['significant'].sum())} of {len(part)} significant"
        for kind in QUERY_HUES
        if not (part := drawn[drawn["query_type"] == kind]).empty
    )
    caption = (
        f"Right of the zero line, the mean {measure} in {unit} is larger for {first} than for {second}; a diamond is "
        f"significant ({sided} {drawn['test'].iloc[0]} test, p < {ALPHA} after Benjamini-Hochberg over relations), a "
        f"tick is not. {model}; n = {len(drawn)} tests in {len(relations)} relations ({words}), {_sizes(drawn)} rows a "
        f"test; untestable: {untestable}. Sorted by the open queries' "
        f"d.{f' {odd} of {len(rows)} tests gave no finite effect size and are not drawn.' if odd else ''}"
    )
    alt = (
        f"Forest plot of Cohen's d of {measure}, {first} against {second}, for {model}: {words}; d from "
        f"{drawn['effect_size'].min():.2f} to {drawn['effect_size'].max():.2f}, zero line drawn."
    )
    return Drawing(caption, alt, table, table[list(SHOWN)], partial(_paint, drawn, relations))


def _sizes(drawn: pd.DataFrame) -> str:
    sizes = drawn["n_a"].astype(int) + drawn["n_b"].astype(int)
    return f"{sizes.min()}" if sizes.min() == sizes.max() else f"{sizes.min()} to {sizes.max()}"


def _paint(drawn: pd.DataFrame, relations: list[str]) -> Canvas:
    data = drawn.assign(relation=pd.Categorical(drawn["relation"], categories=relations, ordered=True))
    types = [kind for kind in QUERY_HUES if (data["query_type"] == kind).any()]
    canvas, grid = blank(
        1, len(types), 1.5 + (0.22 if len(relations) <= 40 else 0.16) * len(relations), share_x=True, share_y=True
    )
    for axes, kind in zip(grid[0], types, strict=True):
        effect_of_relations(axes, data[data["query_type"] == kind])
        axes.set_title(f"{kind} queries")
    legend_above(canvas, [mark("D", "significant"), mark("|", "not significant")])
    return canvas


def effect_figure(comparison: str, measure: str, question: str) -> Figure:
    """The figure of a comparison."""
    name = f"{comparison}-of-{measure}"
    return Figure(name, question, ("statistics",), partial(draw, comparison), measures=(measure,))


FAMILIARITY = effect_figure("familiarity", "susceptibility", "Are invented entities swayed more easily than real ones?")
RELEVANCE = effect_figure(
    "relevance", "persuasion", "Does a context that mentions the entity persuade more than one that does not?"
)
ASSERTIVENESS = effect_figure("assertiveness", "persuasion", "Does an assertive context persuade more than a base one?")
NEGATION = effect_figure("negation", "persuasion", "Does a negation persuade otherwise than a base context?")
