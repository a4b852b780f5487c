"""How far contexts move the answers of each partition: coherent persuasion as violins and points (as [M] Figs 8-13)."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from reports.figures.figure import Drawing, Figure
from reports.frames import Frames, Model, conditions, finite, in_order, partitions, records, where, without_unit
from reports.style import CONDITION_NAMES, FEW_DOTS, INK, MUTED, PARTITION_HUES, blank, legend_above, mark

FEWEST = 5
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
    axes.set_xticks(range(len(names)), [f"{name}\nn = {counts.get(name, 0)}" for name in names])
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(axis="x", visible=False)


def draw(model: Model, frames: Frames) -> Drawing | None:
    instances = frames["instances"]
    means_of_partitions = finite(instances, "coherent_persuasion")
    rows = means_of_partitions.rows
    if rows.empty:
        return None
    caption = (
        "Each point is a question with a context, a violin their density, a diamond their mean with its 95% "
        f"bootstrap interval; higher up the context moved the sampled answers further. {model}; n = {len(rows)} "
        f"instances of {rows['question_id'].nunique()} questions, by partition under each "
        f"violin.{means_of_partitions.note('instances')}"
    )
    short = frames["instances_in_short"]
    means = in_order(without_unit(short), condition=conditions(short), partition=partitions(short))
    means = means.replace({"condition": dict(CONDITION_NAMES)})
    words = "; ".join(f"{row['condition']}, {row['partition']} {row['mean']:.2f}" for row in records(means))
    alt = f"Violin plots of coherent persuasion in nats by partition, a panel per context, for {model}. Means: {words}."
    return Drawing(caption, alt, instances[_POINTS], means, partial(_paint, rows, means))


def _paint(rows: pd.DataFrame, means: pd.DataFrame) -> Canvas:
    names, shown = partitions(rows), conditions(rows)
    data = rows.assign(partition=pd.Categorical(rows["partition"], categories=names, ordered=True))
    canvas, grid = blank(1, len(shown), 3.6, share_y=True)
    for axes, condition in zip(grid[0], shown, strict=True):
        words = CONDITION_NAMES.get(condition, condition)
        persuasion_of_partitions(axes, where(data, condition=condition), where(means, condition=words))
        axes.set_title(words)
    grid[0][0].set_ylim(bottom=min(0.0, float(rows["coherent_persuasion"].min())))  # last: it ends the autoscaling
    grid[0][0].set_ylabel("coherent persuasion (nats)")
    legend_above(canvas, [mark("o", "an instance"), mark("D", "mean and its interval")])
    return canvas


FIGURE = Figure(
    "coherent-persuasion",
    "Are facts that change, or are disputed, easier to move than static ones?",
    ("instances", "instances_in_short"),
    draw,
    measures=("answers", "coherent_persuasion"),
)
