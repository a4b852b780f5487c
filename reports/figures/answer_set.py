"""Susceptibility over a relation's complete answers against susceptibility over first tokens."""

from functools import partial

import pandas as pd

from reports.figures.agreement import agreement_note, asked_by, painted, relation_means
from reports.figures.plate import Plate
from reports.frames import Finite, Model, by_model, finite, stand_in_note
from reports.style import QUERY_HUES

TITLE = "Are queries swayed over whole answers as they are over first tokens?"
_POINTS = [
    "relation",
    "query_type",
    "form",
    "entity",
    "invented",
    "query_id",
    "contexts",
    "answers",
    "susceptibility",
    "answer_set_susceptibility",
    "mass",
]


def answer_set_plates(frames: dict[str, pd.DataFrame]) -> list[Plate]:
    """One plate per model and dtype."""
    plates = []
    agreement = dict(by_model(frames["agreement"]))
    for model, rows in by_model(frames["answer_set_of_queries"]):
        scored = rows.assign(score=rows["answer_set_susceptibility"], error=float("nan"))
        found = finite(scored, "score", "susceptibility", "mass")
        if not found.rows.empty:
            known = agreement.get(model, frames["agreement"].iloc[:0])
            known = known[known["measure_a"] == "answer_set_susceptibility"]
            note = stand_in_note(frames["stand_ins"], model, ("answer_set_susceptibility", "susceptibility"))
            plates.append(_plate(model, rows, found, known, note))
    return plates


def masses(rows: pd.DataFrame) -> str:
    """The mean probability of the whole answer set, by query type, in words."""
    return ", ".join(
        f"{float(part['mass'].mean()):.2f} for {kind} queries"
        for kind in QUERY_HUES
        if not (part := rows[rows["query_type"] == kind]).empty
    )


def _plate(model: Model, every: pd.DataFrame, found: Finite, agreement: pd.DataFrame, stand_in: str) -> Plate:
    rows = found.rows
    relations = rows["relation"].nunique()
    sizes = sorted(set(rows["answers"].astype(int)))
    answers = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    caption = (
        "Each dot is a query: across, its susceptibility over the first token; up, over the complete answers of its "
        "relation, each with what ends it; a diamond is the mean of a relation's queries. On the dashed line both are "
        f"equal. The whole set has a mean probability of {masses(rows)}: the score says nothing of the rest. {model}; "
        f"n = {len(rows)} queries in {relations} relation{'' if relations == 1 else 's'}, {answers} answers a set, "
        f"{asked_by(rows)}{agreement_note(agreement)}{found.note('queries')}{stand_in}"
    )
    alt = (
        f"Scatter plots of answer-set susceptibility against first-token susceptibility, both in nats, for {model}, "
        f"open and closed queries in panels: {len(rows)} queries, {relations} relation "
        f"means.{agreement_note(agreement)}"
    )
    shown = relation_means(rows)
    return Plate(
        f"answer-sets-against-first-tokens-{model.slug}",
        TITLE,
        str(model),
        caption,
        alt,
        every[_POINTS],
        shown.rename(columns={"score": "mean_answer_set_susceptibility", "susceptibility": "mean_susceptibility"}),
        partial(painted, rows, agreement, "answer-set susceptibility (nats)", same_unit=True),
    )
