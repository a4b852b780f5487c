"""Worked by hand: how far people agree on the same texts."""

from typing import Any

import pandas as pd
import pytest

from swaymeter.tasks.statistics.agreement import AGREEMENT_OF_ANNOTATORS


def people(field: str, *texts: str, **values: Any) -> list[dict[str, Any]]:
    """Agreement on these texts, each with the values of annotators a, b and c."""
    about = {"field": field, "context_id": "c", "variant": "", "sample": "", "problem": None, "is_outvoted": False}
    judgements = [
        {**about, "question_id": f"q{number}", "judged": "a  text", "value": value, "annotator": name, **values}
        for number, text in enumerate(texts)
        for name, value in zip("abc", text, strict=False)
    ]
    return AGREEMENT_OF_ANNOTATORS.rows({"judgements_of_people": pd.DataFrame(judgements)}, seed=1)


def test_people_agree_on_texts_of_several() -> None:
    (row,) = people("verdict", "aa", "aa", "ad", "dd", "a")
    assert (row["field"], row["items"], row["annotators"], row["undefined"]) == ("verdict", 4, ["a", "b"], None)
    assert row["alpha"] == pytest.approx(8 / 15)
    assert people("verdict", "ad", problem="most people say something else", is_outvoted=True)[0]["items"] == 1
    assert people("verdict", "ad", problem="the annotator has no name") == []


def test_the_first_two_choices_of_a_question_count() -> None:
    (choice,), (verdict,) = people("choice", "ada", "dd"), people("verdict", "ada", "dd")
    assert (choice["annotators"], verdict["annotators"]) == (["a", "b"], ["a", "b", "c"])
    assert choice["alpha"] == 0.0


def test_one_value_alone_has_no_alpha() -> None:
    (row,) = people("kind", "aa", "aa")
    assert row["alpha"] is None
    assert row["undefined"] == "all annotators always chose a, so chance agreement is not defined"
