import math
from typing import Any

import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from swaymeter.flows.cli.views.audit import measured_of
from swaymeter.reports.estimates import cut_off_sentence, direction, estimate, neither_sentences, server_sentences
from swaymeter.reports.findings import findings
from swaymeter.reports.frames import as_published, units
from swaymeter.reports.tables import TABLES, filled
from tests.reports.study import MODEL, frames, tables

OF_TWO_OR_OWN = (
    "differences-between-models",
    "comparison-of-variants",
    "what-moves-the-answer",
    "passages-by-place",
    "citations-and-persuasion-of-passages",
)
"""Tables that a study of one model on DynamicQA's questions does not have."""


@pytest.mark.parametrize("name", [name for name in TABLES if name not in OF_TWO_OR_OWN])
def test_tables_have_rows_or_say_nothing(known: dict[str, pd.DataFrame], name: str) -> None:
    full, empty = filled(TABLES[name], known), filled(TABLES[name], {})
    assert len(full.rows)
    assert empty.rows.empty
    assert full.caption
    if "model" in full.rows:
        assert f"{MODEL} (float32)" in full.in_common
        assert "model" not in full.shown


def test_two_models_are_compared_and_one_is_not(known: dict[str, pd.DataFrame], two: dict[str, pd.DataFrame]) -> None:
    compared = filled(TABLES["differences-between-models"], two).rows
    assert set(compared["quantity"]) >= {"states the context's answer", "susceptibility"}
    assert set(compared["direction"].dropna()) <= {"undecided", "equal", "larger", "smaller"}
    assert set(compared["against"]) == {f"{MODEL} (float32)"}
    assert filled(TABLES["differences-between-models"], known).rows.empty


def test_partitions_and_contexts_stand_in_their_order(known: dict[str, pd.DataFrame]) -> None:
    table = filled(TABLES["accuracy-entropy-persuasion"], known)
    contexts = ["no context", "any context", "original context", "counter-memory context"]
    assert list(table.rows["context"][:4]) == contexts
    assert list(dict.fromkeys(table.rows["partition"])) == ["static", "temporal", "disputable", "all"]
    assert list(table.rows["n"][:4]) == [10, 20, 10, 10]
    assert "0.1 (semantic entropy) and 0.2 (coherent persuasion) for" in table.caption


def test_a_cell_with_fewer_items_says_its_n(known: dict[str, pd.DataFrame]) -> None:
    means = known["partition_means"].copy()
    few = (means["quantity"] == "accuracy") & (means["partition"] == "all") & (means["condition"] == "none")
    means.loc[few, "n"] = 20
    (row,) = (
        filled(TABLES["accuracy-entropy-persuasion"], {**known, "partition_means": means})
        .rows.query("context == 'no context' and partition == 'all'")
        .to_dict("records")
    )
    assert row["n"] == 30
    assert row["accuracy"].endswith("; n = 20")
    assert "; n = " not in row["semantic entropy"]


def test_a_judge_is_held_against_the_rule(known: dict[str, pd.DataFrame], two: dict[str, pd.DataFrame]) -> None:
    table, judged = filled(TABLES["agreement-with-the-judge"], known), known["judged_greedy_answers"]
    both = judged[judged["verdict"].notna() & judged["rule"].notna()]
    share = f"{100 * (both['verdict'] == both['rule']).mean():.1f}%"
    asked = known["judges_of_answers"].iloc[0]
    said = f"decided {asked['asked'] - asked['unjudged']} of {asked['asked']} undecided answers (no offered verdict)"
    assert f"The judge large {said}; it agrees with the rule in {share} [" in table.caption
    assert f"] of {len(both)} answers of {MODEL} (float32), kappa 0." in table.caption
    assert list(table.rows["against"]) == ["the rule"]
    assert filled(TABLES["agreement-with-the-judge"], two).caption.count("kappa 0.") == 2
    alike = known["agreement_with_the_judge"].assign(kappa=None, kappa_low=None, kappa_high=None)
    undefined = filled(TABLES["agreement-with-the-judge"], {**known, "agreement_with_the_judge": alike})
    assert "kappa undefined: all verdicts are equal" in undefined.caption


def test_means_of_models_have_all_digits(known: dict[str, pd.DataFrame]) -> None:
    rows = filled(TABLES["mean-susceptibility-of-models"], known).rows
    assert list(rows["query_type"]) == ["all", "closed", "open"]
    assert rows["mean"].round(3).ne(rows["mean"]).all()
    assert rows.attrs["units"]["mean"] == "nats"


