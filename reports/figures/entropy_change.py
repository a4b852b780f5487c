"""How a context changes semantic entropy, of all instances, the persuaded and the stubborn (as [M] Fig 2)."""

from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.data.records import CONDITIONS
from swaymeter.reports.estimates import interval_over
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.frames import (
    Frames,
    Model,
    grouping,
    in_order,
    partitions,
    present,
    records,
    where,
    without_unit,
)
from swaymeter.reports.style import (
    ANSWER_MARKERS,
    EVERY_CONTEXT,
    INK,
    MUTED,
    PARTITION_HUES,
    blank,
    legend_above,
    mark,
    plain,
)

CHANGE = "semantic_entropy_change"
OUTCOMES = ("all", "persuaded", "persuaded as published", "stubborn", "stubborn as published")
MOST_GROUPS = 3
"""How many groups of own questions have rows of their own; more are drawn together."""


def change_by_outcome(axes: Axes, data: pd.DataFrame, groups: list[str]) -> None:
    """Draws the mean change in nats with its interval, an outcome a row under each partition, n at the right.

    `data` has partition, outcome, n, mean, low, high; a mean as published is hollow.
    """
    known = {(row["partition"], row["outcome"]): row for row in records(data)}
    for at, partition in enumerate(groups):
        hue = PARTITION_HUES.get(partition, MUTED)
        for line, outcome in enumerate(OUTCOMES):
            y = at * (len(OUTCOMES) + 1) + line
            row = known.get((partition, outcome))
            axes.annotate(
                f"{row['n'] if row else 0}", (1, y), (2, 0), xycoords=axes.get_yaxis_transform(), ha="left",
                va="center", textcoords="offset points", fontsize=7, color=MUTED,
            )  # fmt: skip
            if row:
                axes.plot([row["low"], row["high"]], [y, y], color=hue, linewidth=1.8, solid_capstyle="butt")
                marker = ANSWER_MARKERS.get(outcome.split()[0], "o")
                face = "none" if "published" in outcome else hue
                axes.plot([row["mean"]], [y], marker, color=hue, markersize=5, markerfacecolor=face)
    axes.axvline(0, color=INK, linewidth=0.9)
    axes.locator_params(axis="x", nbins=4)
    axes.grid(axis="y", visible=False)


def draw(model: Model, frames: Frames) -> Drawing | None:
    every = frames["entropy_by_outcome"]
    rows = where(every, quantity=CHANGE)
    if rows.empty:
        return None
    names = [name for name in partitions(rows) if name != "all"]
    groups = ["all"] if len(names) > MOST_GROUPS else names if len(names) == 1 else ["all", *names]
    contexts = present(rows, "condition", ("all", *CONDITIONS))
    contexts = contexts if len(contexts) != 2 else contexts[1:]
    row = next(iter(records(where(rows, partition=groups[0], condition=contexts[0], outcome="all"))))
    caption = (
        "Each mark is the mean of semantic entropy with the context minus that without it, with its "
        f"{interval_over('subjects')}; left of zero the context made "
        "the answers agree more. Circle: all instances; "
        "triangle: those whose greedy answer newly states the context's (persuaded); square: those whose answer stays, "
        "and is not the context's (stubborn). Filled: by whose answer is stated; hollow: by the paper's rule, ROUGE-L. "
        f"The numbers at the right count instances. {model}; n = {row['n']} instances of {row['subjects']} subjects, "
        f"mean change {row['mean']:.2f} nats."
    )
    shown = in_order(
        without_unit(rows).drop(columns="quantity"), partition=groups, condition=("all", *CONDITIONS), outcome=OUTCOMES
    )
    units = without_unit(rows).attrs
    shown = shown.replace({"condition": dict(EVERY_CONTEXT)})
    shown.attrs.update(units)
    return Drawing(caption, every.drop(columns=["model", "dtype"]), shown, partial(_paint, rows, groups, contexts))


def _paint(rows: pd.DataFrame, groups: list[str], contexts: list[str]) -> Canvas:
    lines = len(groups) * (len(OUTCOMES) + 1) - 1
    canvas, (panels,) = blank(1, len(contexts), 1.4 + 0.19 * lines, share_x=True, share_y=True)
    for axes, condition in zip(panels, contexts, strict=True):
        change_by_outcome(axes, where(rows, condition=condition), groups)
        name = EVERY_CONTEXT.get(condition, condition)
        axes.set_title(name if len(contexts) <= 3 else name.removesuffix(" context"))
    middles = [at * (len(OUTCOMES) + 1) + (len(OUTCOMES) - 1) / 2 for at in range(len(groups))]
    panels[0].set_yticks(middles, [f"all {grouping(rows)}s" if name == "all" else plain(name, 18) for name in groups])
    panels[0].set_ylim(lines - 0.3, -0.7)
    canvas.supxlabel("change of semantic entropy with the context (nats)", fontsize=8.5)
    key = [
        mark("o", "all"),
        mark("^", "persuaded"),
        mark("s", "stubborn"),
        mark("s", "by the paper's rule", filled=False),
    ]
    legend_above(canvas, key)
    return canvas


FIGURE = Figure(
    "entropy-change",
    "Does a context make the model surer of its answers?",
    "Means of the change of semantic entropy in nats by partition, context and outcome",
    ("entropy_by_outcome",),
    draw,
    measures=("answers", "semantic_entropy", "whose_answer"),
    items=("marjanovic-fig-2",),
)
