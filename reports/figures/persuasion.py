"""Persuasion of contexts by type, by greedy reply, and independent of the entity (Fig. 2, App. B of Du et al. 2024)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from swaymeter.data.records import CONTEXT_KINDS
from swaymeter.data.records.statistics import ALPHA
from swaymeter.reports.estimates import interval_over, percent, plural, span
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import (
    FEW_RELATIONS,
    by_relation,
    grid,
    query_types,
    relation_lines,
    relations_by,
    type_panels,
)
from swaymeter.reports.frames import Frames, as_published, by_entity, in_order, present, records, where, without_unit
from swaymeter.reports.models import RUNS, Model
from swaymeter.reports.published import aliases, significant
from swaymeter.reports.style import INK, KIND_MARKERS, QUERY_HUES, headed, legend_above, mark, strokes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.lines import Line2D

_MEAN = "(mean of relations)"
"""Value of the column `relation` in rows with means over all relations."""


def _relation_marks() -> list[Line2D]:
    return [mark("o", "a relation"), mark("D", "mean of the relations")]


def persuasion_by_kind(axes: Axes, data: pd.DataFrame, kinds: Sequence[str]) -> None:
    """Draw mean persuasion in nats by kind of context: a thin line per relation, and the relations' mean.

    Args:
        axes: The panel.
        data: Rows of one query type and one relevance: relation, kind, query_type, mean, low, high.
        kinds: Kinds of context from left to right.
    """
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    relation_means = data[data["relation"] != _MEAN].pivot(index="relation", columns="kind", values="mean")
    means = records(where(data, relation=_MEAN))
    relation_lines(axes, relation_means, means, "kind", hue, dict(zip(kinds, kinds, strict=True)))


def _draw_kinds(model: Model, frames: Frames) -> Drawing | None:
    means = without_unit(frames["persuasion_of_relations"]).astype({"relevant": bool})
    means = means.replace({"relation": {"all": _MEAN}})
    relations = sorted(set(means["relation"]) - {_MEAN})
    means = in_order(
        means, relation=[_MEAN, *relations], query_type=QUERY_HUES, relevant=(True, False), kind=CONTEXT_KINDS
    )
    kinds = present(means, "kind", CONTEXT_KINDS)
    if len(kinds) < 2:
        return None
    summary = frames["persuasion_summary"]
    coverage = records(summary[summary["relevant"].isna()])[0]  # over relevant and other contexts together
    caption = (
        "Each thin line is a relation, and a diamond is the mean of the relations' means with its "
        f"{interval_over('relations')}. The higher, the more the contexts persuade. The upper panels have contexts "
        "that mention the query's entity; the lower panels have contexts about other entities, on another scale. "
        f"{model}; n = {coverage['queries']} queries in "
        f"{len(relations)} relations, {coverage['pairs']} pairs of query and context, real and invented entities "
        "together."
    )

    def panel(axes: Axes, relevant: bool, query_type: str) -> None:
        axes.set_title(f"{query_type} queries, contexts about {'the entity' if relevant else 'others'}")
        data = where(means, query_type=query_type, relevant=relevant)
        if not data.empty:
            persuasion_by_kind(axes, data, kinds)

    relevances = [relevant for relevant in (True, False) if (means["relevant"] == relevant).any()]
    types, height, label = query_types(means), 0.6 + 2.5 * len(relevances), "mean persuasion (nats)"
    marks = _relation_marks()
    paint = partial(grid, relevances, types, height, panel, marks, share_y="row", y=lambda _: label, bottom=0)
    return Drawing(caption, means, means, paint)


BY_KIND = Figure(
    "persuasion-by-kind",
    "Which kind of context persuades most?",
    "Lines of mean persuasion in nats by kind of context, one for each relation",
    ("persuasion_of_relations", "persuasion_summary"),
    _draw_kinds,
    measures=("persuasion",),
)


FOLLOWS = {"context": "the context's", "original": "the original", "other": "another"}
"""Words after "The greedy answer is", by the value of the column `follows`."""
EVERY = "every context"
CONTEXTS = (EVERY, "in conflict: substitution", "in conflict: negation", "not in conflict")
"""Groups of contexts in the table below the figure. The figure shows only the group EVERY."""
_SHOWN = ["query_type", "contexts", "greedy_answer", "answers", "share_answers", "relations", "mean", "low", "high"]


def persuasion_by_followed(axes: Axes, data: pd.DataFrame, means: pd.DataFrame) -> None:
    """Draw mean persuasion in nats by the greedy answer: a thin line per relation, a diamond for their mean."""
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    relation_means = data.pivot(index="relation", columns="follows", values="persuasion")
    shares = {row["follows"]: row["share_answers"] for row in records(means)}
    labels = {name: f"{words}\n{percent(shares.get(name, 0.0))}" for name, words in FOLLOWS.items()}
    alpha = 0.6 if len(relation_means) <= FEW_RELATIONS else 0.2
    relation_lines(axes, relation_means, records(means), "follows", hue, labels, alpha)


def _draw_followed(model: Model, frames: Frames) -> Drawing | None:
    data, rows = frames["followed_of_relations"], frames["followed_by_kind"]
    if data["persuasion"].isna().all():
        return None
    shown = without_unit(frames["followed_summary"])
    shown = shown[shown["follows"].isin(FOLLOWS)].assign(greedy_answer=lambda means: means["follows"].map(FOLLOWS))
    shown = in_order(shown, contexts=CONTEXTS, query_type=QUERY_HUES, follows=FOLLOWS)
    relations, answers = data["relation"].nunique(), int(data["answers"].sum())
    unscored = answers - int(data["scored"].sum())
    note = ""
    if unscored:
        note = f" {unscored} of {answers} answers have no persuasion score; they are counted, but are in no mean."
    conflicts = int(rows.loc[rows["conflict"].notna(), "answers"].sum())
    caption = (
        "The x axis groups contexts by the greedy answer after them: the context's answer, the query's original answer "
        "or another answer. A percentage is the group's share of the answers. The y axis has the mean persuasion of a "
        f"group's contexts. A thin line is a relation, and a diamond is "
        f"the mean of the relations' means with its {interval_over('relations')}. "
        f"{model}; n = {answers} answers in {plural(relations, 'relation')}, one for each context of each query; "
        f"{conflicts} answers have a context in conflict with the query's answer; the table below has separate rows "
        f"for these answers.{note}"
    )
    tests = where(frames["statistics_summary"], comparison="followed")
    results = {str(row["query_type"]): _significant_relations(row) for row in records(as_published(tests))}
    if len(tests):
        caption += _test_sentences(tests)
    alias = aliases([model.name], frames[RUNS])[model.name]
    printed_results = {
        query_type: value[0] for query_type in results if (value := significant(alias, "followed", query_type))
    }
    every = where(shown, contexts=EVERY)

    def paint() -> Canvas:
        canvas, panels = type_panels(data, 3.4, share_x=False, x="the greedy answer is …", y="mean persuasion (nats)")
        for query_type, axes in panels.items():
            persuasion_by_followed(axes, where(data, query_type=query_type), where(every, query_type=query_type))
            lines = [f"published test: {results[query_type]}" if query_type in results else ""]
            if query_type in printed_results:
                lines.append(f"in the paper: {printed_results[query_type]}")
            headed(axes, f"{query_type} queries", *lines)
        canvas.axes[0].set_ylim(bottom=0)
        legend_above(canvas, _relation_marks())
        return canvas

    return Drawing(caption, without_unit(rows), shown[_SHOWN], paint)


def _significant_relations(row: Mapping[str, Any]) -> str:
    """Return the number of relations in which contexts that the greedy answer follows persuade significantly more."""
    if not row["tested"]:
        return f"untestable in {plural(int(row['untestable']), 'relation')} ({row['reasons']})"
    share = percent(row["share_significant"])
    return f"context > original in {row['significant']} of {plural(int(row['tested']), 'relation')} ({share})"


def _test_sentences(tests: pd.DataFrame) -> str:
    words = "; ".join(f"{row['query_type']}, {_significant_relations(row)}" for row in records(by_entity(tests)))
    untestable = int(as_published(tests)["untestable"].sum()) if len(tests) else 0
    if not words:
        return ""
    return (
        " Sign-flip tests, with one value for each entity, show whether contexts persuade more if the answer is the "
        f"context's than if it is the original: {words} (p ≤ {ALPHA} after Benjamini-Hochberg over relations, "
        "one-sided). The numbers above each panel are of the published test. It permutes answers as if they were "
        "independent, which they are not. A relation with too few of either answer is untestable, and not counted. "
        f"Untestable published tests: {untestable}."
    )


BY_FOLLOWED = Figure(
    "persuasion-by-followed",
    "Do contexts that the greedy answer follows persuade more than others?",
    "Lines of mean persuasion in nats by what the greedy answer is, one for each relation",
    ("followed_of_relations", "followed_summary", "followed_by_kind", "statistics_summary"),
    _draw_followed,
    measures=("greedy_answers", "persuasion"),
    items=("du-fig-2",),
)


_OFFSETS: Mapping[str, float] = dict(zip(CONTEXT_KINDS, (-0.26, 0.0, 0.26), strict=True))
"""y of each kind's marks, relative to the middle of a relation's row."""
_X_LABEL = "entity-independent persuasion (nats)"


def _kind_marks() -> list[Line2D]:
    return [mark(shape, f"{kind} contexts") for kind, shape in KIND_MARKERS.items()]


def entity_independent_persuasion(axes: Axes, data: pd.DataFrame, relations: list[str]) -> None:
    """Draw the range, quartiles and median of contexts' entity-independent persuasion in nats, a row per relation."""
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    for kind, shape in KIND_MARKERS.items():
        rows = data[data["kind"] == kind]
        y = rows["relation"].map(relations.index).to_numpy(dtype=float) + _OFFSETS[kind]
        axes.plot(*strokes(rows["smallest"], rows["largest"], y, y), color=hue, linewidth=0.7, alpha=0.7)
        ends = strokes(rows["lower_quartile"], rows["upper_quartile"], y, y)
        axes.plot(*ends, color=hue, linewidth=2.6, alpha=0.6, solid_capstyle="butt")
        axes.plot(rows["median"], y, shape, color=hue, markersize=5, markeredgecolor=INK, markeredgewidth=0.6)


