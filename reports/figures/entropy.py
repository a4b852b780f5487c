"""Semantic entropy against coherent persuasion, instance by instance, outcomes marked, and r (as [M] Figs 3, 5-7)."""

from functools import partial
from typing import Literal

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.reports.addresses import of_each
from swaymeter.reports.estimates import too_few_for_r
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.frames import (
    Frames,
    Model,
    conditions,
    finite,
    in_order,
    partitions,
    records,
    unit_of,
    where,
    without_unit,
)
from swaymeter.reports.style import (
    ANSWER_MARKERS,
    CONDITION_NAMES,
    FEW_DOTS,
    MUTED,
    PARTITION_HUES,
    blank,
    legend_above,
    link,
    mark,
    plain,
)

When = Literal["without", "with"]
QUESTIONS: dict[When, str] = {
    "without": "Are questions that the model is unsure of alone the ones a context moves most?",
    "with": "Is a model that a context moved far still unsure with it?",
}
MOST_GROUPS = 3
"""How many groups of own questions have a panel each; more are drawn together."""
_LENGTH = (
    " Semantic entropy sums the log-probabilities of an answer's tokens, so it grows with the answer's length, too; "
    "the table of accuracy and uncertainty has forms that do not: length-normalised, Rao's, and of clusters."
)
_MEASURES = ("answers", "semantic_entropy", "coherent_persuasion", "accuracy", "whose_answer")


def entropy_against_persuasion(axes: Axes, data: pd.DataFrame) -> None:
    """Draws an instance a marker: semantic entropy across, coherent persuasion up, both in nats.

    `data` has entropy, coherent_persuasion, outcome, partition; ANSWER_MARKERS has the marker of each outcome.
    """
    dense = len(data) > FEW_DOTS
    for outcome in reversed([*ANSWER_MARKERS]):
        rows = data[data["outcome"] == outcome]
        if rows.empty:
            continue
        hue = PARTITION_HUES.get(str(data["partition"].iloc[0]), MUTED)
        axes.plot(
            rows["entropy"], rows["coherent_persuasion"], ANSWER_MARKERS[outcome], color=hue, linestyle="none",
            alpha=0.4 if dense else 0.85, markersize=2.4 if outcome == "other" else 4.4, markeredgewidth=0.7,
            rasterized=dense,
        )  # fmt: skip
    link(axes, data["entropy"], data["coherent_persuasion"], of_each(data))


def correlation_in_words(rows: pd.DataFrame, **group: str) -> str:
    """Pearson's r of a group with its published interval; why there is none; empty where none was computed."""
    for row in records(where(rows, **group)):
        if pd.isna(row["pearson"]):
            return f"no r: {row['untestable']}"
        if few := too_few_for_r(int(row["n"])):
            return few
        ends = "" if pd.isna(row["low"]) else f" [{row['low']:.2f}, {row['high']:.2f}]"
        return f"r = {row['pearson']:.2f}{ends}"
    return ""


def draw(when: When, model: Model, frames: Frames) -> Drawing | None:
    data = frames["instances"].rename(columns={f"semantic_entropy_{when}": "entropy"})
    result = finite(data, "entropy", "coherent_persuasion")
    rows = result.rows
    if rows.empty:
        return None
    groups = len(partitions(rows))
    if groups > MOST_GROUPS:
        rows = rows.assign(partition=f"{groups} groups")
    known = where(frames["instance_correlations"], measure_a=f"semantic_entropy_{when}")
    counts = rows["outcome"].value_counts()
    caption = (
        f"Each marker is a question with a context: further right the model's sampled answers {when} that context "
        "spread over more meanings, higher up the context moved them further. Triangle: persuaded (the "
        "greedy answer newly states the context's); diamond: agreed (it does without the context, too); "
        f"square: stubborn (the answer without the context, not the context's); dot: other. {model}; n = {len(rows)} "
        f"instances of {rows['question_id'].nunique()} questions, {counts.get('persuaded', 0)} persuaded, "
        f"{counts.get('agreed', 0)} agreed, {counts.get('stubborn', 0)} stubborn.{_pooled(known)}"
        f"{_LENGTH}{_asides(rows)}{result.note('instances')}"
    )
    points = data[["partition", "relation", "question_id", "condition", "entropy", "coherent_persuasion", "outcome"]]
    points = points.rename(columns={"entropy": f"semantic_entropy_{when}"})
    shown = _sorted(frames["instances_by_outcome"], f"semantic_entropy_{when}")
    return Drawing(caption, points, shown, partial(_paint, rows, known, when))


