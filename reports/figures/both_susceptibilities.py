"""Both susceptibilities of a model's queries: by familiarity of the entity, by wording, one in bins of the other
(as [L] Figs 2-5)."""

from functools import partial

import pandas as pd
from matplotlib.figure import Figure as Canvas

from swaymeter.reports.estimates import plural
from swaymeter.reports.figures.against_susceptibility import contexts_of, logarithmic_upward
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import BINS, Row, columns_of_bins, columns_of_groups, how_to_read, type_panels
from swaymeter.reports.frames import Frames, finite, in_order, present, unit_of, where, without_unit
from swaymeter.reports.models import Model
from swaymeter.reports.style import QUERY_HUES, blank

LABELS = {"susceptibility": "susceptibility over contexts", "fisher": "Fisher susceptibility"}
"""What each measure is called on its axis; the first is that of contexts."""
GROUPS = {"entities": ("real", "invented"), "wording": ("question", "completion")}
HOLLOW = "invented"
_MEANS = {
    "susceptibility": "Susceptibility over contexts is how far the study's contexts sway a query.",
    "fisher": "Fisher susceptibility is how far small changes of a query's embeddings would sway it.",
}
_NUMBERS = ["relation", "query_type", "of_group", "entity", "query_id", "susceptibility", "fisher"]
_SHOWN_OF_GROUPS = [
    "measure", "query_type", "of_group", "queries", "entities", "mean", "low", "high", "lower_quartile", "median",
    "upper_quartile", "unit",
]  # fmt: skip


def _draw_groups(grouped_by: str, words: str, model: Model, frames: Frames) -> Drawing | None:
    """A model's queries; there is a panel for each measure that they have."""
    every = frames["both_susceptibilities_of_queries"]
    every = every.assign(entities=every["invented"].astype(bool).map({True: "invented", False: "real"}))
    rows = every.assign(of_group=every[grouped_by].astype(str))
    known = where(frames["both_susceptibilities_in_short"], grouped_by=grouped_by)
    if not (known.groupby("query_type")["of_group"].nunique() > 1).any():  # nothing is compared
        return None
    groups = in_order(known, measure=LABELS, query_type=QUERY_HUES, of_group=GROUPS[grouped_by])
    measures = present(groups, "measure", [*LABELS])
    counted = {measure: finite(rows, measure).rows for measure in measures}
    n = " and ".join(f"{len(of_one)} queries ({LABELS[measure]})" for measure, of_one in counted.items())
    contexts = f" {contexts_of(counted['susceptibility'])}" if "susceptibility" in counted else ""
    relations = plural(rows["relation"].nunique(), "relation")
    caption = (
        f"{words} {' '.join(_MEANS[measure] for measure in measures)}{_only(groups)} {how_to_read('entities')}. "
        "The measures have different units, and Fisher susceptibilities of different models are not comparable. "
        f"{model}; n = {n} in {relations}.{contexts}"
    )
    shown = groups[_SHOWN_OF_GROUPS].rename(columns={"of_group": "group"})
    shown.attrs["units"] = {}
    numbers = rows[_NUMBERS].rename(columns={"of_group": grouped_by})
    return Drawing(caption, numbers, shown, partial(_paint_groups, counted, groups))


def _only(groups: pd.DataFrame) -> str:
    """The caption's sentences on query types that have one group, which is compared with nothing."""
    kinds = {kind: set(groups.loc[groups["query_type"] == kind, "of_group"]) for kind in QUERY_HUES}
    return "".join(f" All {kind} queries are of one group: {min(of)}." for kind, of in kinds.items() if len(of) == 1)


def _paint_groups(counted: dict[str, pd.DataFrame], groups: pd.DataFrame) -> Canvas:
    canvas, (line,) = blank(1, len(counted), 3.5)
    for axes, (measure, rows) in zip(line, counted.items(), strict=True):
        of_measure = where(groups, measure=measure)
        logarithmic = measure == "fisher" and bool((rows[measure] > 0).all())
        axes.set_yscale("log" if logarithmic else "linear")
        columns_of_groups(axes, rows, of_measure, measure, "of_group", _name, HOLLOW)
        axes.set(title=LABELS[measure], ylabel=f"({of_measure['unit'].iloc[0]})")
        if logarithmic:
            logarithmic_upward(axes, *axes.get_ylim())
        else:
            axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]) if (rows[measure] < 0).any() else 0)
    return canvas


