"""The tests on scores as a forest: Cohen's d per relation, sorted, significant marked (as [D] Figs 6, 7, 13-16)."""

from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.data.records.statistics import ALPHA
from swaymeter.reports.estimates import span
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import query_types, relation_panels, relations_by
from swaymeter.reports.frames import Frames, Model, as_published, by_entity, in_order, unit_of, units, where
from swaymeter.reports.style import INK, QUERY_HUES, legend_above, mark, strokes

SHOWN = (
    "relation", "query_type", "group_a", "group_b", "n_a", "n_b", "mean_a", "mean_b", "effect_size", "p", "p_adjusted",
    "untestable",
)  # fmt: skip


def effect_of_relations(axes: Axes, data: pd.DataFrame, relations: list[str]) -> None:
    """Draws Cohen's d of a query type from the zero line: `significant` ones a filled diamond, others a small tick."""
    axes.axvline(0, color=INK, linewidth=1)
    for (query_type, hit), rows in data.groupby(["query_type", "significant"]):
        y = rows["relation"].map(relations.index).to_numpy(dtype=float)
        hue, effect = QUERY_HUES[str(query_type)], rows["effect_size"].to_numpy(dtype=float)
        axes.plot(*strokes(0 * effect, effect, y, y), color=hue, linewidth=1.6 if hit else 0.9)
        shape, size = ("D", 5) if hit else ("|", 7)
        axes.plot(effect, y, shape, color=hue, markersize=size, markeredgewidth=1.4)
    axes.set_xlabel("effect size (Cohen's d, no unit)")


def draw(comparison: str, model: Model, frames: Frames) -> Drawing | None:
    of_comparison = where(frames["statistics"], comparison=comparison)
    rows = as_published(of_comparison)
    if rows["untestable"].notna().all():
        return None
    drawn = rows[rows["untestable"].isna()]
    drawn = drawn.assign(significant=drawn["p_adjusted"] <= ALPHA)
    relations = relations_by(drawn, "effect_size")
    others = sorted(set(rows["relation"]) - set(relations))
    table = in_order(rows, relation=[*relations, *others], query_type=QUERY_HUES)
    table.attrs["units"] = units(rows)
    first, second, measure = (drawn[name].iloc[0] for name in ("group_a", "group_b", "measure"))
    unit = unit_of(rows)
    sizes = drawn["n_a"] + drawn["n_b"]
    sided = "two-sided" if (drawn["alternative"] == "two-sided").all() else "one-sided"
    words = _significant(drawn)
    entities = by_entity(of_comparison)
    clustered = _significant(entities[entities["untestable"].isna()])
    untested = _untestable(entities)
    caption = (
        f"Right of the zero line, the mean {measure} in {unit} is larger for {first} than for {second}; a diamond is "
        f"significant ({sided} {drawn['test'].iloc[0]} test, p ≤ {ALPHA} after Benjamini-Hochberg over relations), a "
        f"tick is not. {model}; n = {len(drawn)} tests in {len(relations)} relations, "
        f"{span(sizes.min(), sizes.max())} rows a test. With an entity as a row of a test: {clustered or 'no test'}; "
        f"untestable: {untested}. As published, and drawn, a row is a {rows['unit_of_analysis'].iloc[0]}, and those of "
        f"an entity depend on each other: {words}; untestable: {_untestable(rows)}. Sorted by the open queries' d."
    )
    return Drawing(caption, table, table[list(SHOWN)], partial(_paint, drawn, relations))


def _significant(drawn: pd.DataFrame) -> str:
    """How many relations are significant, by query type."""
    words = []
    for kind in query_types(drawn):
        p = drawn.loc[drawn["query_type"] == kind, "p_adjusted"]
        words.append(f"{kind} {int((p <= ALPHA).sum())} of {len(p)} significant")
    return "; ".join(words)


def _untestable(rows: pd.DataFrame) -> str:
    """How many of the tests cannot be made, and why."""
    reasons = [str(reason) for reason in rows["untestable"].dropna()] if len(rows) else []
    return f"{len(reasons)} ({'; '.join(sorted(set(reasons)))})" if reasons else "none"


def _paint(drawn: pd.DataFrame, relations: list[str]) -> Canvas:
    canvas, panels = relation_panels(drawn, relations, 0.22, 0.16)
    for kind, axes in panels.items():
        effect_of_relations(axes, drawn[drawn["query_type"] == kind], relations)
    legend_above(canvas, [mark("D", "significant"), mark("|", "not significant")])
    return canvas


def effect_figure(comparison: str, measure: str, question: str, *items: str) -> Figure:
    name = f"{comparison}-of-{measure}"
    picture = f"Forest plot of Cohen's d of {measure} by relation"
    return Figure(name, question, picture, ("statistics",), partial(draw, comparison), measures=(measure,), items=items)


FAMILIARITY = effect_figure(
    "familiarity", "susceptibility", "Are invented entities swayed more easily than real ones?", "du-fig-16",
    "du-section-4.4.1", "du-app-f.1",
)  # fmt: skip
RELEVANCE = effect_figure(
    "relevance", "persuasion", "Does a context that mentions the entity persuade more than one that does not?",
    "du-fig-13",
)  # fmt: skip
ASSERTIVENESS = effect_figure(
    "assertiveness", "persuasion", "Does an assertive context persuade more than a base one?", "du-fig-6", "du-fig-14"
)
NEGATION = effect_figure(
    "negation", "persuasion", "Does a negation persuade otherwise than a base context?", "du-fig-7", "du-fig-15"
)
