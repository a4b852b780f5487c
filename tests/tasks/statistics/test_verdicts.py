"""Shares of replies by the answer that they state."""

import pandas as pd
import pytest

from swaymeter.tasks.statistics.verdicts import PARTS, parts, shares

# The part of a reply, by its condition and verdict.
CASES = {
    ("supporting", "context"): "right",
    ("supporting", "both"): "right",
    ("supporting", "original"): "neither",
    ("conflicting", "context"): "wrong",
    ("conflicting", "both"): "both",
    ("conflicting", "original"): "right",
    ("mixed", "context"): "wrong",
    ("mixed", "original"): "right",
    ("mixed", "refusal"): "declined",
    ("none", "both"): "right",
    ("none", "context"): "wrong",
    ("none", "neither"): "neither",
    ("unknown", "context"): "passage",
    ("irrelevant", "refusal"): "declined",
}


def replies(rows: list[tuple[str, str]]) -> pd.DataFrame:
    numbered = [
        {"condition": condition, "verdict": verdict, "question_id": f"q {number}", "subject_key": f"q {number}"}
        for number, (condition, verdict) in enumerate(rows)
    ]
    return pd.DataFrame(numbered).assign(
        model="m", dtype="float32", evidence_set=None, passage_order=None, context_id="c", sample=None
    )


def test_condition_and_verdict_determine_the_part() -> None:
    rows = parts(replies([*CASES])).set_index(["condition", "verdict"])["part"].to_dict()
    assert rows == CASES


def test_shares_of_a_group_add_up_to_one() -> None:
    answers = replies([("conflicting", name) for name in ("context", "context", "original", "neither", "refusal")])
    rows = {row["quantity"]: row for row in shares({"stated_answers": answers}, 1)}
    assert [rows[name]["mean"] for name in PARTS] == [0.2, 0.4, 0.0, 0.0, 0.2, 0.2]
    assert rows["wrong"]["low"] == pytest.approx(0.1176, abs=1e-4)  # the lower end of Wilson's interval of 2 of 5
    assert {row["interval_over"] for row in rows.values()} == {"question"}


@pytest.mark.parametrize("condition", ["original", "none"])
def test_study_without_own_questions_has_no_shares(condition: str) -> None:
    assert shares({"stated_answers": replies([(condition, "context")])}, 1) == []
