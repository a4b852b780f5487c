"""How far scores vary between samples of several seeds, and between query forms (as [D] Fig 4)."""

from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.reports.estimates import plural, span
from swaymeter.reports.figures.boxes import column_of_values, how_to_read, named_columns
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.frames import Frames, Model, in_order, present, records, where
from swaymeter.reports.style import QUERY_HUES, blank, legend_above, mark

MEASURES = ("persuasion", "susceptibility")
OVER = {"seeds": "over seeds", "forms": "over forms"}


def variance_by_group(axes: Axes, data: pd.DataFrame, groups: pd.DataFrame) -> None:
    """Draws variances in squared nats, a column for each query type and what they are over.

    `data` has query_type, over and variance; `groups` the same with relations, variances, mean, low, high and the
    quantiles, in the order of the columns; one measure.
    """
    labels = []
    for at, row in enumerate(records(groups)):
        values = where(data, query_type=row["query_type"], over=row["over"])["variance"]
        column_of_values(axes, at, values, row, QUERY_HUES[row["query_type"]])
        labels.append(f"{OVER[row['over']]}\n{row['query_type']}\nn = {row['relations']}")
    named_columns(axes, labels)


def draw(model: Model, frames: Frames) -> Drawing | None:
    """A model's relations; a panel for each measure."""
    rows = frames["reliability_of_relations"]
    compared = rows.dropna(subset=["variance"])
    groups = in_order(frames["reliability_in_short"], measure=MEASURES, over=OVER, query_type=QUERY_HUES)
    if compared.empty:
        return None
    seeds = where(compared, over="seeds")
    number = f" ({span(seeds['scores'].min(), seeds['scores'].max())} seeds)" if len(seeds) else ""
    lost = rows[rows["variance"].isna()]
    reasons = "; ".join(sorted({str(reason) for reason in lost["untestable"]}))
    untestable = f" {len(lost)} of {len(rows)} comparisons have no variance: {reasons}." if len(lost) else ""
    caption = (
        f"Over seeds{number}: the variance (over scores - 1) of a query's susceptibility, contexts about the same "
        "entities drawn anew, and of the persuasion of a query by a context that is in every sample. Over forms: "
        "that of an entity's scores by the forms of a query type, in one sample. A value is the mean over a relation. "
        f"{how_to_read('relations')}. {model}; n = {plural(compared['relation'].nunique(), 'relation')} with "
        f"{int(compared['n'].sum())} variances.{untestable}"
    )
    numbers = rows.drop(columns=["model", "dtype"])
    shown = groups.drop(columns=["model", "dtype"])
    return Drawing(caption, numbers, shown, partial(_paint, compared, groups))


def _paint(rows: pd.DataFrame, groups: pd.DataFrame) -> Canvas:
    measures = present(groups, "measure", MEASURES)
    canvas, (line,) = blank(1, len(measures), 3.5)
    for axes, measure in zip(line, measures, strict=True):
        variance_by_group(axes, where(rows, measure=measure), where(groups, measure=measure))
        axes.set(title=measure, ylabel="variance (squared nats)")
        axes.set_ylim(bottom=0)
    legend_above(canvas, [mark("o", f"{kind} queries", hue) for kind, hue in QUERY_HUES.items()])
    return canvas


FIGURE = Figure(
    "variance-of-scores",
    "How far do scores vary with the sample, and with the form of the query?",
    "Variances of persuasion and susceptibility in squared nats, over seeds and query forms",
    ("reliability_of_relations", "reliability_in_short"),
    draw,
    measures=MEASURES,
    expected=lambda frames: False,
    items=("du-fig-4",),
)
