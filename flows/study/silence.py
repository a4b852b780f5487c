"""Thresholds that a model meets as it states nothing: whose answers are cut off early resists wrong passages, too."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from swaymeter.flows.study.thresholds import Judged, Threshold
from swaymeter.reports.frames import records
from swaymeter.reports.models import Model

if TYPE_CHECKING:
    import pandas as pd

KEPT_IN_SILENCE = ("resist_wrong", "keep", "refuse")
"""Quantities that are large where answers state nothing; of the others those are small that silence moves."""


def silent(unfinished: "pd.DataFrame", neither: "pd.DataFrame") -> dict[str, str]:
    """Of each model most of whose greedy answers say little: how many, and in what way.

    unfinished, neither: rows of `unfinished_greedy_answers` and `greedy_answers_of_neither`.
    """
    of_neither = neither.groupby(["model", "dtype", "greedy_answers"])["answers"].sum().reset_index()
    counted = [
        *((row, int(row["answers"]), "with a context state neither answer") for row in records(of_neither)),
        *((row, int(row["unfinished"]), "ended at the limit of tokens") for row in records(unfinished)),
    ]
    return {
        str(Model(row["model"], row["dtype"])): f"{count} of {row['greedy_answers']} greedy answers {how}"
        for row, count, how in counted
        if 2 * count > row["greedy_answers"]
    }


def notes_on(outcome: Judged, silent: Mapping[str, str]) -> list[str]:
    """What to know of each threshold that is met as its model states little, such as "met, but 42 of 42 greedy ..."."""
    return [
        f"met, but {silent[row.model]}" if row.model in silent and not unmet and _silence_meets(threshold) else ""
        for threshold, row, unmet in outcome
    ]


def _silence_meets(threshold: Threshold) -> bool:
    return threshold.at_least == (threshold.quantity in KEPT_IN_SILENCE)


def lines_on(outcome: Judged, notes: Iterable[str]) -> list[str]:
    """A line for each threshold on which there is a note."""
    noted = zip(outcome, notes, strict=True)
    return [f"{threshold}, {row.model}: {note}" for (threshold, row, _), note in noted if note]
