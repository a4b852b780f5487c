"""Means of models and differences of models on the same items, worked by hand."""

from typing import Any

import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from swaymeter.tasks.statistics.changes import DIFFERENCES
from swaymeter.tasks.statistics.models import MEANS, items

VERDICTS = {
    "a": ["context", "both", "context", "context", "context", "context"],
    "b": ["neither", "original", "refusal", "neither", "neither", "neither"],
    "a2": ["context", "both", "context", "context", "context", "context"],
    "c": ["context", "context", "context", "context", "neither", "both"],
}


def answer(model: str, question: str, condition: str, verdict: str, **values: Any) -> dict[str, Any]:
    """Return a greedy reply to a question under a condition, with a verdict and without scores."""
    unmeasured = (
        "outcome",
        "coherent_persuasion",
        "coherent_persuasion_unchanged",
        "binary_utilisation",
        "continuous_utilisation",
    )
    return {
        "model": model,
        "dtype": "float32",
        "question_id": question,
        "subject_key": question,
        "condition": condition,
        "context_id": condition,
        "verdict": verdict,
        "partition": "static",
        "answers": 10,
        **dict.fromkeys(unmeasured),
        "states_answer": None if condition == "none" else True,
        **values,
    }


def frames(drop: int = 0, times: int = 1) -> dict[str, pd.DataFrame]:
    """Return susceptibilities, and replies with `times` times the VERDICTS; model c lacks its last `drop` verdicts."""
    answers = [
        answer(model, f"q{number}", condition, "original" if condition == "none" else verdict)
        for model, verdicts in VERDICTS.items()
        for number, verdict in enumerate(times * verdicts[: len(verdicts) - (drop if model == "c" else 0)])
        for condition in ("none", "counter_memory")
    ]
    queries = [
        {
            "model": model,
            "dtype": "float32",
            "relation": ("capital", "currency")[number],
            "entity": entity,
            "query_type": "open",
            "query_id": f"{entity}{number}",
            "susceptibility": value,
        }
        for model, value in (("a", 1.0), ("b", 3.0))
        for entity in ("Norway", "Peru")
        for number in range(2)
    ]
    return {"answers_of_questions": pd.DataFrame(answers), "susceptibility_of_queries": pd.DataFrame(queries)}


def difference(quantity: str, first: str, second: str, **options: Any) -> dict[str, Any]:
    rows = DIFFERENCES.rows(frames(**options), 0)
    assert DIFFERENCES.table.of(rows).num_rows == len(rows)
    (row,) = [
        row
        for row in rows
        if (row["quantity"], row["model"], row["against_model"]) == (quantity, first, second)
        and row["condition"] in ("counter_memory", "all")
    ]
    return row


def test_a_model_that_follows_more_is_larger() -> None:
    row = difference("follows", "a", "b")
    assert (row["mean"], row["against_mean"], row["difference"]) == (1, 0, 1)
    assert (row["n"], row["clusters"], row["p"]) == (6, 6, 2 / 2**6)
    assert row["p_adjusted"] > 0.05
    assert row["direction"] == "undecided"  # p exceeds 0.05 after adjustment over all comparisons
    assert difference("follows", "a", "b", times=2)["direction"] == "larger"


def test_models_are_equal_only_within_the_margin() -> None:
    few, many = difference("follows", "a", "a2"), difference("follows", "a", "a2", times=30)
    assert (few["difference"], many["difference"]) == (0, 0)
    assert (few["direction"], many["direction"], many["margin"]) == ("undecided", "equal", 0.05)
    assert 0 < many["high"] < 0.05 < few["high"]
    assert difference("follows", "a", "c")["direction"] == "undecided"


def test_p_is_adjusted_over_all_verdicts() -> None:
    rows = DIFFERENCES.rows(frames(times=2), 0)
    p_values = [row["p"] for row in rows if row["p"] is not None]
    (row,) = [row for row in rows if (row["quantity"], row["model"], row["against_model"]) == ("follows", "a", "b")]
    assert len({row["quantity"] for row in rows}) > 2
    assert row["p_adjusted"] == pytest.approx(stats.false_discovery_control(p_values)[p_values.index(row["p"])])


def test_only_items_of_both_models_are_compared() -> None:
    row = difference("follows", "b", "c", drop=2)
    assert (row["n"], row["mean"], row["against_mean"]) == (4, 0, 1)
    assert difference("follows", "b", "c", times=3)["direction"] == "smaller"


def test_queries_of_all_relations_are_clustered_by_entity() -> None:
    row = difference("susceptibility", "a", "b")
    assert (row["n"], row["clusters"], row["difference"], row["unit"]) == (4, 2, -2, "nats")


def test_means_of_models_have_intervals() -> None:
    rows = MEANS.rows(frames(), 0)
    assert MEANS.table.of(rows).num_rows == len(rows)
    means = {(row["model"], row["quantity"], *row["group_values"]): row for row in rows}
    row = means["c", "follows", "counter_memory"]
    assert (row["n"], row["mean"]) == (6, 5 / 6)
    assert (row["low"], row["high"]) == pytest.approx(proportion_confint(5, 6, method="wilson"))
    assert row["interval_over"] == "question"
    assert means["b", "refuses", "counter_memory"]["mean"] == 1 / 6
    assert means["a", "correct", "none"]["mean"] == 1