def test_rejected_candidates_have_reasons_in_words(known: dict[str, pd.DataFrame]) -> None:
    table = filled(TABLES["rejected-questions"], known)
    assert list(table.rows["partition"]) == ["static", "not known yet"]
    assert list(table.rows["example"].fillna("")) == ["Norway", ""]
    assert "It does not count the 30 questions with scores." in table.caption
    unscored = filled(TABLES["rejected-questions"], {"rejected_summary": known["rejected_summary"]})
    assert "the table counts rejected candidates. The database" in unscored.caption


def test_the_ten_most_persuasive_contexts_come_first(known: dict[str, pd.DataFrame]) -> None:
    rows = filled(TABLES["most-persuasive-contexts"], known).rows
    assert list(rows["rank"]) == [*range(1, 11), *range(1, 11)]
    assert list(dict.fromkeys(rows["query_type"])) == ["open", "closed"]
    assert rows["entity_independent_persuasion"][:10].is_monotonic_decreasing


def test_relevant_contexts_of_query_stand_beside_papers(known: dict[str, pd.DataFrame]) -> None:
    rows = filled(TABLES["size-of-the-study"], known).rows.set_index("what")
    row = rows.loc["relevant contexts of a query"]
    assert (row["relations"], row["of_each"]) == (4, "3")  # one of each kind
    assert row["published"].startswith("8 (of 256, Pythia and GPT-2")


@pytest.fixture(scope="module")
def few() -> dict[str, pd.DataFrame]:
    """Every frame of a study of two entities and two questions, which nothing can be tested with."""
    return frames(tables([(MODEL, "float32")], relations=["capital"], entities=2, questions=2))


def test_shares_of_few_answers_are_not_shown(few: dict[str, pd.DataFrame], known: dict[str, pd.DataFrame]) -> None:
    column = f"{MODEL} (float32)"
    shown, enough = (filled(TABLES["models-at-a-glance"], study).rows for study in (few, known))
    follows = "states the context's answer"
    assert set(shown.loc[shown["quantity"] == follows, column]) == {"too few"}
    assert enough.loc[enough["quantity"] == follows, column].str.contains("%").all()


def test_tests_in_short_count_what_the_tests_say(known: dict[str, pd.DataFrame]) -> None:
    relations = [f"relation {number}" for number in range(6)]
    rows = tables([(MODEL, "float32")], relations=relations, entities=4, questions=6)
    six = frames(rows, ["statistics", "statistics_summary"])
    open_relevance = "comparison == 'relevance' and query_type == 'open'"
    tests = as_published(six["statistics"]).query(open_relevance)
    (row,) = as_published(six["statistics_summary"].query(open_relevance)).iloc
    (of_four,) = as_published(known["statistics_summary"].query(open_relevance)).iloc
    assert of_four[["share_low", "share_high", "effect_low", "effect_high"]].isna().all()
    assert (row["asked"], row["tested"], row["untestable"]) == ("relevant > irrelevant", len(tests), 0)
    assert row["significant"] == (tests["p_adjusted"] <= 0.05).sum()
    effects = tests["effect_size"]
    assert row["mean_effect_size"] == pytest.approx(effects.mean())
    interval = [effects.mean() + sign * 1.959964 * effects.sem() for sign in (-1, 1)]
    assert list(row[["effect_low", "effect_high"]]) == pytest.approx(interval)
    wilson = proportion_confint(row["significant"], len(tests), method="wilson")
    assert list(row[["share_low", "share_high"]]) == pytest.approx(wilson)


def test_one_share_has_one_text_everywhere(own: dict[str, pd.DataFrame]) -> None:
    follows = "follows the passage: gives its answer"
    (claim,) = (one for one in findings(own).headline if one.sentence.startswith("With a wrong passage, the model"))
    said = next(number.text for number in claim.numbers if number.label == f"{MODEL} (float32)")
    glance = filled(TABLES["models-at-a-glance"], own).rows.set_index(["quantity", "group"])
    cell = glance.loc[(follows, "wrong"), f"{MODEL} (float32)"]
    partitions = filled(TABLES["shares-persuaded-and-stubborn"], own).rows
    own_partition = f"model == '{MODEL}' and partition == 'all' and context == 'wrong passage'"
    (of_all,) = partitions.query(own_partition).to_dict("records")
    silent = pd.DataFrame(columns=["model", "dtype", "condition", "empty", "undecided", "missing"])
    measured = {(one.model, one.name): one.words for one in measured_of(own["models_side_by_side"], silent)}
    assert said.startswith(f"{cell} of 24 wrong passages")
    assert of_all["follows the passage"] == measured[f"{MODEL} (float32)", "follow.conflicting"] == cell
    assert glance.loc[(follows, "wrong"), "n"] == "24 (12 questions)"


