"""How far contexts move the answers of each partition: coherent persuasion as violins and points (as [M] Figs 8-13)."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from reports.figures.figure import Drawing, Figure
from reports.frames import (
    Frames,
    Model,
    conditions,
    finite,
    grouping,
    in_order,
    partitions,
    records,
    where,
    without_unit,
)
from reports.style import CONDITION_NAMES, FEW_DOTS, INK, MUTED, PARTITION_HUES, blank, legend_above, mark, plain

FEWEST = 5
MOST_GROUPS = 12
"""How many groups of own questions have room side by side: those with the most instances."""
PANELS = 2
"""Panels of a row."""
_POINTS = ["partition", "relation", "question_id", "condition", "coherent_persuasion"]


def persuasion_of_partitions(axes: Axes, data: pd.DataFrame, means: pd.DataFrame) -> None:
    """Draws coherent persuasion in nats, a violin with its points per partition, a diamond and a bar for the mean.

    `data` has partition (an ordered category) and coherent_persuasion; `means` partition, mean, low, high; under five
    values there are points only.
    """
    names = list(data["partition"].cat.categories)
    result = {row["partition"]: row for row in records(means)}
    for at, name in enumerate(names):
        values = np.sort(data.loc[data["partition"] == name, "coherent_persuasion"].to_numpy(dtype=float))
        hue = PARTITION_HUES.get(str(name), MUTED)
        if len(values) >= FEWEST and values[0] < values[-1]:
            for body in axes.violinplot([values], [at], widths=0.8, showextrema=False)["bodies"]:  # type: ignore[attr-defined]
                body.set(facecolor=hue, edgecolor=hue, alpha=0.25)
        beside, dense = at + np.random.default_rng(0).uniform(-0.16, 0.16, len(values)), len(values) > FEW_DOTS
        axes.plot(beside, values, "o", color=hue, markersize=2.2, alpha=0.8, markeredgewidth=0, rasterized=dense)
        if row := result.get(name):
            across = at + 0.28
            axes.plot([across, across], [row["low"], row["high"]], color=hue, linewidth=2.4, solid_capstyle="butt")
            axes.plot([across], [row["mean"]], "D", color=hue, markersize=5.5, markeredgecolor=INK, markeredgewidth=0.8)
    counts = data["partition"].value_counts()
    labels = [f"{plain(name, 18)}\nn = {counts.get(name, 0)}" for name in names]
    axes.set_xticks(range(len(names)), labels, rotation=0 if len(names) <= 3 else 90)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(axis="x", visible=False)


def draw(model: Model, frames: Frames) -> Drawing | None:
    instances = frames["instances"]
    means_of_partitions = finite(instances, "coherent_persuasion")
    rows = means_of_partitions.rows
    if rows.empty:
        return None
    kind, groups = grouping(rows), rows["partition"].value_counts()
    few = f" Only the {MOST_GROUPS} largest of {len(groups)} {kind}s are drawn." if len(groups) > MOST_GROUPS else ""
    drawn = rows[rows["partition"].isin(groups.index[:MOST_GROUPS])]
    caption = (
        "Each point is a question with a context, a violin their density, a diamond their mean with its 95% "
        f"bootstrap interval; higher up the context moved the sampled answers further. {model}; n = {len(rows)} "
        f"instances of {rows['question_id'].nunique()} questions, by {kind} under each "
        f"violin.{few}{means_of_partitions.note('instances')}"
    )
    short = frames["instances_in_short"]
    means = in_order(without_unit(short), condition=conditions(short), partition=partitions(short))
    means = means.replace({"condition": dict(CONDITION_NAMES)})
    words = "; ".join(f"{row['condition']}, {row['partition']} {row['mean']:.2f}" for row in records(means))
    alt = f"Violin plots of coherent persuasion in nats by {kind}, a panel per context, for {model}. Means: {words}."
    return Drawing(caption, alt, instances[_POINTS], means, partial(_paint, drawn, means))


def _paint(rows: pd.DataFrame, means: pd.DataFrame) -> Canvas:
    names, shown = partitions(rows), conditions(rows)
    data = rows.assign(partition=pd.Categorical(rows["partition"], categories=names, ordered=True))
    across = min(PANELS, len(shown))
    down = -(-len(shown) // across)
    canvas, grid = blank(down, across, 3.6 * down, share_y=True)
    panels = [axes for line in grid for axes in line]
    for axes in panels[len(shown) :]:
        axes.remove()
    for axes, condition in zip(panels, shown, strict=False):
        words = CONDITION_NAMES.get(condition, condition)
        persuasion_of_partitions(axes, where(data, condition=condition), where(means, condition=words))
        axes.set_title(words)
    grid[0][0].set_ylim(bottom=min(0.0, float(rows["coherent_persuasion"].min())))  # last: it ends the autoscaling
    for line in grid:
        line[0].set_ylabel("coherent persuasion (nats)")
    legend_above(canvas, [mark("o", "an instance"), mark("D", "mean and its interval")])
    return canvas


FIGURE = Figure(
    "coherent-persuasion",
    "Are the answers to some kinds of questions easier to move than to others?",
    ("instances", "instances_in_short"),
    draw,
    measures=("answers", "coherent_persuasion"),
)
