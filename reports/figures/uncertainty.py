"""Semantic entropy against coherent persuasion, instance by instance, outcomes marked (as [M] Figs 3, 5-7)."""

from functools import partial
from typing import Literal

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.figures.instances import conditions, instances, partitions
from reports.figures.plate import Plate
from reports.frames import Finite, Model, by_model, finite, stand_in_note
from reports.intervals import mean_interval
from reports.style import ANSWER_MARKERS, CONDITION_NAMES, MUTED, PARTITION_HUES, blank, legend_above, mark

When = Literal["without", "with"]
TITLES: dict[When, str] = {
    "without": "Are questions that the model is unsure of alone the ones a context moves most?",
    "with": "Is a model that a context moved far still unsure with it?",
}
MANY = 600
_MEASURES = ("answers", "semantic_entropy", "coherent_persuasion", "accuracy", "persuaded")


def entropy_against_persuasion(axes: Axes, data: pd.DataFrame) -> Axes:
    """Draws an instance a marker: semantic entropy across, coherent persuasion up, both in nats.

    `data` has entropy, coherent_persuasion, outcome, partition; a triangle is persuaded, a square stubborn, a dot else.
    """
    dense = len(data) > MANY
    for outcome in ("unmeasured", "other", "stubborn", "persuaded"):
        rows = data[data["outcome"] == outcome]
        if rows.empty:
            continue
        hue = PARTITION_HUES.get(str(data["partition"].iloc[0]), MUTED)
        axes.plot(
            rows["entropy"],
            rows["coherent_persuasion"],
            ANSWER_MARKERS[outcome],
            color=hue,
            alpha=0.4 if dense else 0.85,
            markersize=2.4 if outcome == "other" else 4.4,
            markeredgewidth=0.7,
            linestyle="none",
            rasterized=dense,
            markerfacecolor=hue if outcome != "stubborn" else "none",
        )
    counts = data["outcome"].value_counts()
    axes.set_title(
        f"{data['partition'].iloc[0]}, n = {len(data)}\n"
        f"{counts.get('persuaded', 0)} persuaded, {counts.get('stubborn', 0)} stubborn",
        fontsize=8,
    )
    return axes


def entropy_plates(frames: dict[str, pd.DataFrame]) -> list[Plate]:
    """Two plates per model and dtype: entropy without, and with the context."""
    plates = []
    for model, answers in by_model(frames["answers_of_questions"]):
        rows = instances(answers)
        note = stand_in_note(frames["stand_ins"], model, _MEASURES)
        for when in TITLES:
            data = rows.rename(columns={f"entropy_{when}": "entropy"})
            found = finite(data, "entropy", "coherent_persuasion")
            if not found.rows.empty:
                plates.append(_plate(model, when, data, found, note))
    return plates


def _plate(model: Model, when: When, data: pd.DataFrame, found: Finite, stand_in: str) -> Plate:
    rows = found.rows
    counts = rows["outcome"].value_counts()
    caption = (
        f"Each marker is a question with a context: further right the model's sampled answers {when} that context "
        "spread over more meanings, higher up the context moved them further. Filled triangle: persuaded (the "
        "greedy answer became the context's); hollow square: stubborn (the same answer as without, not the "
        f"context's); dot: neither. {model}; n = {len(rows)} instances of {rows['question_id'].nunique()} "
        f"questions, {counts.get('persuaded', 0)} persuaded, {counts.get('stubborn', 0)} "
        f"stubborn.{_asides(rows)}{found.note('instances')}{stand_in}"
    )
    alt = (
        f"Scatter plots of semantic entropy {when} the context against coherent persuasion, in nats, for {model}: "
        f"columns are {', '.join(partitions(rows))}, rows are "
        f"{', '.join(CONDITION_NAMES.get(c, c) for c in conditions(rows))}; {counts.get('persuaded', 0)} persuaded, "
        f"{counts.get('stubborn', 0)} stubborn, {counts.get('other', 0)} neither."
    )
    points = data[["partition", "relation", "question_id", "condition", "entropy", "coherent_persuasion", "outcome"]]
    return Plate(
        f"entropy-{when}-against-persuasion-{model.slug}",
        TITLES[when],
        str(model),
        caption,
        alt,
        points.rename(columns={"entropy": f"semantic_entropy_{when}"}),
        _shown(rows, when),
        partial(_paint, rows, when),
    )


def _asides(rows: pd.DataFrame) -> str:
    unmeasured = int((rows["outcome"] == "unmeasured").sum())
    negative = (
        " Equal answers count as often as drawn, so an entropy can be negative." if rows["entropy"].min() < 0 else ""
    )
    return negative + (f" A cross: {unmeasured} whose outcome was not measured." if unmeasured else "")


def _shown(rows: pd.DataFrame, when: When) -> pd.DataFrame:
    made = []
    for condition in conditions(rows):
        for partition in partitions(rows):
            for outcome in ANSWER_MARKERS:
                part = rows[
                    (rows["partition"] == partition) & (rows["condition"] == condition) & (rows["outcome"] == outcome)
                ]
                if part.empty:
                    continue
                made.append(
                    {
                        "condition": CONDITION_NAMES.get(condition, condition),
                        "partition": partition,
                        "outcome": outcome,
                        "instances": len(part),
                        f"mean_semantic_entropy_{when}": mean_interval(part["entropy"]).mean,
                        "mean_coherent_persuasion": mean_interval(part["coherent_persuasion"]).mean,
                    }
                )
    return pd.DataFrame(made)


def _paint(rows: pd.DataFrame, when: When) -> Figure:
    across, down = partitions(rows), conditions(rows)
    figure, grid = blank(len(down), len(across), 0.7 + 2.5 * len(down), share_x=True, share_y=True)
    for line, condition in zip(grid, down, strict=True):
        for axes, partition in zip(line, across, strict=True):
            data = rows[(rows["partition"] == partition) & (rows["condition"] == condition)]
            if data.empty:
                axes.set_title(f"{partition}, n = 0", fontsize=8)
            else:
                entropy_against_persuasion(axes, data)
        line[0].set_ylabel(f"{CONDITION_NAMES.get(condition, condition)}\ncoherent persuasion (nats)")
    figure.supxlabel(f"semantic entropy {when} the context (nats)", fontsize=8.5)
    key = [mark("^", "persuaded"), mark("s", "stubborn", filled=False), mark("o", "neither")]
    legend_above(figure, [*key, mark("x", "not measured")] if (rows["outcome"] == "unmeasured").any() else key)
    return figure
