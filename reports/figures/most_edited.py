"""Semantic entropy of persuaded and stubborn instances, the most edited and most viewed marked (as [M] Figs 4, 14)."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from reports.addresses import of_each
from reports.figures.figure import Drawing, Figure
from reports.frames import INTERVAL, Frames, Model, are_own, finite, records, where
from reports.style import FEW_DOTS, INK, MUTED, blank, dots, legend_above, link, mark

WHEN = ("without", "with")
SHOWN = ("persuaded", "stubborn")
MARKS = {"most_edited": ("P", "#8f55b8"), "most_viewed": ("*", "#e0761a")}
"""The shape and hue of a marked instance."""


def entropy_of_marked(axes: Axes, data: pd.DataFrame, means: pd.DataFrame) -> None:
    """Draws an instance a dot, its entropy in nats up, persuaded and stubborn side by side, the marked ones beside.

    `data` has outcome, entropy, most_edited, most_viewed and what `of_each` needs; `means` outcome, mean, low, high.
    """
    for at, outcome in enumerate(SHOWN):
        rows = data[data["outcome"] == outcome]
        beside = at + np.random.default_rng(0).uniform(-0.18, 0.18, len(rows)) - 0.1
        alpha = max(0.12, 0.6 * min(1.0, FEW_DOTS / max(len(rows), 1)))
        dots(axes, beside, rows["entropy"], alpha=alpha, color=MUTED, markersize=2.2, markeredgewidth=0)
        for place, (column, (shape, hue)) in enumerate(MARKS.items()):
            marked = rows[rows[column]]
            x = at + 0.17 + 0.12 * place + np.random.default_rng(place).uniform(-0.04, 0.04, len(marked))
            axes.plot(x, marked["entropy"], shape, color=hue, markersize=4.6, markeredgewidth=0.3, alpha=0.75)
            link(axes, x, marked["entropy"], of_each(marked))
        for row in records(where(means, outcome=outcome)):
            x_mean = at + 0.4
            axes.plot([x_mean, x_mean], [row["low"], row["high"]], color=INK, linewidth=2.2, solid_capstyle="butt")
            axes.plot([x_mean], [row["mean"]], "D", color=INK, markersize=4.6)
    counts = data["outcome"].value_counts()
    axes.set_xticks(range(len(SHOWN)), [f"{name}\nn = {counts.get(name, 0)}" for name in SHOWN])
    axes.set_xlim(-0.5, len(SHOWN) - 0.4)
    axes.grid(axis="x", visible=False)


def draw(model: Model, frames: Frames) -> Drawing | None:
    every, counts = frames["marked_instances"], frames["most_edited_and_viewed"]
    columns = [f"semantic_entropy_{when}" for when in WHEN]
    found = finite(every, *columns)
    rows = found.rows[found.rows["outcome"].isin(SHOWN)]
    rows = rows.astype(dict.fromkeys(MARKS, bool))
    if not rows[list(MARKS)].any(axis=None):
        return None
    of = {row["instances_of"]: row for row in records(counts)}
    sentences = " ".join(
        f"Of the {of[name]['instances']} {name} {of[name]['persuaded']} are persuaded and {of[name]['stubborn']} "
        f"stubborn; by the rule of the paper, ROUGE-L over 0.3, {of[name]['persuaded_as_published']} and "
        f"{of[name]['stubborn_as_published']}."
        for name in ("most edited", "most viewed")
        if name in of
    )
    caption = (
        "Each dot is a question with a context: higher up its sampled answers spread over more meanings. Beside the "
        "dots of an outcome the instances whose fact has the most edits (plus) and whose subject has the most page "
        "views (star): 100 of each, or a tenth of the instances where there are fewer than 1,000; an instance is "
        "a question with one context, so that a question may count twice; then the mean of "
        f"all of the outcome with its {INTERVAL}. {sentences} {model}; n = {len(rows)} persuaded or "
        f"stubborn of {len(every)} instances.{found.note('instances')}"
    )
    alt = (
        f"Strips of semantic entropy in nats without and with the context for {model}: {len(rows)} instances, "
        f"persuaded and stubborn apart. {sentences}"
    )
    numbers = every.drop(columns=["model", "dtype"])
    means = where(frames["entropy_by_outcome"], partition="all", condition="all")
    return Drawing(caption, alt, numbers, counts.drop(columns=["model", "dtype"]), partial(_paint, rows, means))


def _paint(rows: pd.DataFrame, means: pd.DataFrame) -> Canvas:
    canvas, (panels,) = blank(1, len(WHEN), 3.8, share_y=True)
    for axes, when in zip(panels, WHEN, strict=True):
        column = f"semantic_entropy_{when}"
        entropy_of_marked(axes, rows.rename(columns={column: "entropy"}), where(means, quantity=column))
        axes.set_title(f"{when} the context")
    panels[0].set_ylabel("semantic entropy (nats)")
    marked = [mark(shape, name.replace("_", " "), hue) for name, (shape, hue) in MARKS.items()]
    legend_above(canvas, [mark("o", "an instance"), *marked, mark("D", "mean and its interval", INK)])
    return canvas


FIGURE = Figure(
    "entropy-of-most-edited",
    "Are facts that are often edited, or often looked up, the ones on which the model gives in?",
    ("marked_instances", "most_edited_and_viewed", "entropy_by_outcome"),
    draw,
    measures=("answers", "semantic_entropy", "whose_answer"),
    expected=lambda frames: not are_own(frames.get("marked_instances", pd.DataFrame())),
    items=("marjanovic-fig-4", "marjanovic-fig-14"),
)
