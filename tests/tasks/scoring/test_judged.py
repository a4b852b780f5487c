"""Whose answer replies state, against a reading of them: benchmarks/judged."""

import pytest

from benchmarks.whose_answer import JUDGED, RULES, compared, read


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