def test_limit_that_nobody_knows_is_not_called_zero() -> None:
    cut = {"model": MODEL, "dtype": "served", "greedy_answers": 9, "unfinished": 2}
    words = [cut_off_sentence(pd.DataFrame([{**cut, "tokens": tokens}])) for tokens in (20, None)]
    assert [text.partition(":")[0] for text in words] == [" Cut off at 20 tokens", " Cut off at the limit of tokens"]


def test_many_variants_are_counted_together() -> None:
    names = [{"model": f"m · {number}", "dtype": "float32"} for number in range(5)]
    cut = [{**name, "greedy_answers": 9, "unfinished": 2 + number, "tokens": 20} for number, name in enumerate(names)]
    assert cut_off_sentence(pd.DataFrame(cut)) == (
        " Cut off at 20 tokens: 20 of 45 greedy answers of 5 variants (2 to 6 of each) (44.4%). They count as they "
        "stand; many may state nothing yet."
    )
    reasons = [
        {**name, "greedy_answers": 9, "reason": reason, "answers": 1 + number}
        for number, name in enumerate(names)
        for reason in ("denied", "empty")
    ]
    assert neither_sentences(pd.DataFrame(reasons)) == (
        " With a context that states an answer, another answer or none is stated by 30 of 45 greedy answers of the 5 "
        "variants with such answers, 2 to 10 of each (denied: 15, empty: 15)."
    )
    servers = pd.DataFrame([{**name, "server": "vllm" if number else "llama.cpp"} for number, name in enumerate(names)])
    assert server_sentences(servers).startswith(
        " Answered at a server: m · 0 (float32): llama.cpp; m · 1 (float32), m · 2 "
    )


def test_a_page_shows_a_number_with_its_interval(two: dict[str, pd.DataFrame]) -> None:
    one = filled(TABLES["differences-between-models"], two)
    assert "model" not in one.shown
    first = one.rows.iloc[0]
    assert one.shown["difference"].iloc[0] == estimate(dict(first), "difference", signed=True)
    assert one.shown["mean"].iloc[0] == f"{100 * first['mean']:.1f}%"
    assert not {"low", "high", "unit"} & {*one.shown}
    several = filled(TABLES["models-side-by-side"], two)
    assert {*several.shown["model"]} == {f"{MODEL} (float32)", f"{MODEL} (bfloat16)"}
    assert {"model", "dtype", "mean", "low", "high", "unit"} <= {*several.rows}


def test_what_all_rows_say_is_said_once() -> None:
    row = {
        "model": "m",
        "dtype": "float32",
        "evidence_set": "all",
        "effect": "date",
        "n": 8,
        "mean_a": 0.5,
        "mean_b": 0.25,
        "difference": 0.25,
        "low": 0.1,
        "high": 0.4,
        "unit": "share",
        "p_adjusted": 0.01,
        "direction": "larger",
        "untestable": None,
    }
    table = TABLES["what-moves-the-answer"]
    one = filled(table, {table.queries[0]: pd.DataFrame([{**row, "kind": kind} for kind in ("a", "b", "c")])})
    assert one.in_common == " All rows: m (float32), all, the newer of a right and a wrong passage, against the older."
    assert list(one.shown.columns) == ["questions", "mean", "against", "difference", "p_adjusted", "direction"]
    assert one.shown["difference"].iloc[0] == "+25.0 points [10.0, 40.0]"


def test_a_model_at_a_server_is_explained(two: dict[str, pd.DataFrame]) -> None:
    means = two["models_side_by_side"]
    names = means[["model", "dtype"]].drop_duplicates()
    servers = names.iloc[:1].assign(server="llama.cpp, prompts are sent as messages")
    for of_table, is_beside in ((servers, True), (names.assign(server="vllm"), False), (names.iloc[:0], False)):
        study = {**two, "served_models": of_table}
        caption = filled(TABLES["models-at-a-glance"], study).caption
        assert ("may differ by the number format" in caption) == is_beside
        said = [text for text in findings(study).caveats if text.startswith("Answered at a server")]
        assert len(said) == bool(len(of_table))
        assert sum(text.count("(float32)") + text.count("(bfloat16)") for text in said) == len(of_table)


