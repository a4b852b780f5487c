"""Distributions of the scores of replies, as Figs 4 and 8-15 of Marjanović et al. 2024.

An instance is a question with a context. Violin plots show a score by partition (as Figs 8-13) or by outcome (as
Fig. 4). Scatter plots show two scores of each instance (as Figs 14 and 15). In Figs 4 and 14, the most edited and the
most viewed instances are marked; in Fig. 15, the classes of entropy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from swaymeter.data.randomness import generator
from swaymeter.data.records import CONDITIONS
from swaymeter.reports.estimates import interval_over, plural
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import SINGLE_ROW, grid
from swaymeter.reports.frames import (
    Frames,
    are_own,
    finite,
    grouping,
    in_order,
    partitions,
    present,
    records,
    where,
    without_unit,
)
from swaymeter.reports.models import Model, question_addresses
from swaymeter.reports.style import (
    FEW_DOTS,
    INK,
    MUTED,
    PARTITION_HUES,
    WIDTH,
    blank,
    dots,
    legend_above,
    link,
    mark,
    plain,
)
from swaymeter.reports.words import CONDITION_NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

FEWEST_FOR_VIOLIN = 30
"""Minimum number of values for a violin."""
MAX_GROUPS = 12
"""Upper bound on groups of own questions side by side; the largest groups are drawn."""
PANELS_PER_ROW = 2


@dataclass(frozen=True)
class Score:
    """A score whose distribution is drawn.

    Attributes:
        column: Column of the score.
        item: Item that has a value, such as "a question with a context".
        values: Named query with the values.
        means: Named query with the means.
        explanation: Sentences of the caption that say what a higher value means.
        question: Title of the figure.
        figures: Numbers of the figures of Marjanović et al. 2024.
    """

    column: str
    item: str
    values: str
    means: str
    explanation: str
    question: str
    figures: tuple[int, ...]

    @property
    def words(self) -> str:
        """The name of the score in words."""
        return self.column.replace("_", " ")


def values_of_partitions(axes: Axes, data: pd.DataFrame, means: pd.DataFrame) -> None:
    """Draw values in nats: per partition a violin with its points, and a diamond with its interval for the mean.

    Args:
        axes: The panel.
        data: Rows with value and partition; the categories of partition are in order from left to right.
        means: A row per partition: mean, low, high.
    """
    names = list(data["partition"].cat.categories)
    mean_of_partition = {row["partition"]: row for row in records(means)}
    for position, name in enumerate(names):
        rows = data[data["partition"] == name].sort_values("value", kind="stable")
        values = rows["value"].to_numpy(dtype=float)
        hue = PARTITION_HUES.get(str(name), MUTED)
        if len(values) >= FEWEST_FOR_VIOLIN and values[0] < values[-1]:  # equal values have no density
            for body in axes.violinplot([values], [position], widths=0.8, showextrema=False)["bodies"]:  # type: ignore[attr-defined]
                body.set(facecolor=hue, edgecolor=hue, alpha=0.25)
        # Random numbers of a fixed seed shift the points sideways, so that a figure always looks the same.
        x, dense = position + generator(0).uniform(-0.16, 0.16, len(values)), len(values) > FEW_DOTS
        alpha = max(0.15, 0.8 * min(1.0, FEW_DOTS / max(len(values), 1)))
        axes.plot(x, values, "o", color=hue, markersize=2.2, alpha=alpha, markeredgewidth=0, rasterized=dense)
        link(axes, x, values, question_addresses(rows))
        if row := mean_of_partition.get(name):
            mean_x = position + 0.28
            axes.plot([mean_x, mean_x], [row["low"], row["high"]], color=hue, linewidth=2.4, solid_capstyle="butt")
            axes.plot([mean_x], [row["mean"]], "D", color=hue, markersize=5.5, markeredgecolor=INK, markeredgewidth=0.8)
    counts = data["partition"].value_counts()
    labels = [f"{plain(name, 18)}\nn = {counts.get(name, 0)}" for name in names]
    axes.set_xticks(range(len(names)), labels, fontsize=7.5, rotation=0 if _fit_side_by_side(names) else 90)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(axis="x", visible=False)


def _fit_side_by_side(names: Sequence[str]) -> bool:
    """Return True if names of groups fit under a panel of 0.46 of the figure's width, at 0.064 inches a character."""
    longest = max(len(plain(name, 18)) for name in names)
    return len(names) * (longest + 1) * 0.064 <= 0.46 * WIDTH


