"""Tables of agreement on verdicts: of a judge with the rule and with people, and of people with each other."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from swaymeter.data.records.statistics import SHARE
from swaymeter.reports.estimates import MAX_NAMED, estimate, plural
from swaymeter.reports.frames import Frames, records, where
from swaymeter.reports.models import Model
from swaymeter.reports.tables.table import Table

QUERIES = ("agreement_with_the_judge", "judges_of_answers")
"""Named queries of the table AGREEMENT and of `sentences`.

`agreement_with_the_judge` compares judges with the rule and with people. `judges_of_answers` counts the undecided
replies that a judge read, and the undecided replies that the judge left without a verdict.
"""
UNDEFINED = "undefined: all verdicts are equal"
_AGAINST = {"rule": "the rule", "person": "people"}
"""Values of the column `against` in words."""


def _rows(frames: Frames) -> pd.DataFrame:
    shown = [
        {
            "model": row["model"],
            "dtype": row["dtype"],
            "judge": row["judge"],
            "against": _AGAINST[row["against"]],
            "n": row["n"],
            "agreement": agreement(row),
            "kappa": kappa(row),
            "intervals over": row["interval_over"] or "",
        }
        for row in records(frames["agreement_with_the_judge"])
    ]
    return pd.DataFrame(shown)


def agreement(row: Mapping[str, Any]) -> str:
    """Return the share of equal verdicts with its interval."""
    return estimate({"mean": row["agree"], "low": row["agree_low"], "high": row["agree_high"], "unit": SHARE})


def kappa(row: Mapping[str, Any]) -> str:
    """Return kappa with its interval, or UNDEFINED."""
    if pd.isna(row["kappa"]):
        return UNDEFINED
    return estimate({"mean": row["kappa"], "low": row["kappa_low"], "high": row["kappa_high"], "unit": ""})


def sentences(frames: Frames) -> str:
    """Return a sentence for each judge on its decisions and its agreement with the rule and with people."""
    judged, agreements = frames["judges_of_answers"], frames["agreement_with_the_judge"]
    rows = judged if len(judged) else agreements
    judges = dict.fromkeys(rows["judge"]) if len(rows) else ()
    return "".join(
        _sentence(str(judge), where(judged, judge=judge), where(agreements, judge=judge)) for judge in judges
    )


def _sentence(judge: str, judged: pd.DataFrame, agreements: pd.DataFrame) -> str:
    parts = []
    if len(judged):
        total, undecided = int(judged["asked"].sum()), int(judged["unjudged"].sum())
        reasons = "; ".join(dict.fromkeys(judged["reasons"].dropna()))
        decided = f"decided {total - undecided} of {plural(total, 'undecided answer')}"
        parts.append(f"{decided} ({reasons})" if reasons else decided)
    for against, name in _AGAINST.items():
        rows = records(where(agreements, against=against))
        if not rows:
            continue
        shown, range_words = sorted(rows, key=lambda row: float(row["agree"])), ""
        if len(rows) > MAX_NAMED:
            shown, range_words = [shown[0], shown[-1]], f", from the lowest to the highest of {len(rows)} variants"
        words = "; ".join(
            f"{agreement(row)} of {plural(row['n'], 'answer')} of {Model(row['model'], row['dtype'])}, "
            f"kappa {kappa(row)}"
            for row in shown
        )
        parts.append(f"agrees with {name} in {words}{range_words}")
    return f" The judge {judge} {'; it '.join(parts)}." if parts else ""


AGREEMENT = Table(
    "agreement-with-the-judge",
    "Does the judge agree with the rule, and with people?",
    "The judge decides whose answer an undecided reply states. To test its reliability, it also judges a sample of the "
    "replies that the rule decided, and its verdicts are compared with people's. Agreement is the share of replies "
    "with the same verdict; kappa is Cohen's, agreement beyond chance (1: complete; 0: as by chance). The 95% "
    "intervals are over subjects, or over questions if no subject is named. Neither number says who is right.",
    QUERIES,
    _rows,
    note=sentences,
)


def _people(frames: Frames) -> pd.DataFrame:
    shown = [
        {
            "field": row["field"],
            "items": row["items"],
            "annotators": row["annotators"],
            "alpha": f"undefined: {row['undefined']}" if pd.isna(row["alpha"]) else f"{row['alpha']:.3f}",
        }
        for row in records(frames["agreement_of_people"])
    ]
    return pd.DataFrame(shown)


PEOPLE = Table(
    "agreement-of-people",
    "Do people agree with each other?",
    "Krippendorff's alpha of people's judgements, by field (1: they always agree; 0: as by chance). Items are texts "
    "that at least two people judged. For choices (what to do with a question, such as accept or discard), only the "
    "first two people count, because a third person has read their choices.",
    ("agreement_of_people",),
    _people,
)