def _name(row: Row) -> str:
    return f"{row['query_type']}\n{row['of_group']}\nn = {row['queries']}"


BY_ENTITIES, BY_WORDING = (
    Figure(
        f"both-susceptibilities-by-{grouped_by}", question,
        f"Box plots of susceptibility in nats and of Fisher susceptibility by query type and {grouped_by}",
        ("both_susceptibilities_of_queries", "both_susceptibilities_in_short"),
        partial(_draw_groups, grouped_by, words), measures=("susceptibility", "fisher_susceptibility"), items=(item,),
    )
    for grouped_by, question, words, item in (
        ("entities", "Do both susceptibilities tell real from invented entities?",
         "Queries about real and about invented entities.", "liu-fig-3"),
        ("wording", "Does it matter to both susceptibilities whether a query is a question or a sentence to complete?",
         "Queries that are questions (with a question mark that is not of the entity's name) and sentences to "
         "complete.",
         "liu-fig-4"),
    )
)  # fmt: skip


_SHOWN = [
    "query_type", "bin", "queries", "share_queries", "mean", "low", "high", "lower_quartile", "median",
    "upper_quartile",
]  # fmt: skip


def _draw_bins(model: Model, frames: Frames) -> Drawing | None:
    every = frames["both_susceptibilities_of_queries"]
    rows = finite(every, "susceptibility", "fisher").rows
    bins = where(frames["both_susceptibilities_in_short"], measure="fisher", grouped_by="susceptibility")
    if rows.empty or bins.empty:
        return None
    unit = unit_of(bins)
    bins = without_unit(bins).rename(columns={"of_group": "bin"})
    bins = in_order(bins, query_type=[*QUERY_HUES, "all"], bin=BINS)
    over = int((rows["susceptibility"] > 1).sum())
    caption = (
        f"From left to right, queries that the study's contexts sway further. {how_to_read('entities')}; "
        f"below it the bin's share and number of queries. A bin holds its lower edge, the last up to 1 both; "
        f"{over} of {len(rows)} queries are over 1 nat. Fisher susceptibility is in {unit}: values of different models "
        f"are not comparable. {model}; n = {len(rows)} queries in {plural(rows['relation'].nunique(), 'relation')}, "
        f"{contexts_of(rows)}"
    )
    return Drawing(
        caption, every.drop(columns=["model", "dtype"]), bins[_SHOWN], partial(_paint_bins, rows, bins, unit)
    )


def _paint_bins(rows: pd.DataFrame, bins: pd.DataFrame, unit: str) -> Canvas:
    of_types = where(bins, query_type="open"), where(bins, query_type="closed")
    label = f"Fisher susceptibility\n({unit})"
    canvas, panels = type_panels(pd.concat(of_types), 3.4, share_x=False, x="susceptibility (nats)", y=label)
    last = len(BINS) if (bins["bin"] == BINS[-1]).any() else len(BINS) - 1
    first = canvas.axes[0]
    first.set_yscale("log" if (rows["fisher"] > 0).all() else "linear")
    for kind, axes in panels.items():
        data = where(rows, query_type=kind)
        columns_of_bins(axes, data["fisher"], data["susceptibility"], where(bins, query_type=kind), "bin", last)
    if first.get_yscale() == "log":
        logarithmic_upward(first, *first.get_ylim())
    return canvas


BINNED = Figure(
    "fisher-in-bins-of-susceptibility",
    "Is Fisher susceptibility larger where contexts sway a query further?",
    "Box plots of Fisher susceptibility in bins of susceptibility in nats",
    ("both_susceptibilities_of_queries", "both_susceptibilities_in_short"),
    _draw_bins,
    measures=("fisher_susceptibility", "susceptibility"),
    items=("liu-fig-2", "liu-fig-5"),
)