def _pooled(known: pd.DataFrame) -> str:
    """A caption's sentence: r over all instances, with both intervals."""
    words = correlation_in_words(known, partition="all", condition="all")
    if not words:
        return ""
    row = where(known, partition="all", condition="all").iloc[0]
    both = "" if pd.isna(row["subject_low"]) else f"; [{row['subject_low']:.2f}, {row['subject_high']:.2f}] " \
        "where subjects are drawn whole"  # fmt: skip
    return (
        f" Pearson's {words} over all of them, its interval as published, which takes instances as independent{both}."
    )


def _asides(rows: pd.DataFrame) -> str:
    unmeasured = int((rows["outcome"] == "unmeasured").sum())
    negative = (
        " Equal answers count as often as drawn, so an entropy can be negative." if rows["entropy"].min() < 0 else ""
    )
    return negative + (f" A cross: {unmeasured} whose outcome was not measured." if unmeasured else "")


def _sorted(means: pd.DataFrame, entropy: str) -> pd.DataFrame:
    """The means by context, partition and outcome, in their fixed orders, contexts in words."""
    rows = where(means, entropy=entropy)
    rows = in_order(rows, condition=conditions(rows), partition=partitions(rows), outcome=ANSWER_MARKERS)
    name = f"mean_{entropy}"
    shown = without_unit(rows).drop(columns="entropy").rename(columns={"mean_semantic_entropy": name})
    shown = shown.replace({"condition": dict(CONDITION_NAMES)})
    shown.attrs["units"] = dict.fromkeys((name, "mean_coherent_persuasion"), unit_of(rows))
    return shown


def _paint(rows: pd.DataFrame, known: pd.DataFrame, when: When) -> Canvas:
    across, down = partitions(rows), conditions(rows)
    canvas, grid = blank(len(down), len(across), 0.7 + 2.5 * len(down), share_x=True, share_y=True)
    for line, condition in zip(grid, down, strict=True):
        for axes, partition in zip(line, across, strict=True):
            data = where(rows, partition=partition, condition=condition)
            if data.empty:
                axes.set_title(f"{plain(partition, 24)}, n = 0", fontsize=8)
            else:
                entropy_against_persuasion(axes, data)
                group = partition if len(known) and (known["partition"] == partition).any() else "all"
                _title(axes, data, correlation_in_words(known, partition=group, condition=condition))
        line[0].set_ylabel(f"{CONDITION_NAMES.get(condition, condition)}\ncoherent persuasion (nats)")
    canvas.supxlabel(f"semantic entropy {when} the context (nats)", fontsize=8.5)
    key = [mark("^", "persuaded"), mark("D", "agreed"), mark("s", "stubborn"), mark("o", "other")]
    legend_above(canvas, [*key, mark("x", "not measured")] if (rows["outcome"] == "unmeasured").any() else key)
    return canvas


def _title(axes: Axes, data: pd.DataFrame, correlation: str) -> None:
    counts = data["outcome"].value_counts()
    outcomes = f"{counts.get('persuaded', 0)} persuaded, {counts.get('stubborn', 0)} stubborn"
    axes.set_title(f"{plain(data['partition'].iloc[0], 24)}, n = {len(data)}\n{outcomes}\n{correlation}", fontsize=8)


def _figure(when: When) -> Figure:
    queries = ("instances", "instances_by_outcome", "instance_correlations")
    name = f"entropy-{when}-against-persuasion"
    items = ("marjanovic-fig-3", "marjanovic-fig-5", "marjanovic-fig-6", "marjanovic-fig-7")
    in_text = ("marjanovic-section-6.3",) if when == "without" else ()
    picture = f"Scatter plots of semantic entropy {when} the context against coherent persuasion, in nats"
    return Figure(
        name, QUESTIONS[when], picture, queries, partial(draw, when), measures=_MEASURES, items=(*items, *in_text)
    )


WITHOUT, WITH = _figure("without"), _figure("with")