@pytest.mark.parametrize("conditions", [["none", "counter_memory"], ["none"]])
@pytest.mark.parametrize(("samples", "quantity_count"), [(4, 0), (5, 1), (9, 1), (10, 2)])
def test_persuasion_of_few_samples_is_no_finding(samples: int, quantity_count: int, conditions: list[str]) -> None:
    quantities = ("coherent_persuasion", "coherent_persuasion_unchanged")
    data = frames()
    answers = data["answers_of_questions"].assign(**dict.fromkeys(quantities, 1.0))
    data["answers_of_questions"] = answers.assign(
        answers=answers["answers"].mask(answers["condition"].isin(conditions), samples)
    )
    assert {row["quantity"] for row in MEANS.rows(data, 0)} & {*quantities} == {*quantities[:quantity_count]}
    # Models are not compared by coherent_persuasion_unchanged.
    compared = {row["quantity"] for row in DIFFERENCES.rows(data, 0)} & {*quantities}
    assert compared == {*quantities[: min(quantity_count, 1)]}


def test_ids_with_spaces_are_not_confused() -> None:
    data = frames()
    answers = data["answers_of_questions"].query("model in ('a', 'b') and question_id in ('q0', 'q1')")
    ids = {"q0": ("q", "1 c"), "q1": ("q 1", "c")}
    answers = answers.assign(
        subject_key="s",
        context_id=[ids[name][1] for name in answers["question_id"]],
        question_id=[ids[name][0] for name in answers["question_id"]],
    )
    assert {row["n"] for row in DIFFERENCES.rows({**data, "answers_of_questions": answers}, 0)} == {2, 4}


def test_answer_without_an_outcome_is_not_counted() -> None:
    answers = frames()["answers_of_questions"]
    answers = answers[answers["condition"] == "counter_memory"].assign(condition="irrelevant", outcome="stubborn")
    answers.loc[answers["question_id"] == "q0", "outcome"] = None  # the closed-book thoughts did not end
    frame = dict(items({**frames(), "answers_of_questions": answers}))["keeps"]
    assert "q0" not in frame["cluster"].tolist()
    assert frame["value"].tolist() == [1.0] * 5 * len(VERDICTS)


BIAS_CASES = {  # verdict closed-book, verdict and outcome with the original context, verdict with counter-memory
    "q0": ("original", "context", "agreed", "context"),  # right, then follows the counter-memory
    "q1": ("original", "context", "agreed", "original"),  # right, and stays right
    "q2": ("original", "context", "agreed", "both"),
    "q3": ("original", "context", "agreed", "refusal"),
    "q4": ("context", "neither", "stubborn", "context"),  # wrong, and stays wrong
    "q5": ("neither", "context", "persuaded", "context"),  # wrong, then follows the original context
    "q6": ("neither", "neither", "other", "context"),  # wrong, then another wrong answer
    "q7": ("refusal", "refusal", "stubborn", "context"),  # no closed-book answer to keep
    "q8": ("both", "context", "agreed", "context"),  # right and wrong, so no context disagrees
}


def bias_frames(renamed: dict[str, str]) -> dict[str, pd.DataFrame]:
    answers = [
        answer(
            "m",
            question,
            renamed.get(condition, condition),
            verdict,
            context_id=condition,
            states_answer=True,
            outcome=outcome if condition == "original" else None,
        )
        for question, (closed_book, original, outcome, counter) in BIAS_CASES.items()
        for condition, verdict in (("none", closed_book), ("original", original), ("counter_memory", counter))
    ]
    return {**frames(), "answers_of_questions": pd.DataFrame(answers)}


@pytest.mark.parametrize("renamed", [{}, {"original": "supporting", "counter_memory": "conflicting"}])
def test_biases_cover_questions_with_one_right_side(renamed: dict[str, str]) -> None:
    rows = {(row["quantity"], row["group_values"][0]): row for row in MEANS.rows(bias_frames(renamed), 0)}
    context = rows["context_bias", renamed.get("counter_memory", "counter_memory")]
    prior = rows["prior_bias", renamed.get("original", "original")]
    assert (context["n"], context["mean"]) == (4, 1 / 4)
    assert (prior["n"], prior["mean"]) == (3, pytest.approx(1 / 3))
    assert len([name for name, _ in rows if name.endswith("_bias")]) == 2


def test_each_answer_counts_once() -> None:
    verdicts = {"a": ("context", "neither"), "b": ("neither", "context")}
    answers = [
        # The first letter of a context's name is its question: q has one context, p has nine.
        answer(model, name[0], "conflicting", first if name == "q1" else other, context_id=name)
        for model, (first, other) in verdicts.items()
        for name in ("q1", *(f"p{number}" for number in range(9)))
    ]
    data = {**frames(), "answers_of_questions": pd.DataFrame(answers)}
    (row,) = [row for row in DIFFERENCES.rows(data, 0) if row["quantity"] == "follows"]
    assert (row["n"], row["clusters"], row["mean"], row["against_mean"]) == (10, 2, 0.1, 0.9)


def test_only_disputable_questions_of_dynamicqa_lack_right_answer() -> None:
    for condition, has_right_answer in (("counter_memory", False), ("conflicting", True)):
        data = frames()
        answers = data["answers_of_questions"].assign(partition="disputable")
        data["answers_of_questions"] = answers.assign(
            condition=answers["condition"].replace({"counter_memory": condition})
        )
        quantities = {row["quantity"] for row in MEANS.rows(data, 0)}
        assert ("correct" in quantities, "context_bias" in quantities) == (has_right_answer, has_right_answer)
        assert "follows" in quantities
