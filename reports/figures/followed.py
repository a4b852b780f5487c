"""How far contexts persuade, by what the greedy answer followed: context, original or neither, tested ([D] Fig 2)."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.data.records.statistics import ALPHA
from swaymeter.reports.estimates import interval_over, percent, plural
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import FEW_RELATIONS, relation_lines, type_panels
from swaymeter.reports.frames import (
    RUNS,
    Frames,
    Model,
    as_published,
    by_entity,
    in_order,
    records,
    where,
    without_unit,
)
from swaymeter.reports.published import aliases, significant
from swaymeter.reports.style import QUERY_HUES, headed, legend_above, mark

FOLLOWS = {"context": "the context's", "original": "the original", "other": "another"}
EVERY = "every context"
CONTEXTS = (EVERY, "in conflict: substitution", "in conflict: negation", "not in conflict")
_SHOWN = ["query_type", "contexts", "greedy_answer", "answers", "share_answers", "relations", "mean", "low", "high"]


def persuasion_by_followed(axes: Axes, data: pd.DataFrame, means: pd.DataFrame) -> None:
    """Draws mean persuasion in nats by what the greedy answer is: a thin line a relation, a diamond their mean.

    `data` has relation, query_type, follows, persuasion; `means` follows, share_answers, mean, low, high; one query
    type, a relation and answer once.
    """
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    single = data.pivot(index="relation", columns="follows", values="persuasion")
    shares = {row["follows"]: row["share_answers"] for row in records(means)}
    labels = {name: f"{words}\n{percent(shares.get(name, 0.0))}" for name, words in FOLLOWS.items()}
    alpha = 0.45 if len(single) <= FEW_RELATIONS else 0.2
    relation_lines(axes, single, records(means), "follows", hue, labels, alpha)


def draw(model: Model, frames: Frames) -> Drawing | None:
    data, rows = frames["followed_of_relations"], frames["followed_by_kind"]
    if data["persuasion"].isna().all():
        return None
    shown = without_unit(frames["followed_in_short"])
    shown = shown[shown["follows"].isin(FOLLOWS)].assign(greedy_answer=lambda means: means["follows"].map(FOLLOWS))
    shown = in_order(shown, contexts=CONTEXTS, query_type=QUERY_HUES, follows=FOLLOWS)
    relations, answers = data["relation"].nunique(), int(data["answers"].sum())
    unscored = answers - int(data["scored"].sum())
    note = f" {unscored} of {answers} answers have no persuasion score: counted, in no mean." if unscored else ""
    conflicts = int(rows.loc[rows["conflict"].notna(), "answers"].sum())
    caption = (
        "Across, what the greedy answer with the context is: the context's answer, the query's original one, or "
        "another; below, its share of the answers. Up, the mean persuasion of these contexts: a thin line "
        "is a relation, a diamond the mean of the relations' means with its "
        f"{interval_over('relations')}. "
        f"{model}; n = {answers} answers in {plural(relations, 'relation')}, each query with all "
        f"its contexts; {conflicts} of them under a context in conflict with the query's answer, which the "
        f"numbers show apart.{note}"
    )
    tests = where(frames["statistics_in_short"], comparison="followed")
    found = {str(row["query_type"]): f"as published: {_significant(row)}" for row in records(as_published(tests))}
    if len(tests):
        caption += _tested(tests)
    alias = aliases([model.name], frames[RUNS])[model.name]
    printed = {kind: value[0] for kind in found if (value := significant(alias, "followed", kind))}
    every = where(shown, contexts=EVERY)
    return Drawing(caption, without_unit(rows), shown[_SHOWN], partial(_paint, data, every, found, printed))


def _significant(row: Mapping[str, Any]) -> str:
    """In how many testable relations contexts that are followed persuade more than those that are not."""
    if not row["tested"]:
        return f"untestable in {plural(int(row['untestable']), 'relation')} ({row['reasons']})"
    share = percent(row["share_significant"])
    return f"context > original in {row['significant']} of {plural(int(row['tested']), 'relation')} ({share})"


def _tested(tests: pd.DataFrame) -> str:
    """The caption's sentences on the test."""
    words = "; ".join(f"{row['query_type']}, {_significant(row)}" for row in records(by_entity(tests)))
    untestable = int(as_published(tests)["untestable"].sum()) if len(tests) else 0
    if not words:
        return ""
    return (
        " In how many relations the contexts that are followed persuade more than those after which the answer is the "
        f"original one (p ≤ {ALPHA} after Benjamini-Hochberg over relations, one-sided), with an entity as a row and "
        f"the signs of its differences turned: {words}. Above each panel as published, by permutations of answers, "
        "which depend on each other. A relation that lacks one of the two answers, or has too few, is untestable, and "
        f"not counted ({untestable} of the published tests)."
    )


def _paint(data: pd.DataFrame, means: pd.DataFrame, found: Mapping[str, str], printed: Mapping[str, str]) -> Canvas:
    canvas, panels = type_panels(data, 3.4, share_x=False, x="the greedy answer is …", y="mean persuasion (nats)")
    for kind, axes in panels.items():
        persuasion_by_followed(axes, data[data["query_type"] == kind], means[means["query_type"] == kind])
        in_paper = [f"in the paper: {printed[kind]}"] if kind in printed else []
        headed(axes, f"{kind} queries", found.get(kind, ""), *in_paper)
    canvas.axes[0].set_ylim(bottom=0)
    legend_above(canvas, [mark("o", "a relation"), mark("D", "mean of the relations")])
    return canvas


FIGURE = Figure(
    "persuasion-by-followed",
    "Do contexts that the greedy answer follows persuade more than others?",
    "Lines of mean persuasion in nats by what the greedy answer is, one for each relation",
    ("followed_of_relations", "followed_in_short", "followed_by_kind", "statistics_in_short"),
    draw,
    measures=("greedy_answers", "persuasion"),
    items=("du-fig-2",),
)
