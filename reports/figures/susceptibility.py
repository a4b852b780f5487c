"""Susceptibility of queries by relation, by query form and by memorization ratio (Figs 8 and 3 of Du et al. 2024)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swaymeter.reports.estimates import interval_over, plural, span
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import (
    BINS,
    FEWEST_FOR_BOX,
    SINGLE_ROW,
    by_relation,
    column_of_values,
    columns_of_bins,
    grid,
    how_to_read,
    named_columns,
    query_types,
    relations_by,
)
from swaymeter.reports.frames import Frames, finite, in_order, present, records, where, without_unit
from swaymeter.reports.models import Model
from swaymeter.reports.style import QUERY_HUES, mark, strokes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OFFSET = 0.17  # distance of real and of invented entities from the middle of their relation's row
_GROUPS = {False: "real", True: "invented"}
"""Name of each group by the value of the column `invented`."""


def susceptibility_by_relation(axes: Axes, data: pd.DataFrame, relations: list[str]) -> None:
    """Draw mean susceptibility in nats, a row per relation; real entities are filled, invented ones hollow."""
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    for invented, rows in data.groupby("invented"):
        y = rows["relation"].map(relations.index).to_numpy(dtype=float) + (_OFFSET if invented else -_OFFSET)
        axes.plot(*strokes(rows["low"], rows["high"], y, y), color=hue, linewidth=1.4)
        face = "none" if invented else hue
        axes.plot(rows["mean"], y, "o", color=hue, markersize=4.6, markeredgewidth=1.2, markerfacecolor=face)


def _draw_relations(model: Model, frames: Frames) -> Drawing:
    means = without_unit(frames["susceptibility_of_relations"])
    means["invented"] = means["invented"].astype(bool)
    relations = relations_by(means.groupby(["relation", "query_type"], as_index=False)[["mean"]].mean(), "mean")
    means = in_order(means, relation=relations, query_type=QUERY_HUES, invented=(False, True))
    coverage = records(frames["coverage_of_susceptibility"])[0]
    groups = [invented for invented in _GROUPS if (means["invented"] == invented).any()]
    max_contexts = int(coverage["most_contexts"])
    contexts = span(coverage["fewest_contexts"], max_contexts)
    unequal = ""
    if contexts != str(max_contexts):
        unequal = " Values from different numbers of contexts are not to be compared."
    sizes = span(means["entities"].min(), means["entities"].max())
    interval = f"with its {interval_over('entities')}"
    if means["low"].isna().all():
        interval = f"without a 95% interval over entities, because a group has only {sizes} entities"
    caption = (
        "Each mark is the mean over a relation's entities (each entity's forms averaged first), filled for real "
        f"and hollow for invented ones, {interval}. Relations further right are more easily swayed. "
        f"{model}; n = {coverage['queries']} queries, {plural(int(coverage['entities']), 'entity')}, "
        f"{plural(int(coverage['relations']), 'relation')}; {contexts} contexts a query, so no value can pass "
        f"ln {max_contexts} = {np.log(max_contexts):.2f} nats.{unequal} Sorted by the "
        f"{query_types(means)[0]} queries' mean{' of both groups' if len(groups) > 1 else ''}, largest first."
    )
    marks = [mark("o", f"{_GROUPS[invented]} entities", filled=not invented) for invented in groups]
    paint = partial(
        by_relation, susceptibility_by_relation, [means], relations, (0.24, 0.18), "susceptibility (nats)", marks
    )
    return Drawing(caption, means, means, paint)


BY_RELATION = Figure(
    "susceptibility-by-relation",
    "How easily are queries swayed, relation by relation?",
    "Dot plot of mean susceptibility in nats by relation, real and invented entities",
    ("susceptibility_of_relations", "coverage_of_susceptibility"),
    _draw_relations,
    measures=("susceptibility",),
)


RELATION = "officialLanguage"
"""Relation in Fig. 8 of Du et al. 2024."""
MAX_FORMS = 6
"""Upper bound on query forms, each with a panel. With more forms there is no figure: its panels would be tiny."""


def susceptibility_of_form(axes: Axes, data: pd.DataFrame, groups: pd.DataFrame) -> None:
    """Draw a dot per query at its susceptibility in nats, and a box of at least FEWEST_FOR_BOX dots.

    Dots are filled for real entities and hollow for invented ones.
    """
    hue = QUERY_HUES[str(groups["query_type"].iloc[0])]
    labels = []
    for position, row in enumerate(records(groups)):
        values = data.loc[data["invented"] == row["invented"], "susceptibility"].to_numpy(dtype=float)
        filled = not row["invented"]
        column_of_values(axes, position, values, row, hue, filled=filled)
        if len(values) >= FEWEST_FOR_BOX:  # `column_of_values` draws fewer values as dots
            x = position - 0.08 + 0.16 * np.sin(2.4 * np.arange(len(values)))  # a jitter that is the same every time
            face = hue if filled else "none"
            axes.plot(x, np.sort(values), "o", color=hue, markersize=2.4, alpha=0.6, markerfacecolor=face)
        labels.append(f"{_GROUPS[bool(row['invented'])]}\nn = {row['queries']}")
    named_columns(axes, labels)


def relation_of(forms: pd.DataFrame) -> str:
    """Return the relation that is drawn: RELATION if the study has it, otherwise the relation with most queries."""
    counts = forms.groupby("relation")["queries"].sum()
    return RELATION if RELATION in counts else str(counts.sort_index().idxmax())


def _draw_forms(model: Model, frames: Frames) -> Drawing | None:
    every = frames["susceptibility_of_forms"].astype({"invented": bool})
    relation = relation_of(every)
    groups = without_unit(in_order(where(every, relation=relation), query_type=QUERY_HUES, form=(1, 2)))
    scored = finite(where(frames["susceptibility_of_queries"], relation=relation), "susceptibility")
    queries, forms = scored.rows.astype({"invented": bool}), groups[["query_type", "form"]].drop_duplicates()
    if len(forms) > MAX_FORMS:
        return None
    sizes = span(groups["queries"].min(), groups["queries"].max())
    caption = (
        f"Each dot is a query of the relation {relation}: filled for a real entity, hollow for an invented one. The "
        f"higher a dot, the further contexts sway it. {how_to_read('entities')}. A panel is a query form. {model}; n = "
        f"{len(queries)} queries, {sizes} a form and group. The CSV file has every relation.{scored.note('queries')}"
    )

    def panel(axes: Axes, _: object, form_data: dict[str, Any]) -> None:
        susceptibility_of_form(axes, where(queries, **form_data), where(groups, **form_data))
        axes.set_title("{query_type}, form {form}".format(**form_data))

    marks = [mark("o", "real entities"), mark("o", "invented entities", filled=False), mark("D", "mean")]
    paint = partial(grid, SINGLE_ROW, records(forms), 3.4, panel, marks, y=lambda _: "susceptibility (nats)", bottom=0)
    return Drawing(caption, without_unit(every), groups, paint)


BY_FORM = Figure(
    "susceptibility-by-form",
    "How far apart are queries of one relation, form by form?",
    "Dot and box plots of susceptibility in nats of a relation, real and invented entities, by query form",
    ("susceptibility_of_forms", "susceptibility_of_queries"),
    _draw_forms,
    measures=("susceptibility",),
    items=("du-fig-8",),
)


RATIOS = {"conflicting contexts": "memorization_ratio", "every context": "memorization_ratio_all"}
"""Column of the memorization ratio, by the contexts that the ratio is over."""
_SHOWN = [
    "contexts",
    "query_type",
    "memorization_ratio",
    "queries",
    "share_queries",
    "mean",
    "low",
    "high",
    "lower_quartile",
    "median",
    "upper_quartile",
]


def _draw_memorization(model: Model, frames: Frames) -> Drawing | None:
    every, fifths = frames["memorization_of_queries"], frames["memorization_summary"]
    fifths = without_unit(fifths[fifths["memorization_ratio"].notna()])
    if fifths.empty:
        return None
    fifths = in_order(fifths, contexts=RATIOS, query_type=QUERY_HUES, memorization_ratio=BINS)
    result = finite(every, "susceptibility")
    undefined = {name: int(every[ratio].isna().sum()) for name, ratio in RATIOS.items()}
    undefined_words = "; ".join(f"{name}: {count}" for name, count in undefined.items())
    caption = (
        "A query's memorization ratio is n(original) / (n(original) + n(context's)), the numbers of contexts after "
        "which the greedy answer is the original or the context's. In the upper panels, the contexts are those in "
        "conflict, which state another answer about the query's entity. In the lower panels, they are all contexts, as "
        "in the authors' released code. (That "
        "code sorts contexts but not outputs, and so compares an output with another context; here, each output is "
        "compared with its own context.) A column is a range of the ratio, 0.2 wide; its label has the share and "
        f"number of its queries. {how_to_read('entities')}. {model}; n = {len(every)} "
        f"queries in {plural(every['relation'].nunique(), 'relation')}. Queries without a ratio are in no box, because "
        f"no answer was the original or the context's ({undefined_words}).{result.note('queries')}"
    )

    def panel(axes: Axes, contexts: str, query_type: str) -> None:
        axes.set(title=f"{query_type} queries, {contexts}", xlabel="memorization ratio (no unit)")
        type_rows = where(fifths, contexts=contexts, query_type=query_type)
        if len(type_rows):
            ratio = RATIOS[contexts]
            rows = where(result.rows, query_type=query_type).dropna(subset=[ratio])
            columns_of_bins(axes, rows["susceptibility"], rows[ratio], type_rows, "memorization_ratio", count=5)

    ratios, types = present(fifths, "contexts", [*RATIOS]), query_types(fifths)
    height, label = 0.5 + 2.9 * len(ratios), "susceptibility (nats)"
    paint = partial(grid, ratios, types, height, panel, y=lambda _: label, bottom=0)
    return Drawing(caption, every.drop(columns=["model", "dtype"]), fifths[_SHOWN], paint)


BY_MEMORIZATION = Figure(
    "susceptibility-by-memorization",
    "Is a query swayed less if the model keeps its closed-book answer?",
    "Box plots of susceptibility in nats by fifths of the memorization ratio's range",
    ("memorization_of_queries", "memorization_summary"),
    _draw_memorization,
    measures=("memorization_ratio", "susceptibility"),
    items=("du-fig-3",),
)