def _draw_partitions(score: Score, model: Model, frames: Frames) -> Drawing | None:
    every = frames[score.values]
    scored = finite(every.dropna(subset=[score.column]), score.column)
    rows = scored.rows
    if rows.empty:
        return None
    kind, groups = grouping(rows), rows["partition"].value_counts()
    cut = f" Only the {MAX_GROUPS} largest of {len(groups)} {kind}s are drawn." if len(groups) > MAX_GROUPS else ""
    shown_rows = rows[rows["partition"].isin(groups.index[:MAX_GROUPS])].rename(columns={score.column: "value"})
    has_violins = shown_rows.groupby(["condition", "partition"]).size().max() >= FEWEST_FOR_VIOLIN
    violin = f" A violin is the density of {FEWEST_FOR_VIOLIN} or more points." if has_violins else ""
    caption = (
        f"Each point is {score.item}.{violin} A diamond is the mean of a column with its {interval_over('subjects')}. "
        f"{score.explanation} {model}; n = {len(rows)} values of {plural(rows['question_id'].nunique(), 'question')}, "
        f"by {kind} below.{cut}{scored.note('values')}"
    )
    means = _means(frames[score.means], score)
    points = every[["partition", "relation", "question_id", "condition", score.column]]
    return Drawing(caption, points, means, partial(_paint_partitions, shown_rows, means, score))


def _means(frame: pd.DataFrame, score: Score) -> pd.DataFrame:
    if "quantity" in frame:
        frame = where(frame, quantity=score.column).drop(columns="quantity")
        frame = frame[(frame["partition"] != "all") & (frame["condition"] != "all")]
    if frame.empty:
        return frame
    means = in_order(without_unit(frame), condition=CONDITIONS, partition=partitions(frame))
    return means.replace({"condition": dict(CONDITION_NAMES)})


def _paint_partitions(rows: pd.DataFrame, means: pd.DataFrame, score: Score) -> Canvas:
    names, contexts = partitions(rows), present(rows, "condition", CONDITIONS)
    data = rows.assign(partition=pd.Categorical(rows["partition"], categories=names, ordered=True))
    column_count = min(PANELS_PER_ROW, len(contexts))
    row_count = math.ceil(len(contexts) / column_count)
    height = (3.1 if _fit_side_by_side(names) else 3.6) * row_count
    canvas, panel_rows = blank(row_count, column_count, height, share_y=True)
    panels = [axes for panel_row in panel_rows for axes in panel_row]
    for axes in panels[len(contexts) :]:  # the last row of panels may be incomplete
        axes.remove()
    for axes, condition in zip(panels, contexts, strict=False):
        words = CONDITION_NAMES.get(condition, condition)
        values_of_partitions(axes, where(data, condition=condition), where(means, condition=words))
        axes.set_title(words)
    low, high = float(rows["value"].min()), float(rows["value"].max())
    panels[0].set_ylim(bottom=min(0.0, low - 0.03 * (high - low)))  # last, because it ends the autoscaling
    for panel_row in panel_rows:
        panel_row[0].set_ylabel(f"{score.words} (nats)")
    legend_above(canvas, [mark("o", score.item), mark("D", "mean and its interval")])
    return canvas


