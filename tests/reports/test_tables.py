import numpy as np
import pandas as pd
import pytest

from data.reasons import REASONS
from reports.findings import findings
from reports.frames import checked
from reports.tables import (
    accuracy_entropy_persuasion,
    agreement_of_measures,
    most_persuasive_contexts,
    persuaded_and_stubborn,
    sheets,
    statistics_in_short,
    statistics_of_relations,
    what_became_no_question,
    what_became_of_answers,
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


def test_the_standard_error_of_one_score_is_said_of_each_model() -> None:
    frames = checked(study([("a", "float32"), ("b", "float32")], entities=2, questions=6))
    answers = frames["answers_of_questions"]
    answers.loc[answers["model"] == "b", "semantic_entropy_standard_error"] = None
    answers["coherent_persuasion_standard_error"] = (
        answers["coherent_persuasion"].where(answers["model"] == "a") * 0 + 0.5
    )
    caption = accuracy_entropy_persuasion(frames).caption
    assert (
        "score, from half-samples of its answers: 0.2 (semantic entropy) and 0.5 (coherent persuasion) for a (float32)."
        in caption
    )
    assert "for b (float32)" not in caption


def test_nothing_is_said_of_standard_errors_where_there_are_none() -> None:
    answers = KNOWN["answers_of_questions"]
    none = answers.assign(semantic_entropy_standard_error=np.nan, coherent_persuasion_standard_error=np.nan)
    sheet = accuracy_entropy_persuasion({**KNOWN, "answers_of_questions": none})
    assert sheet.caption.endswith("there is no persuasion without a context.")


def test_what_became_of_the_answers_is_counted_per_partition_and_context() -> None:
    rows = what_became_of_answers(KNOWN).rows
    assert list(rows["context"][:3]) == ["no context", "original context", "counter-memory context"]
    answers = KNOWN["answers_of_questions"]
    asked = answers[(answers["partition"] == "static") & (answers["condition"] == "original")]
    row = rows.iloc[1]
    assert (row["partition"], row["questions"], row["answers"]) == ("static", len(asked), asked["answers"].sum())
    assert 0 < row["contexts_cut"] == (asked["context_cut"] > 0).sum() < len(asked)
    for name in ("empty_answers", "unfinished_answers"):
        assert 0 < row[name] == asked[name].sum()
    assert row["groups"] == asked["groups"].mean()


def test_what_became_no_question_is_counted_with_its_reason_in_words() -> None:
    sheet = what_became_no_question(KNOWN)
    said = list(zip(sheet.rows["partition"], sheet.rows["reason"], sheet.rows["candidates"], strict=True))
    assert said == [
        ("static", "not_mentioned", 9),
        ("static", "no_replacement", 4),
        ("temporal", "not_mentioned", 1),
        ("disputable", "anonymous_editor", 31),
        ("not known yet", "subject_missing", 5),
    ]
    assert list(sheet.rows["relations"]) == [2, 1, 1, 1, 1]
    assert list(sheet.rows["meaning"]) == [REASONS[reason] for _, reason, _ in said]
    assert sheet.rows["example"][0] == "Kopernik, revision 12"
    assert f"{KNOWN['answers_of_questions']['question_id'].nunique()} questions with scores" in sheet.caption
    assert what_became_no_question(EMPTY).rows.empty


def test_what_was_not_sampled_did_not_become_anything() -> None:
    summary = KNOWN["partition_summary"]
    lost = summary["condition"] == "none"
    some = {**KNOWN, "partition_summary": summary.assign(answers=summary["answers"].mask(lost))}
    assert "no context" not in set(what_became_of_answers(some).rows["context"])


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


def test_the_most_persuasive_contexts_stand_in_their_words_ten_a_query_type() -> None:
    rows = most_persuasive_contexts(KNOWN).rows
    given = KNOWN["entity_independent_of_contexts"]
    score = "entity_independent_persuasion"
    open_ones = given[given["query_type"] == "open"].groupby("context")[score].mean().sort_values(ascending=False)
    assert list(rows["context"][:10]) == list(open_ones.index[:10])
    assert list(rows[score][:10]) == pytest.approx(list(open_ones[:10]))
    assert list(rows["rank"]) == [*range(1, 11)] * 2


def test_every_correlation_is_in_the_table_of_agreement() -> None:
    rows = agreement_of_measures(KNOWN).rows
    assert len(rows) == (KNOWN["agreement"]["level"] != "entity").sum()
    assert list(rows["query_type"][:3]) == ["open", "closed", "all"]


def test_tables_of_nothing_are_empty() -> None:
    assert all(sheet.rows.empty for sheet in sheets(EMPTY))


def test_sentences_of_numbers_are_said_of_each_model() -> None:
    found = findings(checked(study([("a", "float32"), ("b", "float32")], entities=2, questions=6)))
    assert [one.model for one in found] == ["a (float32)", "b (float32)"]
    assert [len(one.sentences) for one in found] == [6, 6]
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


def test_what_a_reduced_format_costs_is_said_or_that_it_was_not_measured() -> None:
    frames = checked(study([("a", "bfloat16"), ("b", "float32")], entities=2, questions=6))
    rows = frames["precision_of_queries"]
    largest = (rows["susceptibility"] - rows["susceptibility_reference"]).abs().max()
    reduced, full = findings(frames)
    assert f"bfloat16 against float32 on {len(rows)} sampled queries" in reduced.sentences[-1]
    assert f"at most {largest:.2g}; Spearman" in reduced.sentences[-1]
    assert not any("format" in sentence or "precision" in sentence for sentence in full.sentences)
    without = findings({**frames, "precision_of_queries": rows.iloc[:0]})[0].sentences
    assert "What bfloat16 costs against float32 was not measured: `precision: {}` under `measures`" in without[-1]


def test_further_measures_are_spoken_of_only_where_they_were_made() -> None:
    only = ("susceptibility_of_queries", "persuasion_by_kind", "answers_of_questions", "statistics")
    assert len(findings({**EMPTY, **{name: KNOWN[name] for name in only}})[0].sentences) == 3


def test_memorization_is_over_the_queries_that_have_a_ratio() -> None:
    rows = KNOWN["memorization_of_queries"]
    ratios = rows.loc[rows["query_type"] == "open", "memorization_ratio"].dropna()
    said = findings(KNOWN)[0].sentences[3]
    assert f"{ratios.mean():.2f} over {len(ratios)} of 128 open queries" in said
    none = findings({**KNOWN, "memorization_of_queries": rows.assign(memorization_ratio=np.nan)})[0].sentences[3]
    assert "undefined over 0 of 128 open queries" in none