def test_what_states_neither_answer_is_counted_by_reason() -> None:
    rows = [("m", "float32", 40, "denied", 7), ("m", "float32", 40, "part of another name", 5)]
    frame = pd.DataFrame(rows, columns=["model", "dtype", "greedy_answers", "reason", "answers"])
    text = neither_sentences(frame)
    assert text == (
        " With a context that states an answer, another answer or none is stated by 12 of 40 greedy answers of m "
        "(float32) (denied: 7, part of another name: 5)."
    )
    assert neither_sentences(frame.iloc[:0]) == ""
    assert neither_sentences(frame.iloc[:1].assign(reason="another answer or none")).endswith(" of m (float32).")


def test_regressions_name_what_is_untestable(known: dict[str, pd.DataFrame], own: dict[str, pd.DataFrame]) -> None:
    rows = filled(TABLES["predictors-of-persuasion"], known).rows
    assert list(rows["partition"].unique()) == ["static", "temporal", "disputable", "all"]
    assert set(rows["untestable"].dropna()) == {"edits, object_popularity: no instance has one"}
    assert rows["beta"].notna().sum() == 2 * 3 * 3 * 6
    assert filled(TABLES["predictors-of-persuasion"], own).rows.empty


def test_every_quantile_has_the_unit_of_its_rows(known: dict[str, pd.DataFrame]) -> None:
    of_forms = units(known["susceptibility_of_forms"])
    assert {of_forms.get(name) for name in ("percentile_5", "median", "percentile_95")} == {"nats"}


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"mean": 0.0, "low": 0.0, "high": 0.138, "unit": "share"}, "0.0% [0.0, 13.8]"),
        ({"mean": 0.225, "low": None, "high": None, "unit": "share"}, "22.5%"),
        ({"mean": 0.00312, "low": 0.0012, "high": 0.0049, "unit": "nats"}, "0.0031 [0.0012, 0.0049]"),
        ({"mean": 0.45, "low": 0.12, "high": 0.79, "unit": "nats", "items": 500}, "0.45 [0.12, 0.79]"),
        ({"mean": 0.45, "low": 0.12, "high": 0.79, "unit": "nats", "items": 5000}, "0.5 [0.1, 0.8]"),
        ({"mean": 12.31, "low": 10.84, "high": 13.92, "unit": "nats"}, "12.3 [10.8, 13.9]"),
        ({"mean": 0.0, "low": 0.0, "high": 0.0, "unit": "nats"}, "0.00 [0.00, 0.00]"),
    ],
)
def test_numbers_have_the_digits_of_their_intervals(row: dict[str, Any], text: str) -> None:
    assert estimate(row) == text


def test_differences_of_shares_are_in_points() -> None:
    row = {"difference": 0.0031, "low": -0.0012, "high": 0.0071, "unit": "share", "margin": 0.05, "direction": "equal"}
    assert estimate(row, "difference", signed=True) == "+0.31 points [-0.12, 0.71]"
    assert direction(row) == "equal ±5 points"
    assert direction({**row, "unit": "nats", "margin": 0.1523}) == "equal ±0.15 nats"
    assert direction({**row, "direction": math.nan, "untestable": "one cluster"}) == "one cluster"  # no row has one


def test_an_effect_without_a_test_says_why() -> None:
    row = {
        "model": MODEL,
        "dtype": "float32",
        "evidence_set": "all",
        "effect": "date",
        "kind": "both",
        "n": 8,
        "mean_a": 0.5,
        "mean_b": 0.25,
        "difference": 0.25,
        "low": None,
        "high": None,
        "unit": "share",
        "p_adjusted": None,
    }
    frame = pd.DataFrame(
        [
            {**row, "direction": math.nan, "untestable": "too few"},
            {**row, "direction": "larger", "untestable": math.nan},
        ]
    )
    table = TABLES["what-moves-the-answer"]
    assert [*filled(table, {table.queries[0]: frame}).rows["direction"]] == ["too few", "larger"]
