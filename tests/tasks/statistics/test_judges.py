"""Agreement of a judge with the rule and with people, worked by hand."""

from typing import Any

import pandas as pd
import pytest

from swaymeter.tasks.statistics.judges import AGREEMENT, AGREEMENT_WITH_JUDGE, KAPPA
from tests.tasks.statistics.rows import row_of

VERDICTS = [
    ("context", "context"),
    ("context", "neither"),
    ("neither", "neither"),
    ("neither", "neither"),
    ("original", "context"),
    ("context", "context"),
    (None, "refusal"),
    ("context", None),
]


def rows(verdicts: Any, against: str = "rule") -> list[dict[str, Any]]:
    """Return the agreement over pairs: the judge's verdict, and the verdict of the rule or a person (`against`)."""
    frame = pd.DataFrame(
        {
            "model": "m",
            "dtype": "float32",
            "relation": "own",
            "question_id": f"q{number}",
            "context_id": "none",
            "subject_key": f"q{number}",
            "judge": "j",
            "verdict": verdict,
            "rule": None,
            "person": None,
            against: other,
        }
        for number, (verdict, other) in enumerate(verdicts)
    )
    return AGREEMENT_WITH_JUDGE.rows({"judged_greedy_answers": frame}, seed=1)


@pytest.mark.parametrize("against", ["rule", "person"])
def test_agreement_is_over_answers_with_both_verdicts(against: str) -> None:
    (share, kappa) = (row_of(rows(VERDICTS, against), quantity=name) for name in (AGREEMENT, KAPPA))
    assert (share["mean"], share["n"], share["group_values"]) == (pytest.approx(4 / 6), 6, ["j", against])
    # Judge: 3 context, 2 neither, 1 original. Rule or person: 3 context, 3 neither.
    assert kappa["mean"] == pytest.approx((4 / 6 - 15 / 36) / (1 - 15 / 36))
    assert (share["interval_over"], share["items"], share["unit"], kappa["unit"]) == ("question", 6, "share", "")
    assert share["low"] < share["mean"] < share["high"]


def test_single_verdict_has_no_kappa() -> None:
    share, kappa = (row_of(rows([("context", "context")] * 5), quantity=name) for name in (AGREEMENT, KAPPA))
    assert (share["mean"], kappa["mean"], kappa["low"], kappa["n"]) == (1.0, None, None, 5)


def test_answers_without_both_verdicts_have_no_row() -> None:
    assert rows([(None, "context"), ("context", None)]) == []
