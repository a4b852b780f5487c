"""How a score of answers is spread in each partition: violins, points and means (as [M] Figs 8-13)."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.data.records import CONDITIONS
from swaymeter.reports.addresses import of_each
from swaymeter.reports.estimates import interval_over, plural
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.frames import (
    Frames,
    Model,
    finite,
    grouping,
    in_order,
    partitions,
    present,
    records,
    where,
    without_unit,
)
from swaymeter.reports.style import (
    CONDITION_NAMES,
    FEW_DOTS,
    INK,
    MUTED,
    PARTITION_HUES,
    blank,
    legend_above,
    link,
    mark,
    plain,
)

FEWEST = 30
MOST_GROUPS = 12
"""How many groups of own questions have room side by side: those with the most values."""
PANELS = 2
"""Panels of a row."""


@dataclass(frozen=True)
class Score:
    """A score whose spread is drawn: its column, what one value is of, where the values and the means come from."""

    column: str
    thing: str
    values: str
    means: str
    reading: str

    @property
    def words(self) -> str:
        return self.column.replace("_", " ")


def values_of_partitions(axes: Axes, data: pd.DataFrame, means: pd.DataFrame) -> None:
    """Draws values in nats, a violin with its points per partition, a diamond and a bar for the mean.

    `data` has partition (an ordered category), value and what `of_each` needs; `means` partition, mean, low, high;
    under thirty values there are points only.
    """
    names = list(data["partition"].cat.categories)
    result = {row["partition"]: row for row in records(means)}
    for at, name in enumerate(names):
        rows = data[data["partition"] == name].sort_values("value", kind="stable")
        values = rows["value"].to_numpy(dtype=float)
        hue = PARTITION_HUES.get(str(name), MUTED)
        if len(values) >= FEWEST and values[0] < values[-1]:
            for body in axes.violinplot([values], [at], widths=0.8, showextrema=False)["bodies"]:  # type: ignore[attr-defined]
                body.set(facecolor=hue, edgecolor=hue, alpha=0.25)
        beside, dense = at + np.random.default_rng(0).uniform(-0.16, 0.16, len(values)), len(values) > FEW_DOTS
        alpha = max(0.15, 0.8 * min(1.0, FEW_DOTS / max(len(values), 1)))
        axes.plot(beside, values, "o", color=hue, markersize=2.2, alpha=alpha, markeredgewidth=0, rasterized=dense)
        link(axes, beside, values, of_each(rows))
        if row := result.get(name):
            across = at + 0.28
            axes.plot([across, across], [row["low"], row["high"]], color=hue, linewidth=2.4, solid_capstyle="butt")
            axes.plot([across], [row["mean"]], "D", color=hue, markersize=5.5, markeredgecolor=INK, markeredgewidth=0.8)
    counts = data["partition"].value_counts()
    labels = [f"{plain(name, 18)}\nn = {counts.get(name, 0)}" for name in names]
    axes.set_xticks(range(len(names)), labels, rotation=0 if len(names) <= 3 else 90)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(axis="x", visible=False)


def draw(score: Score, model: Model, frames: Frames) -> Drawing | None:
    every = frames[score.values]
    found = finite(every.dropna(subset=[score.column]), score.column)
    rows = found.rows
    if rows.empty:
        return None
    kind, groups = grouping(rows), rows["partition"].value_counts()
    few = f" Only the {MOST_GROUPS} largest of {len(groups)} {kind}s are drawn." if len(groups) > MOST_GROUPS else ""
    drawn = rows[rows["partition"].isin(groups.index[:MOST_GROUPS])].rename(columns={score.column: "value"})
    has_violins = drawn.groupby(["condition", "partition"]).size().max() >= FEWEST
    violin = f"a violin the density of {FEWEST} or more, " if has_violins else ""
    caption = (
        f"Each point is {score.thing}, {violin}a diamond their mean with its "
        f"{interval_over('subjects')}; {score.reading}. "
        f"{model}; n = {len(rows)} values of "
        f"{plural(rows['question_id'].nunique(), 'question')}, by {kind} below.{few}{found.note('values')}"
    )
    means = _means(frames[score.means], score)
    points = every[["partition", "relation", "question_id", "condition", score.column]]
    return Drawing(caption, points, means, partial(_paint, drawn, means, score))


def _means(frame: pd.DataFrame, score: Score) -> pd.DataFrame:
    """The means of single partitions and contexts, in their fixed orders, contexts in words."""
    if "quantity" in frame:
        frame = where(frame, quantity=score.column).drop(columns="quantity")
        frame = frame[(frame["partition"] != "all") & (frame["condition"] != "all")]
    means = in_order(without_unit(frame), condition=CONDITIONS, partition=partitions(frame)) if len(frame) else frame
    named = means.replace({"condition": dict(CONDITION_NAMES)})
    named.attrs.update(means.attrs)
    return named


def _paint(rows: pd.DataFrame, means: pd.DataFrame, score: Score) -> Canvas:
    names, shown = partitions(rows), present(rows, "condition", CONDITIONS)
    data = rows.assign(partition=pd.Categorical(rows["partition"], categories=names, ordered=True))
    across = min(PANELS, len(shown))
    down = -(-len(shown) // across)
    canvas, grid = blank(down, across, 3.6 * down, share_y=True)
    panels = [axes for line in grid for axes in line]
    for axes in panels[len(shown) :]:
        axes.remove()
    for axes, condition in zip(panels, shown, strict=False):
        words = CONDITION_NAMES.get(condition, condition)
        values_of_partitions(axes, where(data, condition=condition), where(means, condition=words))
        axes.set_title(words)
    low, high = float(rows["value"].min()), float(rows["value"].max())
    grid[0][0].set_ylim(bottom=min(0.0, low - 0.03 * (high - low)))  # last: it ends the autoscaling
    for line in grid:
        line[0].set_ylabel(f"{score.words} (nats)")
    legend_above(canvas, [mark("o", score.thing), mark("D", "mean and its interval")])
    return canvas


_PERSUASION = Score(
    "coherent_persuasion", "a question with a context", "instances", "instances_in_short",
    "higher up the context moved the sampled answers further",
)  # fmt: skip
_ENTROPY = Score(
    "semantic_entropy", "a question under a condition", "answers_of_questions", "partition_means",
    "higher up the sampled answers spread over more meanings. The entropy sums log-probabilities, so it also grows "
    "with the length of the answers; the table of accuracy and uncertainty has forms that do not: "
    "length-normalised, Rao's, and of clusters",
)  # fmt: skip
PERSUASION = Figure(
    "coherent-persuasion",
    "Are the answers to some kinds of questions easier to move than to others?",
    "Violin plots of coherent persuasion in nats by partition and context",
    ("instances", "instances_in_short"),
    partial(draw, _PERSUASION),
    measures=("answers", "coherent_persuasion"),
    items=("marjanovic-fig-11", "marjanovic-fig-12", "marjanovic-fig-13"),
)
ENTROPY = Figure(
    "semantic-entropy",
    "How unsure is the model of each kind of question, without and with a context?",
    "Violin plots of semantic entropy in nats by partition and context",
    ("answers_of_questions", "partition_means"),
    partial(draw, _ENTROPY),
    measures=("answers", "semantic_entropy"),
    items=("marjanovic-fig-8", "marjanovic-fig-9", "marjanovic-fig-10"),
)