def _draw_entity_independent(model: Model, frames: Frames) -> Drawing:
    spread = without_unit(frames["entity_independent_of_relations"])
    relations = relations_by(spread, "mean_of_kinds")
    spread = in_order(spread, relation=relations, query_type=QUERY_HUES, kind=CONTEXT_KINDS)
    spread = spread.drop(columns="mean_of_kinds")
    coverage = records(frames["coverage_of_entity_independent"])[0]
    caption = (
        "A context's entity-independent persuasion is its mean persuasion over the entities of a query form. A row is "
        "a relation, and a strip in it is a kind of context. The thin line spans all contexts, the thick line their "
        "middle half, and the mark is the median. Contexts further right persuade more. "
        f"{model}; n = {coverage['rows']} pairs of context and "
        f"query form ({coverage['contexts']} contexts) in {plural(len(relations), 'relation')}, "
        f"{span(coverage['fewest_entities'], coverage['most_entities'])} entities a form. Sorted by the open queries' "
        "mean, largest first."
    )
    paint = partial(
        by_relation, entity_independent_persuasion, [spread], relations, (0.36, 0.26), _X_LABEL, _kind_marks()
    )
    return Drawing(caption, spread, spread, paint)


ENTITY_INDEPENDENT = Figure(
    "entity-independent-persuasion",
    "How far do contexts persuade, whatever the entity asked about?",
    "Strips of entity-independent persuasion in nats by relation and kind of context",
    ("entity_independent_of_relations", "entity_independent_summary", "coverage_of_entity_independent"),
    _draw_entity_independent,
    measures=("entity_independent_persuasion",),
    items=("du-app-b",),
)