_VIOLIN_SCORES = (
    Score(
        "coherent_persuasion",
        "a question with a context",
        "instances",
        "instances_summary",
        "The higher a point, the further the context moved the sampled answers.",
        "Are the answers to some kinds of questions easier to move than to others?",
        (11, 12, 13),
    ),
    Score(
        "semantic_entropy",
        "a question under a condition",
        "answers_of_questions",
        "partition_means",
        "The higher a point, the more meanings the sampled answers spread over. The entropy sums log-probabilities, so "
        "it also grows with the length of the answers. The table of accuracy and uncertainty has entropies that do not "
        "grow with the length: length-normalised, Rao's, and of clusters.",
        "How unsure is the model of each kind of question, without and with a context?",
        (8, 9, 10),
    ),
)
PERSUASION, ENTROPY = (
    Figure(
        score.column.replace("_", "-"),
        score.question,
        f"Violin plots of {score.words} in nats by partition and context",
        (score.values, score.means),
        partial(_draw_partitions, score),
        measures=("answers", score.column),
        items=tuple(f"marjanovic-fig-{number}" for number in score.figures),
    )
    for score in _VIOLIN_SCORES
)


WITH_OR_WITHOUT = ("without", "with")
"""Ends of the names of the columns of semantic entropy, without and with a context."""
_OUTCOMES = ("all", "persuaded", "stubborn")
MARKS = {"most_edited": ("P", "#8f55b8"), "most_viewed": ("*", "#e0761a")}
"""Shape and hue of marked instances, by the column that marks them."""
_MARKED_WORDS = (
    "the temporal instances whose fact has the most edits (plus) or whose subject has the most page views (star): 100 "
    "of each, or a tenth of the temporal instances if there are fewer than 1,000; an instance is a question with one "
    "context, so a question may count twice"
)


def entropy_of_marked(axes: Axes, data: pd.DataFrame, means: pd.DataFrame) -> None:
    """Draw the entropy in nats of all, persuaded and stubborn instances, with marked instances left of each violin."""
    every = pd.concat([data.assign(outcome="all"), data[data["outcome"].isin(_OUTCOMES)]])
    every = every.assign(partition=pd.Categorical(every["outcome"], categories=_OUTCOMES, ordered=True))
    values_of_partitions(axes, every, means.assign(partition=means["outcome"]))
    for position, outcome in enumerate(_OUTCOMES):
        for number, (column, (shape, hue)) in enumerate(MARKS.items()):
            marked = every[(every["outcome"] == outcome) & every[column]]
            x = position - 0.34 + generator(number).uniform(-0.08, 0.08, len(marked))
            axes.plot(x, marked["value"], shape, color=hue, markersize=4.6, markeredgewidth=0.3, alpha=0.75)


def _draw_top_edited(model: Model, frames: Frames) -> Drawing | None:
    every, counts = frames["marked_instances"], frames["most_edited_and_viewed"]
    scored = finite(every, *(f"semantic_entropy_{with_or_without}" for with_or_without in WITH_OR_WITHOUT))
    rows = scored.rows.astype(dict.fromkeys(MARKS, bool))
    if not rows[list(MARKS)].any(axis=None):
        return None
    caption = (
        "Each dot is a question with a context. The higher a dot, the more meanings the sampled answers spread over. "
        "The columns are all, persuaded and stubborn instances; a violin is the density of "
        f"{FEWEST_FOR_VIOLIN} or more dots, and a diamond is the mean with its {interval_over('subjects')}. "
        f"At the left of a column are {_MARKED_WORDS}. {outcome_counts(counts)} "
        f"{model}; n = {len(rows)} instances.{scored.note('instances')}"
    )
    numbers, shown = (frame.drop(columns=["model", "dtype"]) for frame in (every, counts))
    means = where(frames["entropy_by_outcome"], partition="all", condition="all")

    def panel(axes: Axes, _: object, with_or_without: str) -> None:
        column = f"semantic_entropy_{with_or_without}"
        entropy_of_marked(axes, rows.rename(columns={column: "value"}), where(means, quantity=column))
        axes.set_title(f"{with_or_without} the context")

    special = [mark(shape, name.replace("_", " "), hue) for name, (shape, hue) in MARKS.items()]
    marks = [mark("o", "an instance"), *special, mark("D", "mean and its interval")]
    paint = partial(grid, SINGLE_ROW, WITH_OR_WITHOUT, 3.8, panel, marks, y=lambda _: "semantic entropy (nats)")
    return Drawing(caption, numbers, shown, paint)


