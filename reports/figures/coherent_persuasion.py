"""How far contexts move the answers of each partition: coherent persuasion as violins and points (as [M] Figs 8-13)."""

from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.figures.instances import conditions, instances, partitions
from reports.figures.plate import Plate
from reports.frames import Finite, Model, by_model, finite, records, stand_in_note
from reports.intervals import mean_interval
from reports.style import CONDITION_NAMES, INK, MUTED, PARTITION_HUES, blank, legend_above, mark

TITLE = "Are facts that change, or are disputed, easier to move than static ones?"
FEWEST = 5
MANY = 600


def persuasion_of_partitions(axes: Axes, data: pd.DataFrame) -> Axes:
    """Draws coherent persuasion in nats, a violin with its points per partition, a diamond and a bar for the mean.

    `data` has partition (an ordered category) and coherent_persuasion; under five values there are points only.
    """
    names = list(data["partition"].cat.categories)
    for at, name in enumerate(names):
        values = np.sort(data.loc[data["partition"] == name, "coherent_persuasion"].to_numpy(dtype=float))
        hue = PARTITION_HUES.get(str(name), MUTED)
        if len(values) >= FEWEST and values[0] < values[-1]:
            for body in axes.violinplot([values], [at], widths=0.8, showextrema=False)["bodies"]:  # type: ignore[attr-defined]
                body.set(facecolor=hue, edgecolor=hue, alpha=0.25)
        beside = at + np.random.default_rng(0).uniform(-0.16, 0.16, len(values))
        axes.plot(
            beside, values, "o", color=hue, markersize=2.2, alpha=0.8, markeredgewidth=0, rasterized=len(values) > MANY
        )
        mean = mean_interval(values)
        axes.plot([at + 0.28, at + 0.28], [mean.low, mean.high], color=hue, linewidth=2.4, solid_capstyle="butt")
        axes.plot([at + 0.28], [mean.mean], "D", color=hue, markersize=5.5, markeredgecolor=INK, markeredgewidth=0.8)
    counts = data["partition"].value_counts()
    axes.set_xticks(range(len(names)), [f"{name}\nn = {counts.get(name, 0)}" for name in names])
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(axis="x", visible=False)
    return axes


def coherent_persuasion_plates(frames: dict[str, pd.DataFrame]) -> list[Plate]:
    """One plate per model and dtype."""
    plates = []
    for model, answers in by_model(frames["answers_of_questions"]):
        data = instances(answers)
        found = finite(data, "coherent_persuasion")
        if not found.rows.empty:
            note = stand_in_note(frames["stand_ins"], model, ("answers", "coherent_persuasion"))
            plates.append(_plate(model, data, found, note))
    return plates


def _plate(model: Model, data: pd.DataFrame, found: Finite, stand_in: str) -> Plate:
    rows = found.rows
    caption = (
        "Each point is a question with a context, a violin their density, a diamond their mean with its 95% "
        f"bootstrap interval; higher up the context moved the sampled answers further. {model}; n = {len(rows)} "
        f"instances of {rows['question_id'].nunique()} questions, by partition under each "
        f"violin.{found.note('instances')}{stand_in}"
    )
    shown = _shown(rows)
    said = "; ".join(f"{row['condition']}, {row['partition']} {row['mean']:.2f}" for row in records(shown))
    alt = f"Violin plots of coherent persuasion in nats by partition, a panel per context, for {model}. Means: {said}."
    points = data[["partition", "relation", "question_id", "condition", "coherent_persuasion"]]
    return Plate(
        f"coherent-persuasion-{model.slug}", TITLE, str(model), caption, alt, points, shown, partial(_paint, rows)
    )


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    made = []
    for condition in conditions(rows):
        for partition in partitions(rows):
            part = rows[(rows["partition"] == partition) & (rows["condition"] == condition)]
            if not part.empty:
                values = part["coherent_persuasion"].to_numpy(dtype=float)
                mean = mean_interval(values)
                made.append(
                    {
                        "condition": CONDITION_NAMES.get(condition, condition),
                        "partition": partition,
                        "instances": mean.n,
                        "mean": mean.mean,
                        "low": mean.low,
                        "high": mean.high,
                        "median": float(np.median(values)),
                        "smallest": values.min(),
                        "largest": values.max(),
                    }
                )
    return pd.DataFrame(made)


def _paint(rows: pd.DataFrame) -> Figure:
    names, shown = partitions(rows), conditions(rows)
    data = rows.assign(partition=pd.Categorical(rows["partition"], categories=names, ordered=True))
    figure, grid = blank(1, len(shown), 3.6, share_y=True)
    for axes, condition in zip(grid[0], shown, strict=True):
        persuasion_of_partitions(axes, data[data["condition"] == condition])
        axes.set_title(CONDITION_NAMES.get(condition, condition))
    grid[0][0].set_ylim(bottom=min(0.0, float(rows["coherent_persuasion"].min())))  # last: it ends the autoscaling
    grid[0][0].set_ylabel("coherent persuasion (nats)")
    legend_above(figure, [mark("o", "an instance"), mark("D", "mean and its interval")])
    return figure
