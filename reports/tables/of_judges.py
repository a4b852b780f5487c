"""How far a judge, another language model, agrees with the rule on whose answer is stated."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from swaymeter.data.records.statistics import SHARE
from swaymeter.reports.estimates import MOST_NAMED, estimate, plural
from swaymeter.reports.frames import Frames, records
from swaymeter.reports.models import Model, models
from swaymeter.reports.tables.table import Table

QUERY = "agreement_with_the_judge"
UNDEFINED = "undefined: one verdict alone"


def _rows(frames: Frames) -> pd.DataFrame:
    shown = [
        {
            "model": row["model"], "dtype": row["dtype"], "judge": row["judge"], "answers of": row["answer_kind"],
            "n": row["n"], "without a verdict": row["unjudged"], "agreement": agreement(row) if row["n"] else "",
            "kappa": kappa(row) if row["n"] else "", "intervals over": row["interval_over"] or "",
        }
        for row in records(frames[QUERY])
    ]  # fmt: skip
    return pd.DataFrame(shown)


def agreement(row: Mapping[str, Any]) -> str:
    """The share of agreement with its interval."""
    return estimate({"mean": row["agree"], "low": row["agree_low"], "high": row["agree_high"], "unit": SHARE})


def kappa(row: Mapping[str, Any]) -> str:
    """Kappa with its interval, or that there is none."""
    if pd.isna(row["kappa"]):
        return UNDEFINED
    return estimate({"mean": row["kappa"], "low": row["kappa_low"], "high": row["kappa_high"], "unit": ""})


def sentences(frames: Frames) -> str:
    """For each model and judge, how far the judge agrees about all of the model's answers."""
    every = frames[QUERY]
    if every.empty:
        return ""
    several, words = len(models(every)) > 1, []
    of_all = records(every[every["answer_kind"] == "all"])
    if len(of_all) > MOST_NAMED:
        by_judge = every[every["answer_kind"] == "all"].groupby("judge", sort=True)
        return "".join(_of_many(str(judge), records(rows)) for judge, rows in by_judge)
    for row in of_all:
        of = f" of {row['model']} ({row['dtype']})" if several else ""
        if not row["n"]:
            words.append(f" The judge {row['judge']} gave no verdict on {plural(row['unjudged'], 'answer')}{of}.")
            continue
        left = f"; it gave none on {plural(row['unjudged'], 'other')}" if row["unjudged"] else ""
        words.append(
            f" The judge {row['judge']} agrees with the rule in {agreement(row)} of {plural(row['n'], 'answer')}{of}, "
            f"kappa {kappa(row)}{left}."
        )
    return "".join(words)


def _of_many(judge: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """How far a judge agrees about the answers of many variants: the lowest and the highest share."""
    judged = sorted((row for row in rows if row["n"]), key=lambda row: float(row["agree"]))
    unjudged = sum(int(row["unjudged"]) for row in rows)
    left = f" It gave none on {plural(unjudged, 'answer')}." if unjudged else ""
    if not judged:
        return f" The judge {judge} gave no verdict.{left}"
    ends = dict.fromkeys(f"{agreement(row)} ({Model(row['model'], row['dtype'])})" for row in (judged[0], judged[-1]))
    return (
        f" The judge {judge} agrees with the rule in {' to '.join(ends)} of the answers of {len(judged)} of "
        f"{len(rows)} variants.{left}"
    )


AGREEMENT = Table(
    "agreement-with-the-judge",
    "A second opinion: does a judge agree on whose answer it is?",
    "The judge is another language model. It reads the question, the right answer, the answer of the passage and the "
    "greedy answer, and chooses one of five verdicts; the rule decides by words. Agreement is the share of answers "
    "with the same verdict, kappa how much of what chance would leave is agreed (1: all; 0: as by chance). Intervals "
    "have 95%, over subjects, or questions where none is named. Neither says which of the two is right.",
    (QUERY,), _rows, note=sentences,
)  # fmt: skip
