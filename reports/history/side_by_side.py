"""The page of two runs side by side: which answers changed sides, how the numbers differ, and what was not the same.

What both were asked and answered comes from models and from the web: the template escapes all of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from swaymeter.reports.changes import short
from swaymeter.reports.frames import records
from swaymeter.reports.history import Flip
from swaymeter.reports.models import Model, models, of_question
from swaymeter.reports.page.shell import written

MOST = 400
"""Answers that the page shows."""
Apart = tuple[str, str, str]
"""A setting or version that is not the same: its name, what it is in the first run, and in the second."""


@dataclass(frozen=True)
class ChangedSides(Flip):
    """A greedy answer to the same texts whose verdict is another one in the second run, of two models."""

    model_before: Model
    question_id: str


@dataclass(frozen=True)
class Differences:
    """A table of two models: the columns, and a row of texts for each quantity; moved: how many of these differ."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    moved: int


def changed_sides(first: pd.DataFrame, second: pd.DataFrame) -> list[ChangedSides]:
    """The greedy answers of two runs whose verdicts differ, of rows of `answers_of_questions`.

    The frames' `context_id` is of the texts that were asked, so that an answer is compared with one to the same texts;
    a model that both runs have, with itself.
    """
    texts = ["question_id", "question", "context_id", "condition"]
    kept = [*texts, "model", "dtype", "answer", "verdict"]
    before, now = (rows.loc[rows["verdict"].notna(), kept] for rows in (first, second))
    both = before.merge(now, on=texts, suffixes=("_before", ""))
    if any(of_model in models(first) for of_model in models(second)):
        both = both[(both["model"] == both["model_before"]) & (both["dtype"] == both["dtype_before"])]
    both = both[both["verdict"] != both["verdict_before"]].sort_values(["question", "condition", "model"])
    return [
        ChangedSides(
            Model(row["model"], row["dtype"]), row["question"], row["condition"], *_said(row),
            row["verdict_before"], row["verdict"], Model(row["model_before"], row["dtype_before"]),
            row["question_id"],
        )
        for row in records(both.astype(object).where(both.notna(), None))
    ]  # fmt: skip


def _said(row: dict[str, str | None]) -> tuple[str, str]:
    before, now = (short(row[name] or "") or "empty" for name in ("answer_before", "answer"))
    return before, now


def write_side_by_side(
    file: Path, runs: tuple[str, str], reports: tuple[str, str], flips: Sequence[ChangedSides],
    differences: Sequence[Differences], apart: Sequence[Apart], left_out: Sequence[str], note: str,
) -> None:  # fmt: skip
    """Writes the page.

    Args:
        file: what is written; its folder is there.
        runs: what the two runs are called.
        reports: the address of each one's folder with its report, from the page; empty where it has none.
        flips: what changed sides.
        differences: a table for every two models.
        apart: settings and versions that are not the same.
        left_out: lines on what only one of them has.
        note: how the tables are read.

    Raises:
        OSError: It cannot be written.
    """
    addresses = {
        "in_first": lambda flip: f"{reports[0]}/{of_question(flip.question_id, flip.model_before)}",
        "in_second": lambda flip: f"{reports[1]}/{of_question(flip.question_id, flip.model)}",
    }
    written(
        "swaymeter.reports.history", "side_by_side.html", "", addresses, card={"name": " and ".join(runs)}, runs=runs,
        reports=reports, flips=flips, differences=differences, apart=apart, left_out=left_out, note=note, most=MOST,
    ).dump(str(file), encoding="utf-8")  # fmt: skip
