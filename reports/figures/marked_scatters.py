"""Semantic entropy against coherent persuasion, an instance a marker, some of them told apart (as [M] Figs 14, 15)."""

from collections.abc import Mapping
from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.reports.addresses import of_each
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.most_edited import MARKS, WHEN, WHICH, counted
from swaymeter.reports.frames import Frames, Model, are_own, finite, in_order, partitions, records, without_unit
from swaymeter.reports.style import FEW_DOTS, MUTED, blank, dots, legend_above, link, mark

SCORES = (*(f"semantic_entropy_{when}" for when in WHEN), "coherent_persuasion")
CLASSES = {"low": ("<", "#2f7fb5"), "middle": ("o", "#8c7a00"), "high": (">", "#c4503c")}
"""The shape and hue of an instance in a class of semantic entropy with the context."""
_READ = (
    "Each marker is a question with a context: further right its sampled answers without (left) or with the context "
    "spread over more meanings, higher up the context moved them further."
)
Marked = Mapping[str, tuple[pd.DataFrame, str, str]]
"""What is told apart, by its name in the legend: the instances, the shape and the hue."""


def draw_marked(model: Model, frames: Frames) -> Drawing | None:
    every, counts = frames["marked_instances"], frames["most_edited_and_viewed"]
    found = finite(every, *SCORES)
    rows = found.rows.astype(dict.fromkeys(MARKS, bool))
    if not rows[list(MARKS)].any(axis=None):
        return None
    marked = {name.replace("_", " "): (rows[rows[name]], *style) for name, style in MARKS.items()}
    caption = f"{_READ} Marked are, {WHICH}. {counted(counts)} {_n(model, rows)}{found.note('instances')}"
    return _drawing(model, caption, every, counts.drop(columns=["model", "dtype"]), rows, marked)


def draw_classes(model: Model, frames: Frames) -> Drawing | None:
    every, classes = frames["classed_instances"], frames["entropy_classes"]
    found = finite(every, *SCORES)
    rows = found.rows
    if rows.empty:
        return None
    classed = {f"{name} entropy": (rows[rows["entropy_class"] == name], *style) for name, style in CLASSES.items()}
    between = " A grey dot lies between two classes." if len(rows) > len(_told_apart(classed)) else ""
    caption = (
        f"{_READ} Shape and hue are the class of semantic entropy with the context, {cut_in_words(classes)}."
        f"{between} The words of each class stand in a table. {_n(model, rows)}{found.note('instances')}"
    )
    shown = in_order(without_unit(classes), partition=["all", *partitions(rows)], entropy_class=CLASSES)
    shown.attrs["units"] = without_unit(classes).attrs["units"]
    return _drawing(model, caption, every, shown.drop(columns=["model", "dtype"], errors="ignore"), rows, classed)


def cut_in_words(classes: pd.DataFrame) -> str:
    """Where the classes begin and end, of one model: low to 1, middle from 1 to 5, high from 5 nats (why these)."""
    row = records(classes)[0]
    return (
        f"low to {row['low_up_to']:.4g}, middle from {row['middle_from']:.4g} to {row['middle_up_to']:.4g}, high from "
        f"{row['high_from']:.4g} nats ({row['cut']})"
    )


def _n(model: Model, rows: pd.DataFrame) -> str:
    return f"{model}; n = {len(rows)} instances of {rows['question_id'].nunique()} questions."


def _drawing(
    model: Model, caption: str, every: pd.DataFrame, shown: pd.DataFrame, rows: pd.DataFrame, marked: Marked
) -> Drawing:
    return Drawing(caption, every.drop(columns=["model", "dtype"]), shown, partial(_paint, rows, marked))


def instances_marked(axes: Axes, data: pd.DataFrame, entropy: str, marked: Marked) -> None:
    """Draws instances as dots, and those that are told apart in their shapes over them; both axes in nats.

    `data` and the frames of `marked` have the column `entropy`, coherent_persuasion and what `of_each` needs.
    """
    others = data[~data.index.isin(_told_apart(marked))]
    alpha = max(0.15, 0.6 * min(1.0, FEW_DOTS / max(len(others), 1)))
    if len(others):
        dots(axes, others[entropy], others["coherent_persuasion"], alpha=alpha, color=MUTED, markersize=2.4,
             markeredgewidth=0)  # fmt: skip
    for some, shape, hue in marked.values():
        dense = len(some) > FEW_DOTS
        axes.plot(
            some[entropy], some["coherent_persuasion"], shape, color=hue, alpha=0.35 if dense else 0.8,
            markersize=2.6 if dense else 4.6, markeredgewidth=0.3, rasterized=dense,
        )  # fmt: skip
    link(axes, data[entropy], data["coherent_persuasion"], of_each(data))


def _told_apart(marked: Marked) -> set[int]:
    return set().union(*(some.index for some, _, _ in marked.values()))


def _paint(rows: pd.DataFrame, marked: Marked) -> Canvas:
    canvas, (panels,) = blank(1, len(WHEN), 3.8, share_x=True, share_y=True)
    for axes, when in zip(panels, WHEN, strict=True):
        instances_marked(axes, rows, f"semantic_entropy_{when}", marked)
        axes.set_title(f"{when} the context")
        axes.set_xlabel(f"semantic entropy {when} the context (nats)")
    panels[0].set_ylabel("coherent persuasion (nats)")
    key = [mark(shape, name, hue) for name, (_, shape, hue) in marked.items()]
    others = [mark("o", "other instances")] if len(rows) > len(_told_apart(marked)) else []
    legend_above(canvas, [*others, *key])
    return canvas


MOST_EDITED = Figure(
    "persuasion-of-most-edited",
    "Are facts that are often edited, or often looked up, moved further by a context?",
    "Scatter plots of semantic entropy against coherent persuasion in nats, the most edited marked",
    ("marked_instances", "most_edited_and_viewed"),
    draw_marked,
    measures=("answers", "semantic_entropy", "coherent_persuasion"),
    expected=lambda frames: not are_own(frames.get("marked_instances", pd.DataFrame())),
    items=("marjanovic-fig-14",),
)
ENTROPY_CLASSES = Figure(
    "entropy-classes",
    "Are the questions whose answers stay spread with a context those that it moves most?",
    "Scatter plots of semantic entropy against coherent persuasion in nats by class of entropy",
    ("classed_instances", "entropy_classes"),
    draw_classes,
    measures=("answers", "semantic_entropy", "coherent_persuasion"),
    items=("marjanovic-fig-15",),
)
