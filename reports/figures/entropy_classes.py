"""How many instances of a partition are in each class of semantic entropy with the context (as [M] Fig 15)."""

from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from reports.figures.figure import Drawing, Figure
from reports.frames import Frames, Model, in_order, partitions, records, where, without_unit
from reports.style import INK, MUTED, blank, plain

CLASSES = {"low": 0.25, "middle": 0.55, "high": 0.95}
"""The classes, and how dark each is."""
MOST_GROUPS = 12


def shares_of_classes(axes: Axes, data: pd.DataFrame, groups: list[str]) -> None:
    """Draws a bar per partition, cut into the shares of its classes, from low to high, with the counts in them.

    `data` has partition, entropy_class, instances, share_instances.
    """
    for y, group in enumerate(groups):
        start = 0.0
        for name, alpha in CLASSES.items():
            for row in records(where(data, partition=group, entropy_class=name)):
                share = float(row["share_instances"])
                axes.barh(y, share, left=start, height=0.62, color=MUTED, alpha=alpha, edgecolor=INK, linewidth=0.6)
                if share > 0.05:
                    axes.text(start + share / 2, y, f"{row['instances']}", ha="center", va="center", fontsize=7.5,
                              bbox={"boxstyle": "round,pad=0.15", "facecolor": "#fdfdfb", "edgecolor": "none"},
                              color=INK)  # fmt: skip
                start += share
    axes.set_yticks(range(len(groups)), ["all" if name == "all" else plain(name, 24) for name in groups])
    axes.set_ylim(len(groups) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    axes.grid(axis="y", visible=False)


def draw(model: Model, frames: Frames) -> Drawing | None:
    rows = frames["entropy_classes"]
    if rows.empty:
        return None
    sizes = rows.groupby("partition")["instances"].sum()
    groups = [name for name in partitions(rows) if name != "all"]
    groups = sorted(groups, key=lambda name: -sizes[name])[:MOST_GROUPS] if len(groups) > MOST_GROUPS else groups
    groups = groups if len(groups) == 1 else ["all", *groups]
    cut = records(rows)[0]
    bounds = f"low reaches to {cut['low_up_to']:.4g} nats, middle to {cut['middle_up_to']:.4g} ({cut['cut']})"
    caption = (
        "Each bar is a partition, cut into its instances with low (left), middle and high (right) semantic "
        f"entropy with the context; the numbers count them: {bounds}. {model}; "
        f"n = {sizes['all']} instances. The words of each class stand in a table."
    )
    alt = f"Stacked bars of the share of instances in three classes of semantic entropy (nats), for {model}: {bounds}."
    shown = in_order(without_unit(rows), partition=groups, entropy_class=CLASSES)
    shown.attrs["units"] = without_unit(rows).attrs["units"]
    numbers = rows.drop(columns=["model", "dtype"])
    return Drawing(caption, alt, numbers, shown, partial(_paint, rows, groups))


def _paint(rows: pd.DataFrame, groups: list[str]) -> Canvas:
    canvas, ((axes,),) = blank(1, 1, 1.0 + 0.4 * len(groups))
    shares_of_classes(axes, rows, groups)
    axes.set_xlabel("share of the instances, from low to high entropy (no unit)")
    return canvas


FIGURE = Figure(
    "entropy-classes",
    "Of which kind are the questions whose answers stay spread with a context?",
    ("entropy_classes",),
    draw,
    measures=("answers", "semantic_entropy"),
    items=("marjanovic-fig-15",),
)