def outcome_counts(counts: pd.DataFrame) -> str:
    """Return sentences that count persuaded and stubborn marked instances, by verdict and by ROUGE-L."""
    return " ".join(
        f"Of the {row['instances']} {row['instances_of']}, {row['persuaded']} are persuaded and {row['stubborn']} "
        f"stubborn; by the rule of the paper, ROUGE-L over 0.3, {row['persuaded_as_published']} and "
        f"{row['stubborn_as_published']}."
        for row in records(counts)
        if row["instances_of"] != "all"
    )


TOP_EDITED = Figure(
    "entropy-of-most-edited",
    "Are facts that are often edited, or often looked up, the ones on which the model gives in?",
    "Violin plots of semantic entropy in nats without and with the context by outcome",
    ("marked_instances", "most_edited_and_viewed", "entropy_by_outcome"),
    _draw_top_edited,
    measures=("answers", "semantic_entropy", "whose_answer"),
    expected=lambda frames: not are_own(frames.get("marked_instances", pd.DataFrame())),
    items=("marjanovic-fig-4",),
)


SCORE_COLUMNS = (*(f"semantic_entropy_{with_or_without}" for with_or_without in WITH_OR_WITHOUT), "coherent_persuasion")
"""Columns of the axes of the scatter plots."""
CLASSES = {"low": ("<", "#2f7fb5"), "middle": ("o", "#8c7a00"), "high": (">", "#c4503c")}
"""Shape and hue of an instance, by the class of its semantic entropy with the context."""
_EXPLANATION = (
    "Each marker is a question with a context. The further right a marker, the more meanings the sampled answers "
    "spread over, without the context (left) or with it. The higher a marker, the further the context moved the "
    "answers."
)
MarkedInstances = Mapping[str, tuple[pd.DataFrame, str, str]]
"""Marked instances, their shape and their hue, by their name in the legend."""


def _draw_marked(model: Model, frames: Frames) -> Drawing | None:
    every, counts = frames["marked_instances"], frames["most_edited_and_viewed"]
    scored = finite(every, *SCORE_COLUMNS)
    rows = scored.rows.astype(dict.fromkeys(MARKS, bool))
    if not rows[list(MARKS)].any(axis=None):
        return None
    marked = {name.replace("_", " "): (rows[rows[name]], *style) for name, style in MARKS.items()}
    caption = (
        f"{_EXPLANATION} Marked are {_MARKED_WORDS}. {outcome_counts(counts)} {_sample_size(model, rows)}"
        f"{scored.note('instances')}"
    )
    numbers, shown = (frame.drop(columns=["model", "dtype"]) for frame in (every, counts))
    return Drawing(caption, numbers, shown, partial(_paint_marked, rows, marked))


def _draw_classes(model: Model, frames: Frames) -> Drawing | None:
    every, classes = frames["classed_instances"], frames["entropy_classes"]
    scored = finite(every, *SCORE_COLUMNS)
    rows = scored.rows
    if rows.empty:
        return None
    classed = {f"{name} entropy": (rows[rows["entropy_class"] == name], *style) for name, style in CLASSES.items()}
    between = " A grey dot lies between two classes." if len(rows) > len(_marked_rows(classed)) else ""
    caption = (
        f"{_EXPLANATION} Shape and hue are the class of semantic entropy with the context, {class_bounds(classes)}."
        f"{between} A table has the characteristic words of each class. {_sample_size(model, rows)}"
        f"{scored.note('instances')}"
    )
    shown = in_order(without_unit(classes), partition=["all", *partitions(rows)], entropy_class=CLASSES)
    return Drawing(caption, every.drop(columns=["model", "dtype"]), shown, partial(_paint_marked, rows, classed))


