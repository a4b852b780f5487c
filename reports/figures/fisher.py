"""Fisher susceptibility, which needs no context, against susceptibility over contexts (as [L] Figs 1, 6)."""

from functools import partial

import numpy as np
import pandas as pd

from reports.figures.agreement import agreement_note, asked_by, painted, relation_means
from reports.figures.plate import Plate
from reports.frames import Finite, Model, by_model, finite, numbers, stand_in_note

TITLE = "Does Fisher susceptibility, which needs no context, find the queries that contexts sway?"
UNIT = "nats per squared embedding unit"
_POINTS = [
    "relation",
    "query_type",
    "form",
    "entity",
    "invented",
    "query_id",
    "contexts",
    "susceptibility",
    "top_k",
    "fisher_top_k",
    "draws",
    "fisher",
    "fisher_standard_error",
]


def fisher_plates(frames: dict[str, pd.DataFrame]) -> list[Plate]:
    """One plate per model and dtype: over the full vocabulary where that was drawn, else over the top answers."""
    plates = []
    agreement = dict(by_model(frames["agreement"]))
    for model, rows in by_model(frames["fisher_of_queries"]):
        measure = measured(rows)
        drawn = measure == "fisher"
        error = numbers(rows["fisher_standard_error"]) if drawn else np.nan
        found = finite(rows.assign(score=numbers(rows[measure]), error=error), "score", "susceptibility")
        if not found.rows.empty:
            known = agreement.get(model, frames["agreement"].iloc[:0])
            note = stand_in_note(frames["stand_ins"], model, ("fisher_susceptibility", "susceptibility"))
            plates.append(_plate(model, rows, found, known[known["measure_a"] == measure], note, drawn=drawn))
    return plates


def measured(rows: pd.DataFrame) -> str:
    """Which Fisher susceptibility of a model is shown: `fisher` where any query has it, else `fisher_top_k`."""
    return "fisher" if np.isfinite(numbers(rows["fisher"])).any() else "fisher_top_k"


def _plate(
    model: Model, every: pd.DataFrame, found: Finite, agreement: pd.DataFrame, stand_in: str, *, drawn: bool
) -> Plate:
    rows = found.rows
    relative = (rows["error"] / rows["score"]).dropna()
    how = (
        f"over the full vocabulary, from {_range(rows['draws'])} random draws; a thin stroke reaches one standard "
        f"error up and down{f', in the median {100 * relative.median():.0f}%' if len(relative) else ''}"
        if drawn
        else f"over the top {_range(rows['top_k'])} answers, exact"
    )
    scale = "The scale upward is logarithmic. " if (rows["score"] > 0).all() else ""
    relations = rows["relation"].nunique()
    caption = (
        "Each dot is a query: further right the study's contexts sway it further, higher up its Fisher susceptibility "
        f"is larger ({how}); a diamond is the mean of a relation's queries. {scale}Fisher susceptibility is in {UNIT}: "
        f"values of different models are not comparable, only the order of a model's queries is. {model}; n = "
        f"{len(rows)} queries in {relations} relation{'' if relations == 1 else 's'}, "
        f"{asked_by(rows)}{agreement_note(agreement)}{found.note('queries')}{stand_in}"
    )
    shown = relation_means(rows)
    alt = (
        f"Scatter plots of Fisher susceptibility ({UNIT}) against susceptibility in nats for {model}, open and closed "
        f"queries in panels: {len(rows)} queries, {relations} relation means.{agreement_note(agreement)}"
    )
    return Plate(
        f"fisher-against-susceptibility-{model.slug}",
        TITLE,
        str(model),
        caption,
        alt,
        every[_POINTS],
        shown.rename(columns={"score": "mean_fisher", "susceptibility": "mean_susceptibility"}),
        partial(painted, rows, agreement, f"Fisher susceptibility\n({UNIT})", same_unit=False),
    )


def _range(column: "pd.Series[int]") -> str:
    low, high = int(column.min()), int(column.max())
    return str(low) if low == high else f"{low} to {high}"