_FORM_OFFSET = 0.17  # distance of a query form's marks from the middle of their relation's row


def persuasion_of_templates(axes: Axes, forms: pd.DataFrame, data: pd.DataFrame, relations: list[str]) -> None:
    """Draw the entity-independent persuasion of every template in nats, by relation and query form.

    A mark is the mean of a template (kappa); a stroke across the row is the mean of all contexts of the form (gamma).
    """
    hue = QUERY_HUES[str(forms["query_type"].iloc[0])]
    y = _y_positions(forms, relations)
    axes.plot(*strokes(forms["mean"], forms["mean"], y - 0.15, y + 0.15), color=INK, linewidth=1.8)
    for kind, shape in KIND_MARKERS.items():
        rows = data[data["kind"] == kind]
        axes.plot(rows["mean"], _y_positions(rows, relations), shape, color=hue, markersize=3.6, alpha=0.75)


def _y_positions(rows: pd.DataFrame, relations: list[str]) -> pd.Series:
    """Return the y of each row's mark: above the middle of the row's relation for form 1, below it for form 2."""
    side = 2 * rows["form"].astype(float) - 3  # -1 for form 1, 1 for form 2; the y axis points down
    return rows["relation"].map(relations.index).astype(float) + _FORM_OFFSET * side


def _draw_templates(model: Model, frames: Frames) -> Drawing | None:
    templates, forms = without_unit(frames["entity_independent_of_templates"]), frames["entity_independent_of_forms"]
    relations = relations_by(forms.groupby(["relation", "query_type"], as_index=False)[["mean"]].mean(), "mean")
    order = {"relation": relations, "query_type": QUERY_HUES, "form": (1, 2)}
    templates, forms = in_order(templates, **order, kind=CONTEXT_KINDS), in_order(forms, **order)
    count = templates[["relation", "template"]].drop_duplicates().shape[0]
    caption = (
        "A context's entity-independent persuasion (kappa) is its mean persuasion over the entities of a query form; "
        "a template is the wording of a context with slots for the names. Each mark is the mean over the contexts of a "
        "template before a form; the upright stroke is the mean over all contexts of the form (gamma). A relation has "
        "a row for each of the two forms, the first above. Templates further right persuade more. "
        f"{model}; n = {plural(count, 'template')} in {plural(len(relations), 'relation')}, "
        f"{span(templates['contexts'].min(), templates['contexts'].max())} contexts each. Sorted by the open queries' "
        "mean, largest first. The CSV file has 95% intervals over contexts, and the wordings."
    )
    shown = without_unit(forms).rename(columns={"mean": "gamma"})
    shown.attrs["units"]["gamma"] = shown.attrs["units"]["mean"]
    marks = [*_kind_marks(), mark("|", "mean of all contexts", INK)]
    draw, data = persuasion_of_templates, [forms, templates]
    paint = partial(by_relation, draw, data, relations, (0.34, 0.2), _X_LABEL, marks)
    return Drawing(caption, templates, shown, paint)


BY_TEMPLATE = Figure(
    "entity-independent-by-template",
    "Which wordings of contexts persuade most, whatever the entity asked about?",
    "Dot plot of entity-independent persuasion in nats by relation and template",
    ("entity_independent_of_templates", "entity_independent_of_forms"),
    _draw_templates,
    measures=("entity_independent_persuasion",),
    items=("du-app-b",),
)
