"""How far contexts persuade, by what the greedy answer followed: context, original or neither (as [D] Fig 2)."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.figures.plate import Plate
from reports.frames import Model, by_model, is_null, numbers, records, stand_in_note
from reports.intervals import mean_interval
from reports.style import INK, QUERY_HUES, blank, legend_above, mark

TITLE = "Do contexts that the greedy answer follows persuade more than others?"
FOLLOWS = {"context": "the context's", "original": "the original", "other": "another"}
EVERY = "every context"


def persuasion_by_followed(axes: Axes, data: pd.DataFrame) -> Axes:
    """Draws mean persuasion in nats by what the greedy answer is: a thin line a relation, a diamond their mean.

    `data` has relation, query_type, follows, answers, persuasion; one query type, a relation and answer once.
    """
    hue = QUERY_HUES[str(data["query_type"].iloc[0])]
    single = data.pivot(index="relation", columns="follows", values="persuasion").reindex(columns=[*FOLLOWS, "gap"])
    alpha = 0.45 if len(single) <= 40 else 0.2
    across = np.tile([*range(len(FOLLOWS)), np.nan], len(single))
    axes.plot(across, single.to_numpy(dtype=float).ravel(), "-o", color=hue, alpha=alpha, linewidth=0.8, markersize=2.6)
    labels = []
    for at, (name, words) in enumerate(FOLLOWS.items()):
        mean = mean_interval(single[name].dropna())
        axes.plot([at, at], [mean.low, mean.high], color=hue, linewidth=2.6, solid_capstyle="butt")
        axes.plot([at], [mean.mean], "D", color=hue, markersize=7, markeredgecolor=INK, markeredgewidth=0.8)
        share = data.loc[data["follows"] == name, "answers"].sum() / data["answers"].sum()
        labels.append(f"{words}\n{100 * share:.0f}%")
    axes.set_xticks(range(len(FOLLOWS)), labels)
    axes.set_xlim(-0.4, len(FOLLOWS) - 0.6)
    axes.grid(axis="x", visible=False)
    return axes


def followed_plates(frames: dict[str, pd.DataFrame]) -> list[Plate]:
    """One plate per model and dtype."""
    plates = []
    for model, rows in by_model(frames["followed"]):
        if np.isfinite(numbers(rows["persuasion"])).any():
            note = stand_in_note(frames["stand_ins"], model, ("greedy_answers", "persuasion"))
            plates.append(_plate(model, rows, note))
    return plates


def pooled(rows: pd.DataFrame) -> pd.DataFrame:
    """Answers and their mean persuasion by relation, query type and what was followed, over all contexts in `rows`.

    The mean is over the answers that have a persuasion score; NaN where none has.
    """
    score, count = numbers(rows["persuasion"]), numbers(rows["answers"])
    scored = np.where(np.isfinite(score), count, 0.0)
    summed = (
        rows.assign(answers=count.astype(int), total=np.where(scored > 0, score, 0.0) * scored, scored=scored)
        .groupby(["relation", "query_type", "follows"], sort=True)[["answers", "total", "scored"]]
        .sum()
        .reset_index()
    )
    return summed.assign(persuasion=summed["total"] / summed["scored"].replace(0, np.nan)).drop(columns="total")


def _plate(model: Model, rows: pd.DataFrame, stand_in: str) -> Plate:
    data, shown = pooled(rows), _shown(rows)
    relations, answers = data["relation"].nunique(), int(data["answers"].sum())
    lost = answers - int(data["scored"].sum())
    unscored = f" {lost} of {answers} answers have no persuasion score: counted, in no mean." if lost else ""
    conflicts = numbers(rows.loc[~is_null(rows["conflict"]), "answers"])
    caption = (
        "Across, what the greedy answer with the context is: the context's answer, the query's original one, or "
        "another; below, its share of the answers. Up, the mean persuasion of these contexts: a thin line "
        "is a relation, a diamond the mean of the relations' means with its 95% bootstrap interval. "
        f"{model}; n = {answers} answers in {relations} relation{'' if relations == 1 else 's'}, every context before "
        f"every query; {int(conflicts.sum())} of them under a context in conflict with the query's answer, which the "
        f"numbers show apart.{'' if relations > 1 else ' One relation gives no interval.'}{unscored}{stand_in}"
    )
    said = "; ".join(
        f"{row['query_type']}, {row['greedy_answer']} {100 * row['share_answers']:.0f}%, {row['mean']:.2f} nats"
        for row in records(shown[shown["contexts"] == EVERY])
    )
    alt = (
        f"Mean persuasion in nats by what the greedy answer followed, open and closed queries in panels, for {model}; "
        f"{relations} relations as lines, their mean as diamonds: {said}."
    )
    return Plate(
        f"persuasion-by-followed-{model.slug}",
        TITLE,
        str(model),
        caption,
        alt,
        rows.drop(columns=["model", "dtype"]),
        shown,
        partial(_paint, data),
    )


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    conflict = rows["conflict"].astype(object).where(~is_null(rows["conflict"]), "")
    groups = {EVERY: rows, "in conflict: substitution": rows[conflict == "substitution"]}
    groups |= {"in conflict: negation": rows[conflict == "negation"], "not in conflict": rows[conflict == ""]}
    made = []
    for words, group in groups.items():
        data = pooled(group)
        for kind in QUERY_HUES:
            part = data[data["query_type"] == kind]
            for name, said in FOLLOWS.items():
                of = part[part["follows"] == name]
                if of.empty:
                    continue
                mean = mean_interval(of["persuasion"].dropna())
                made.append(
                    {
                        "query_type": kind,
                        "contexts": words,
                        "greedy_answer": said,
                        "answers": int(of["answers"].sum()),
                        "share_answers": of["answers"].sum() / part["answers"].sum(),
                        "relations": mean.n,
                        "mean": mean.mean,
                        "low": mean.low,
                        "high": mean.high,
                    }
                )
    return pd.DataFrame(made)


def _paint(data: pd.DataFrame) -> Figure:
    types = [kind for kind in QUERY_HUES if (data["query_type"] == kind).any()]
    figure, grid = blank(1, len(types), 3.4, share_y=True)
    for axes, kind in zip(grid[0], types, strict=True):
        persuasion_by_followed(axes, data[data["query_type"] == kind])
        axes.set_title(f"{kind} queries")
        axes.set_xlabel("the greedy answer is …")
    grid[0][0].set_ylabel("mean persuasion (nats)")
    grid[0][0].set_ylim(bottom=0)
    legend_above(figure, [mark("o", "a relation"), mark("D", "mean of the relations")])
    return figure
