"""Agreement of a judge with the rule and with people on whose answer is stated, what it decided, and of people."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from swaymeter.data.records.statistics import SHARE
from swaymeter.reports.estimates import MAX_NAMED, estimate, plural
from swaymeter.reports.frames import Frames, records, where
from swaymeter.reports.models import Model
from swaymeter.reports.tables.table import Table

QUERIES = ("agreement_with_the_judge", "judges_of_answers")
UNDEFINED = "undefined: one verdict alone"
_AGAINST = {"rule": "the rule", "person": "people"}


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
    """Return the share of agreement with its interval."""
    return estimate({"mean": row["agree"], "low": row["agree_low"], "high": row["agree_high"], "unit": SHARE})


def kappa(row: Mapping[str, Any]) -> str:
    """Return kappa with its interval, or that it is undefined."""
    if pd.isna(row["kappa"]):
        return UNDEFINED
    return estimate({"mean": row["kappa"], "low": row["kappa_low"], "high": row["kappa_high"], "unit": ""})


def sentences(frames: Frames) -> str:
    """Return what each judge decided of each model's undecided answers, and how far it agrees with the rule."""
    judged, agreements = frames["judges_of_answers"], frames["agreement_with_the_judge"]
    verdicts = judged if len(judged) else agreements
    judges = dict.fromkeys(verdicts["judge"]) if len(verdicts) else ()
    return "".join(
        _sentence(str(judge), where(judged, judge=judge), where(agreements, judge=judge)) for judge in judges
    )


def _sentence(judge: str, judged: pd.DataFrame, agreements: pd.DataFrame) -> str:
    parts = []
    if len(judged):
        total, left = int(judged["asked"].sum()), int(judged["unjudged"].sum())
        reasons = "; ".join(dict.fromkeys(judged["reasons"].dropna()))
        parts.append(f"decided {total - left} of {plural(total, 'undecided answer')}" + f" ({reasons})" * bool(reasons))
    for against, name in _AGAINST.items():
        rows = records(where(agreements, against=against))
        extremes = sorted(rows, key=lambda row: float(row["agree"]))
        if len(rows) > MAX_NAMED:
            extremes = [extremes[0], extremes[-1]]
        words = "; ".join(
            f"{agreement(row)} of {plural(row['n'], 'answer')} of {Model(row['model'], row['dtype'])}, "
            f"kappa {kappa(row)}"
            for row in extremes
        )
        spread = f", from the lowest to the highest of {len(rows)} variants" * (len(rows) > MAX_NAMED)
        parts += [f"agrees with {name} in {words}{spread}"] if rows else []
    return f" The judge {judge} {'; it '.join(parts)}." if parts else ""


AGREEMENT = Table(
    "agreement-with-the-judge",
    "Does the judge agree with the rule, and with people?",
    "The judge decides whose answer an undecided reply states. To see how far it can be relied on, it is asked about a "
    "sample of the replies that the rule decided, too, and compared with people's verdicts. Agreement is the share "
    "of answers with the same verdict, kappa how much of what chance would leave is agreed (1: all; 0: as by chance). "
    "Intervals have 95%, over subjects, or questions where none is named. Neither says which of the two is right.",
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
    "Krippendorff's alpha of what several people judged, by field (1: they always agree; 0: as by chance). Items are "
    "texts that at least two people judged; of choices, the first two people count.",
    ("agreement_of_people",),
    _people,
)
