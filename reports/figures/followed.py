"""How far contexts persuade, by what the greedy answer followed: context, original or neither (as [D] Fig 2)."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from reports.figures.figure import Drawing, Figure
from reports.frames import Frames, Model, is_null, numbers, records, without_unit
from reports.style import INK, QUERY_HUES, blank, legend_above, mark

FOLLOWS = {"context": "the context's", "original": "the original", "other": "another"}
EVERY = "every context"
CONTEXTS = (EVERY, "in conflict: substitution", "in conflict: negation", "not in conflict")
_SHOWN = ["query_type", "contexts", "greedy_answer", "answers", "share_answers", "relations", "mean", "low", "high"]


def persuasion_by_followed(axes: Axes, data: pd.DataFrame, means: pd.DataFrame) -> Axes:
    """Draws mean persuasion in nats by what the greedy answer is: a thin line a relation, a diamond their mean.

    `data` has relation, query_type, follows, persuasion; `means` follows, share_answers, mean, low, high; one query
    type, a relation and answer once.
    """
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    single = data.pivot(index="relation", columns="follows", values="persuasion").reindex(columns=[*FOLLOWS, "gap"])
    alpha = 0.45 if len(single) <= 40 else 0.2
    across = np.tile([*range(len(FOLLOWS)), np.nan], len(single))
    axes.plot(across, single.to_numpy(dtype=float).ravel(), "-o", color=hue, alpha=alpha, linewidth=0.8, markersize=2.6)
    result, labels = {row["follows"]: row for row in records(means)}, []
    for at, (name, words) in enumerate(FOLLOWS.items()):
        row = result.get(name, dict.fromkeys(("mean", "low", "high"), np.nan) | {"share_answers": 0.0})
        axes.plot([at, at], [row["low"], row["high"]], color=hue, linewidth=2.6, solid_capstyle="butt")
        axes.plot([at], [row["mean"]], "D", color=hue, markersize=7, markeredgecolor=INK, markeredgewidth=0.8)
        labels.append(f"{words}\n{100 * row['share_answers']:.0f}%")
    axes.set_xticks(range(len(FOLLOWS)), labels)
    axes.set_xlim(-0.4, len(FOLLOWS) - 0.6)
    axes.grid(axis="x", visible=False)
    return axes


def draw(model: Model, frames: Frames) -> Drawing | None:
    """Persuasion by what a model's greedy answers follow."""
    data, rows = frames["followed_of_relations"], frames["followed_by_kind"]
    if data.empty or not np.isfinite(numbers(data["persuasion"])).any():
        return None
    shown = _sorted(without_unit(frames["followed_in_short"]))
    relations, answers = data["relation"].nunique(), int(data["answers"].sum())
    unscored = answers - int(data["scored"].sum())
    note = f" {unscored} of {answers} answers have no persuasion score: counted, in no mean." if unscored else ""
    conflicts = int(rows.loc[~is_null(rows["conflict"]), "answers"].sum())
    caption = (
        "Across, what the greedy answer with the context is: the context's answer, the query's original one, or "
        "another; below, its share of the answers. Up, the mean persuasion of these contexts: a thin line "
        "is a relation, a diamond the mean of the relations' means with its 95% bootstrap interval. "
        f"{model}; n = {answers} answers in {relations} relation{'' if relations == 1 else 's'}, every context before "
        f"every query; {conflicts} of them under a context in conflict with the query's answer, which the "
        f"numbers show apart.{'' if relations > 1 else ' One relation gives no interval.'}{note}"
    )
    every = shown[shown["contexts"] == EVERY]
    words = "; ".join(
        f"{row['query_type']}, {row['greedy_answer']} {100 * row['share_answers']:.0f}%, {row['mean']:.2f} nats"
        for row in records(every)
    )
    alt = (
        f"Mean persuasion in nats by what the greedy answer followed, open and closed queries in panels, for {model}; "
        f"{relations} relations as lines, their mean as diamonds: {words}."
    )
    numbers_of = rows.drop(columns=["model", "dtype", "unit"])
    return Drawing(caption, alt, numbers_of, shown[_SHOWN], partial(_paint, data, every))


def _sorted(means: pd.DataFrame) -> pd.DataFrame:
    """The rows by context, query type and answer, each in its fixed order."""
    orders = {"contexts": CONTEXTS, "query_type": tuple(QUERY_HUES), "follows": tuple(FOLLOWS)}
    selected = means[means["follows"].isin(FOLLOWS)].assign(greedy_answer=lambda rows: rows["follows"].map(FOLLOWS))
    selected = selected.sort_values(list(orders), key=lambda column: column.map(orders[str(column.name)].index))
    return selected.reset_index(drop=True)


def _paint(data: pd.DataFrame, means: pd.DataFrame) -> Canvas:
    types = [kind for kind in QUERY_HUES if (data["query_type"] == kind).any()]
    canvas, grid = blank(1, len(types), 3.4, share_y=True)
    for axes, kind in zip(grid[0], types, strict=True):
        persuasion_by_followed(axes, data[data["query_type"] == kind], means[means["query_type"] == kind])
        axes.set_title(f"{kind} queries")
        axes.set_xlabel("the greedy answer is …")
    grid[0][0].set_ylabel("mean persuasion (nats)")
    grid[0][0].set_ylim(bottom=0)
    legend_above(canvas, [mark("o", "a relation"), mark("D", "mean of the relations")])
    return canvas


FIGURE = Figure(
    "persuasion-by-followed",
    "Do contexts that the greedy answer follows persuade more than others?",
    ("followed_of_relations", "followed_in_short", "followed_by_kind"),
    draw,
    measures=("greedy_answers", "persuasion"),
)