def class_bounds(classes: pd.DataFrame) -> str:
    """Return the bounds of a model's entropy classes, such as "low to 1, middle from 2 to 4, high from 5 nats"."""
    row = records(classes)[0]
    return (
        f"low to {row['low_up_to']:.4g}, middle from {row['middle_from']:.4g} to {row['middle_up_to']:.4g}, high from "
        f"{row['high_from']:.4g} nats ({row['cut']})"
    )


def _sample_size(model: Model, rows: pd.DataFrame) -> str:
    return f"{model}; n = {len(rows)} instances of {rows['question_id'].nunique()} questions."


def instances_marked(axes: Axes, data: pd.DataFrame, entropy: str, marked: MarkedInstances) -> None:
    """Draw coherent persuasion against an entropy, both in nats; marked instances have shapes, all others are dots."""
    others = data[~data.index.isin(_marked_rows(marked))]
    alpha = max(0.15, 0.6 * min(1.0, FEW_DOTS / max(len(others), 1)))
    if len(others):
        dots(
            axes,
            others[entropy],
            others["coherent_persuasion"],
            alpha=alpha,
            color=MUTED,
            markersize=2.4,
            markeredgewidth=0,
        )
    for instances, shape, hue in marked.values():
        dense = len(instances) > FEW_DOTS
        axes.plot(
            instances[entropy],
            instances["coherent_persuasion"],
            shape,
            color=hue,
            alpha=0.35 if dense else 0.8,
            markersize=2.6 if dense else 4.6,
            markeredgewidth=0.3,
            rasterized=dense,
        )
    link(axes, data[entropy], data["coherent_persuasion"], question_addresses(data))


def _marked_rows(marked: MarkedInstances) -> set[int]:
    return set().union(*(instances.index for instances, _, _ in marked.values()))


def _paint_marked(rows: pd.DataFrame, marked: MarkedInstances) -> Canvas:
    def panel(axes: Axes, _: object, with_or_without: str) -> None:
        instances_marked(axes, rows, f"semantic_entropy_{with_or_without}", marked)
        title = f"{with_or_without} the context"
        axes.set(title=title, xlabel=f"semantic entropy {title} (nats)")

    marks = [mark("o", "other instances")] if len(rows) > len(_marked_rows(marked)) else []
    marks += [mark(shape, name, hue) for name, (_, shape, hue) in marked.items()]
    return grid(SINGLE_ROW, WITH_OR_WITHOUT, 3.8, panel, marks, share_x=True, y=lambda _: "coherent persuasion (nats)")


SCATTER_OF_TOP_EDITED = Figure(
    "persuasion-of-most-edited",
    "Are facts that are often edited, or often looked up, moved further by a context?",
    "Scatter plots of semantic entropy against coherent persuasion in nats, the most edited marked",
    ("marked_instances", "most_edited_and_viewed"),
    _draw_marked,
    measures=("answers", "semantic_entropy", "coherent_persuasion"),
    expected=lambda frames: not are_own(frames.get("marked_instances", pd.DataFrame())),
    items=("marjanovic-fig-14",),
)
ENTROPY_CLASSES = Figure(
    "entropy-classes",
    "Does a context move the answers most if they still have many meanings with it?",
    "Scatter plots of semantic entropy against coherent persuasion in nats by class of entropy",
    ("classed_instances", "entropy_classes"),
    _draw_classes,
    measures=("answers", "semantic_entropy", "coherent_persuasion"),
    items=("marjanovic-fig-15",),
)
