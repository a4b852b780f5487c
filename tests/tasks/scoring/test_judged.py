"""Whose answer replies state, against a reading of them: benchmarks/judged, and cases of each kind."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.whose_answer import JUDGED, RULES, compared, read
from swaymeter.tasks.scoring.followed import whose_answer

CASES = Path(__file__).with_name("whose_answer_cases.txt")


@pytest.mark.parametrize(
    ("file", "split", "precision", "recall"),
    [
        ("smollm2-135m-instruct", "tuning", 0.98, 0.98), ("kinds", "tuning", 0.99, 0.99),
        ("further", "tuning", 0.98, 0.94), ("further", "held out", 0.93, 0.83),
    ],
)  # fmt: skip
def test_judged_answers(file: str, split: str, precision: float, recall: float) -> None:
    rows = [row for row in read(JUDGED / f"{file}.csv") if row["split"] == split]
    shares = compared(rows, RULES["whose_answer"], ["context", "original"])
    assert shares["precision"]["share"] >= precision
    assert shares["recall"]["share"] >= recall


@pytest.mark.parametrize("kind", sorted({row["kind"] for row in read(JUDGED)}))
def test_judged_answers_of_each_kind(kind: str) -> None:
    rows = [row for row in read(JUDGED) if row["kind"] == kind]
    shares = compared(rows, RULES["whose_answer"], ["context", "original"])
    assert shares["precision"]["share"] >= 0.95
    assert shares["recall"]["share"] >= 0.92


def cases_of_kinds() -> Iterator[Any]:
    """The lines of the table of cases, by kind: right, context, original, reply, question."""
    kind = ""
    for number, line in enumerate(CASES.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("=="):
            kind = line.removeprefix("== ")
        elif line and not line.startswith("#"):
            yield pytest.param(*(cell.strip() for cell in f"{line} ".split(" | ")), id=f"{kind} {number}")


@pytest.mark.parametrize(("expected", "context", "original", "answer", "question"), list(cases_of_kinds()))
def test_cases_of_each_kind(expected: str, context: str, original: str, answer: str, question: str) -> None:
    sides = {"context": context.split(" / "), "original": original.split(" / ") if original else []}
    assert whose_answer(answer, **sides, question=question) == expected
