import pandas as pd
import pytest

from reports.findings import findings
from reports.frames import checked
from reports.tables import (
    accuracy_entropy_persuasion,
    persuaded_and_stubborn,
    sheets,
    statistics_in_short,
    statistics_of_relations,
)
from tests.reports.frames import study

KNOWN = checked(study(entities=4, questions=30))
EMPTY = checked({})


def _tests(**columns: object) -> dict[str, pd.DataFrame]:
    return {**KNOWN, "statistics": KNOWN["statistics"].assign(**columns)}


def test_accuracy_stands_without_and_with_context_per_partition() -> None:
    rows = accuracy_entropy_persuasion(KNOWN).rows
    assert list(rows["context"][:3]) == ["no context", "original context", "counter-memory context"]
    assert list(dict.fromkeys(rows["partition"])) == ["static", "temporal", "disputable"]
    summary = KNOWN["partition_summary"].set_index(["partition", "condition"])
    assert rows["accuracy"].iloc[0] == summary.loc[("static", "none"), "accuracy"]


def test_shares_are_of_the_measured_instances() -> None:
    answers = KNOWN["answers_of_questions"]
    some = answers.assign(persuaded=answers["persuaded"].astype(object), stubborn=answers["stubborn"].astype(object))
    lost = some.index[(some["partition"] == "static") & (some["condition"] == "original")][:4]
    some.loc[lost, ["persuaded", "stubborn"]] = None
    row = persuaded_and_stubborn({**KNOWN, "answers_of_questions": some}).rows.iloc[0]
    assert (row["instances"], row["measured"]) == (10, 6)
    assert row["share_persuaded"] == pytest.approx(row["persuaded"] / 6)


def test_statistics_in_short_count_what_could_not_be_tested() -> None:
    rows = statistics_in_short(KNOWN).rows.set_index(["comparison", "query_type"])
    assert rows.loc[("relevance", "closed"), "untestable"] == 1
    assert rows.loc[("relevance", "closed"), "tested"] == 7


def test_a_missing_p_value_is_not_significant() -> None:
    rows = statistics_in_short(_tests(p_adjusted=None)).rows
    assert rows["significant"].sum() == 0


def test_every_test_is_in_the_long_table() -> None:
    assert len(statistics_of_relations(KNOWN).rows) == len(KNOWN["statistics"])


def test_tables_of_nothing_are_empty() -> None:
    assert all(sheet.rows.empty for sheet in sheets(EMPTY))


def test_three_sentences_of_numbers_are_said_of_each_model() -> None:
    found = findings(checked(study([("a", "float32"), ("b", "float32")], entities=2, questions=6)))
    assert [one.model for one in found] == ["a (float32)", "b (float32)"]
    assert [len(one.sentences) for one in found] == [3, 3]
    assert all(any(letter.isdigit() for letter in sentence) for one in found for sentence in one.sentences)


def test_a_null_result_is_said() -> None:
    sentences = findings(_tests(p_adjusted=1.0))[0].sentences
    assert "significant in none of 8 relations" in sentences[0]
    assert "significant in none of 8 relations" in sentences[1]


def test_what_was_not_tested_is_said() -> None:
    assert "not tested" in findings({**KNOWN, "statistics": EMPTY["statistics"]})[0].sentences[0]
    assert "untestable in all 8 relations" in findings(_tests(untestable="one group is empty"))[0].sentences[0]


def test_what_was_not_measured_is_said() -> None:
    only = {**EMPTY, "answers_of_questions": KNOWN["answers_of_questions"]}
    said = findings(only)[0].sentences
    assert said[:2] == ("Susceptibility was not measured.", "Persuasion was not measured.")


def test_a_study_without_scores_has_no_findings() -> None:
    assert findings(EMPTY) == []
