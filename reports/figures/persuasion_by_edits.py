"""Coherent persuasion by how often a fact was edited (as [M] sections 1 and 6.5)."""

from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.data.records import CONDITIONS
from swaymeter.data.records.statistics import EDITS
from swaymeter.reports.estimates import interval_over
from swaymeter.reports.figures.entropy import correlation_in_words
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.frames import Frames, Model, in_order, present, records, where, without_unit
from swaymeter.reports.style import CONDITION_NAMES, MUTED, PARTITION_HUES, blank, legend_above, mark

CONTEXTS = {**CONDITION_NAMES, "all": "any context"}


def persuasion_by_edits(axes: Axes, data: pd.DataFrame) -> None:
    """Draws the mean coherent persuasion in nats with its interval, a row for each number of edits, n at the right.

    `data` has edits, instances, mean, low, high; a fact of one edit is static, of more temporal.
    """
    for row in records(data):
        y, hue = [*EDITS].index(row["edits"]), PARTITION_HUES["static" if row["edits"] == "1" else "temporal"]
        axes.plot([row["low"], row["high"]], [y, y], color=hue, linewidth=2.4, solid_capstyle="butt")
        axes.plot([row["mean"]], [y], "D", color=hue, markersize=5.5)
        axes.annotate(
            f"{row['instances']}", (1, y), (2, 0), xycoords=axes.get_yaxis_transform(), ha="left", va="center",
            textcoords="offset points", fontsize=7, color=MUTED,
        )  # fmt: skip
    axes.locator_params(axis="x", nbins=4)
    axes.grid(axis="y", visible=False)


def draw(model: Model, frames: Frames) -> Drawing | None:
    rows = frames["persuasion_by_edits"]
    if rows["edits"].nunique() < 2:
        return None
    contexts = present(rows, "condition", CONDITIONS)
    known = where(frames["instance_correlations"], measure_a="edits", partition="temporal")
    words = [f"{CONTEXTS.get(one, one)}: {correlation_in_words(known, condition=one)}" for one in contexts]
    caption = (
        "Each diamond is the mean of how far a context moved the sampled answers, over questions about facts that were "
        f"edited so often, with its {interval_over('subjects')}. The creation of a fact counts as an edit, so that "
        "a static one has 1; disputable questions have none. The numbers at the right count instances. Pearson's "
        "r of edits with coherent persuasion over temporal instances, its interval as "
        f"published, which takes instances as independent: {'; '.join(words)}. {model}; n = "
        f"{rows.loc[rows['condition'] != 'all', 'instances'].sum()} instances."
    )
    shown = in_order(without_unit(rows), condition=contexts, edits=EDITS)
    shown.attrs["units"] = without_unit(rows).attrs["units"]
    return Drawing(caption, rows.drop(columns=["model", "dtype"]), shown, partial(_paint, rows, contexts))


def _paint(rows: pd.DataFrame, contexts: list[str]) -> Canvas:
    canvas, (panels,) = blank(1, len(contexts), 2.8, share_x=True, share_y=True)
    for axes, condition in zip(panels, contexts, strict=True):
        persuasion_by_edits(axes, where(rows, condition=condition))
        axes.set_title(CONTEXTS.get(condition, condition), fontsize=8)
    panels[0].set_yticks(range(len(EDITS)), [*EDITS])
    panels[0].set_ylim(len(EDITS) - 0.4, -0.6)
    panels[0].set_ylabel("edits of the fact")
    canvas.supxlabel("coherent persuasion (nats)", fontsize=8.5)
    legend_above(canvas, [mark("D", name, PARTITION_HUES[name]) for name in ("static", "temporal")])
    return canvas


FIGURE = Figure(
    "persuasion-by-edits",
    "Are facts that are edited more often harder to move?",
    "Means of coherent persuasion in nats by number of edits",
    ("persuasion_by_edits", "instance_correlations"),
    draw,
    measures=("answers", "coherent_persuasion"),
    expected=lambda frames: False,
    items=("marjanovic-section-6.5",),
)
