"""Semantic entropy of all, persuaded and stubborn instances, the most edited and viewed marked (as [M] Fig 4)."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.reports.estimates import interval_over
from swaymeter.reports.figures.distributions import values_of_partitions
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.frames import Frames, Model, are_own, finite, records, where
from swaymeter.reports.style import blank, legend_above, mark

WHEN = ("without", "with")
SHOWN = ("all", "persuaded", "stubborn")
MARKS = {"most_edited": ("P", "#8f55b8"), "most_viewed": ("*", "#e0761a")}
"""The shape and hue of a marked instance."""
WHICH = (
    "of the temporal instances, those whose fact has the most edits (plus) and whose subject has the most page views "
    "(star): 100 of each, or a tenth where there are fewer than 1,000; an instance is a question with one context, so "
    "that a question may count twice"
)


def entropy_of_marked(axes: Axes, data: pd.DataFrame, means: pd.DataFrame) -> None:
    """Draws the entropy in nats of all instances, the persuaded and the stubborn, the marked ones left of each.

    `data` has outcome, value, most_edited, most_viewed and what `of_each` needs; `means` outcome, mean, low, high.
    """
    every = pd.concat([data.assign(outcome="all"), data[data["outcome"].isin(SHOWN)]])
    every = every.assign(partition=pd.Categorical(every["outcome"], categories=SHOWN, ordered=True))
    values_of_partitions(axes, every, means.assign(partition=means["outcome"]))
    for at, outcome in enumerate(SHOWN):
        for number, (column, (shape, hue)) in enumerate(MARKS.items()):
            marked = every[(every["outcome"] == outcome) & every[column]]
            x = at - 0.34 + np.random.default_rng(number).uniform(-0.08, 0.08, len(marked))
            axes.plot(x, marked["value"], shape, color=hue, markersize=4.6, markeredgewidth=0.3, alpha=0.75)


def draw(model: Model, frames: Frames) -> Drawing | None:
    every, counts = frames["marked_instances"], frames["most_edited_and_viewed"]
    found = finite(every, *(f"semantic_entropy_{when}" for when in WHEN))
    rows = found.rows.astype(dict.fromkeys(MARKS, bool))
    if not rows[list(MARKS)].any(axis=None):
        return None
    sentences = counted(counts)
    caption = (
        "Each dot is a question with a context: higher up its sampled answers spread over more meanings; beside all "
        "instances the persuaded and the stubborn; a violin is the density of 30 or more, a diamond the mean with its "
        f"{interval_over('subjects')}. At the left, {WHICH}. {sentences} {model}; n = {len(rows)} "
        f"instances.{found.note('instances')}"
    )
    numbers = every.drop(columns=["model", "dtype"])
    means = where(frames["entropy_by_outcome"], partition="all", condition="all")
    return Drawing(caption, numbers, counts.drop(columns=["model", "dtype"]), partial(_paint, rows, means))


def counted(counts: pd.DataFrame) -> str:
    """Sentences: how many of the marked instances are persuaded and stubborn, by both rules."""
    return " ".join(
        f"Of the {row['instances']} {row['instances_of']} {row['persuaded']} are persuaded and {row['stubborn']} "
        f"stubborn; by the rule of the paper, ROUGE-L over 0.3, {row['persuaded_as_published']} and "
        f"{row['stubborn_as_published']}."
        for row in records(counts)
        if row["instances_of"] != "all"
    )


def _paint(rows: pd.DataFrame, means: pd.DataFrame) -> Canvas:
    canvas, (panels,) = blank(1, len(WHEN), 3.8, share_y=True)
    for axes, when in zip(panels, WHEN, strict=True):
        column = f"semantic_entropy_{when}"
        entropy_of_marked(axes, rows.rename(columns={column: "value"}), where(means, quantity=column))
        axes.set_title(f"{when} the context")
    panels[0].set_ylabel("semantic entropy (nats)")
    marked = [mark(shape, name.replace("_", " "), hue) for name, (shape, hue) in MARKS.items()]
    legend_above(canvas, [mark("o", "an instance"), *marked, mark("D", "mean and its interval")])
    return canvas


FIGURE = Figure(
    "entropy-of-most-edited",
    "Are facts that are often edited, or often looked up, the ones on which the model gives in?",
    "Violin plots of semantic entropy in nats without and with the context by outcome",
    ("marked_instances", "most_edited_and_viewed", "entropy_by_outcome"),
    draw,
    measures=("answers", "semantic_entropy", "whose_answer"),
    expected=lambda frames: not are_own(frames.get("marked_instances", pd.DataFrame())),
    items=("marjanovic-fig-4",),
)
