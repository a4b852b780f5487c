"""Agreement with a judge, worked by hand, by kind of answer; and where there is none."""

from typing import Any

import pandas as pd
import pytest

from swaymeter.tasks.statistics.judges import AGREEMENT, AGREEMENT_WITH_JUDGE, KAPPA
from tests.tasks.statistics.rows import row_of

VERDICTS = [
    ("context", "context"), ("context", "neither"), ("neither", "neither"), ("neither", "neither"),
    ("original", "context"), ("context", "context"), (None, "refusal"),
]  # fmt: skip


def rows(kinds: list[str], verdicts: Any = VERDICTS) -> list[dict[str, Any]]:
    frame = pd.DataFrame(
        {"model": "m", "dtype": "float32", "relation": "own", "question_id": f"q{number}", "context_id": "none",
         "subject_key": f"q{number}", "judge": "j", "answer_kind": kind, "verdict": verdict, "rule": rule}
        for number, (kind, (verdict, rule)) in enumerate(zip(kinds, verdicts, strict=True))
    )  # fmt: skip
    return AGREEMENT_WITH_JUDGE.rows({"judged_greedy_answers": frame}, seed=1)


def test_share_and_kappa_are_of_answers_that_were_judged() -> None:
    found = rows(["yes or no"] * 4 + ["name or words"] * 3)
    share, kappa = (row_of(found, quantity=name, group_values=["j", "all"]) for name in (AGREEMENT, KAPPA))
    assert (share["mean"], share["n"], share["prompts"]) == (pytest.approx(4 / 6), 6, 7)
    # a: 3 context, 2 neither, 1 original; b: 3 context, 3 neither
    assert kappa["mean"] == pytest.approx((4 / 6 - 15 / 36) / (1 - 15 / 36))
    assert (share["interval_over"], share["items"], share["unit"], kappa["unit"]) == ("question", 6, "share", "")
    assert share["low"] < share["mean"] < share["high"]
    yes_or_no = row_of(found, quantity=KAPPA, group_values=["j", "yes or no"])
    assert (yes_or_no["n"], yes_or_no["mean"]) == (4, pytest.approx((3 / 4 - 1 / 2) / (1 - 1 / 2)))
    assert (yes_or_no["low"], yes_or_no["interval_over"]) == (None, None)


def test_one_verdict_alone_has_no_kappa() -> None:
    found = rows(["name or words"] * 5, [("context", "context")] * 5)
    share, kappa = (row_of(found, quantity=name, group_values=["j", "all"]) for name in (AGREEMENT, KAPPA))
    assert (share["mean"], kappa["mean"], kappa["low"], kappa["n"]) == (1.0, None, None, 5)


def test_without_any_verdict_there_is_a_count_alone() -> None:
    found = rows(["name or words"] * 2, [(None, "context")] * 2)
    assert {(row["n"], row["prompts"], row["mean"]) for row in found} == {(0, 2, None)}
