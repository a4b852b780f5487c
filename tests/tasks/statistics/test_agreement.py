"""Agreement of people on the same texts, worked by hand."""

from typing import Any

import pandas as pd
import pytest

from swaymeter.tasks.statistics.agreement import AGREEMENT_OF_ANNOTATORS


def agreement_rows(field: str, *values_of_texts: str, **changes: Any) -> list[dict[str, Any]]:
    """Return the rows on texts; a string has the values of annotators a, b and c for one text."""
    about = {"field": field, "context_id": "c", "variant": "", "sample": "", "problem": None, "is_outvoted": False}
    judgements = [
        {**about, "question_id": f"q{number}", "judged": "a  text", "value": value, "annotator": name, **changes}
        for number, values in enumerate(values_of_texts)
        for name, value in zip("abc", values, strict=False)
    ]
    return AGREEMENT_OF_ANNOTATORS.rows({"judgements_of_people": pd.DataFrame(judgements)}, seed=1)


def test_agreement_is_over_texts_with_several_values() -> None:
    (row,) = agreement_rows("verdict", "aa", "aa", "ad", "dd", "a")
    assert (row["field"], row["items"], row["annotators"], row["undefined"]) == ("verdict", 4, ["a", "b"], None)
    assert row["alpha"] == pytest.approx(8 / 15)
    assert agreement_rows("verdict", "ad", problem="most people say something else", is_outvoted=True)[0]["items"] == 1
    assert agreement_rows("verdict", "ad", problem="the annotator has no name") == []


def test_the_first_two_choices_of_a_question_count() -> None:
    (choice,), (verdict,) = agreement_rows("choice", "ada", "dd"), agreement_rows("verdict", "ada", "dd")
    assert (choice["annotators"], verdict["annotators"]) == (["a", "b"], ["a", "b", "c"])
    assert choice["alpha"] == 0.0


def test_single_value_has_no_alpha() -> None:
    (row,) = agreement_rows("kind", "aa", "aa")
    assert row["alpha"] is None
    assert row["undefined"] == "all annotators always chose a, so chance agreement is not defined"
