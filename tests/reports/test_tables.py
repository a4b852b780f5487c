import math
from typing import Any

import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from swaymeter.flows.cli.views.audit import measured_quantities
from swaymeter.reports.estimates import cut_off_sentence, direction, estimate, neither_sentences, server_sentences
from swaymeter.reports.findings import findings
from swaymeter.reports.frames import as_published, units
from swaymeter.reports.tables import TABLES, filled
from tests.reports.study import MODEL, frames, tables

TABLES_WITHOUT_ROWS = (
    "differences-between-models",
    "comparison-of-variants",
    "what-moves-the-answer",
    "passages-by-place",
    "citations-and-persuasion-of-passages",
)
"""Tables that need two models or a user's own questions."""


@pytest.mark.parametrize("name", [name for name in TABLES if name not in TABLES_WITHOUT_ROWS])
def test_only_tables_with_frames_have_rows(study_frames: dict[str, pd.DataFrame], name: str) -> None:
    full, empty = filled(TABLES[name], study_frames), filled(TABLES[name], {})
    assert len(full.rows)
    assert empty.rows.empty
    assert full.caption
    if "model" in full.rows:
        assert f"{MODEL} (float32)" in full.in_common
        assert "model" not in full.shown


def test_differences_need_two_models(
    study_frames: dict[str, pd.DataFrame], two_dtypes: dict[str, pd.DataFrame]
) -> None:
    compared = filled(TABLES["differences-between-models"], two_dtypes).rows
    assert set(compared["quantity"]) >= {"states the context's answer", "susceptibility"}
    assert set(compared["direction"].dropna()) <= {"undecided", "equal", "larger", "smaller"}
    assert set(compared["against"]) == {f"{MODEL} (float32)"}
    assert filled(TABLES["differences-between-models"], study_frames).rows.empty


def test_partitions_and_contexts_keep_their_order(study_frames: dict[str, pd.DataFrame]) -> None:
    table = filled(TABLES["accuracy-entropy-persuasion"], study_frames)
    contexts = ["no context", "any context", "original context", "counter-memory context"]
    assert list(table.rows["context"][:4]) == contexts
    assert list(dict.fromkeys(table.rows["partition"])) == ["static", "temporal", "disputable", "all"]
    assert list(table.rows["n"][:4]) == [10, 20, 10, 10]
    standard_errors = "0.1 (semantic entropy) and 0.2 (coherent persuasion) for"
    assert standard_errors in table.caption


def test_cell_with_fewer_items_shows_its_n(study_frames: dict[str, pd.DataFrame]) -> None:
    means = study_frames["partition_means"].copy()
    chosen = (means["quantity"] == "accuracy") & (means["partition"] == "all") & (means["condition"] == "none")
    means.loc[chosen, "n"] = 20
    (row,) = (
        filled(TABLES["accuracy-entropy-persuasion"], {**study_frames, "partition_means": means})
        .rows.query("context == 'no context' and partition == 'all'")
        .to_dict("records")
    )
    assert row["n"] == 30
    assert row["accuracy"].endswith("; n = 20")
    assert "; n = " not in row["semantic entropy"]


def test_judge_is_compared_with_the_rule(
    study_frames: dict[str, pd.DataFrame], two_dtypes: dict[str, pd.DataFrame]
) -> None:
    table = filled(TABLES["agreement-with-the-judge"], study_frames)
    judged = study_frames["judged_greedy_answers"]
    compared = judged[judged["verdict"].notna() & judged["rule"].notna()]
    share = f"{100 * (compared['verdict'] == compared['rule']).mean():.1f}%"
    counts = study_frames["judges_of_answers"].iloc[0]
    decided = (
        f"decided {counts['asked'] - counts['unjudged']} of {counts['asked']} undecided answers (no offered verdict)"
    )
    assert f"The judge large {decided}; it agrees with the rule in {share} [" in table.caption
    assert f"] of {len(compared)} answers of {MODEL} (float32), kappa 0." in table.caption
    assert list(table.rows["against"]) == ["the rule"]
    assert filled(TABLES["agreement-with-the-judge"], two_dtypes).caption.count("kappa 0.") == 2
    equal_verdicts = study_frames["agreement_with_the_judge"].assign(kappa=None, kappa_low=None, kappa_high=None)
    undefined = filled(TABLES["agreement-with-the-judge"], {**study_frames, "agreement_with_the_judge": equal_verdicts})
    assert "kappa undefined: all verdicts are equal" in undefined.caption


def test_means_of_models_are_not_rounded(study_frames: dict[str, pd.DataFrame]) -> None:
    rows = filled(TABLES["mean-susceptibility-of-models"], study_frames).rows
    assert list(rows["query_type"]) == ["all", "closed", "open"]
    assert rows["mean"].round(3).ne(rows["mean"]).all()
    assert rows.attrs["units"]["mean"] == "nats"


def test_rejected_candidates_have_reasons_in_words(study_frames: dict[str, pd.DataFrame]) -> None:
    table = filled(TABLES["rejected-questions"], study_frames)
    assert list(table.rows["partition"]) == ["static", "not known yet"]
    assert list(table.rows["example"].fillna("")) == ["Norway", ""]
    assert "It does not count the 30 questions with scores." in table.caption
    unscored = filled(TABLES["rejected-questions"], {"rejected_summary": study_frames["rejected_summary"]})
    assert "the table counts rejected candidates. The database" in unscored.caption


def test_the_ten_most_persuasive_contexts_come_first(study_frames: dict[str, pd.DataFrame]) -> None:
    rows = filled(TABLES["most-persuasive-contexts"], study_frames).rows
    assert list(rows["rank"]) == [*range(1, 11), *range(1, 11)]
    assert list(dict.fromkeys(rows["query_type"])) == ["open", "closed"]
    assert rows["entity_independent_persuasion"][:10].is_monotonic_decreasing


def test_counts_of_contexts_stand_beside_published_counts(study_frames: dict[str, pd.DataFrame]) -> None:
    rows = filled(TABLES["size-of-the-study"], study_frames).rows.set_index("what")
    row = rows.loc["relevant contexts of a query"]
    assert (row["relations"], row["of_each"]) == (4, "3")  # one context of each kind
    assert row["published"].startswith("8 (of 256, Pythia and GPT-2")


@pytest.fixture(scope="module")
def few() -> dict[str, pd.DataFrame]:
    """Return every frame of a study with two entities and two questions."""
    return frames(tables([(MODEL, "float32")], relations=["capital"], entities=2, questions=2))


def test_shares_of_few_answers_are_not_shown(
    few: dict[str, pd.DataFrame], study_frames: dict[str, pd.DataFrame]
) -> None:
    column = f"{MODEL} (float32)"
    few_rows, many_rows = (filled(TABLES["models-at-a-glance"], study).rows for study in (few, study_frames))
    quantity = "states the context's answer"
    assert set(few_rows.loc[few_rows["quantity"] == quantity, column]) == {"too few"}
    assert many_rows.loc[many_rows["quantity"] == quantity, column].str.contains("%").all()


def test_summary_counts_significant_tests(study_frames: dict[str, pd.DataFrame]) -> None:
    relations = [f"relation {number}" for number in range(6)]
    rows = tables([(MODEL, "float32")], relations=relations, entities=4, questions=6)
    six_relations = frames(rows, ["statistics", "statistics_summary"])
    open_relevance = "comparison == 'relevance' and query_type == 'open'"
    tests = as_published(six_relations["statistics"]).query(open_relevance)
    (row,) = as_published(six_relations["statistics_summary"].query(open_relevance)).iloc
    # Four relations are too few for an interval.
    (row_of_four_relations,) = as_published(study_frames["statistics_summary"].query(open_relevance)).iloc
    assert row_of_four_relations[["share_low", "share_high", "effect_low", "effect_high"]].isna().all()
    assert (row["asked"], row["tested"], row["untestable"]) == ("relevant > irrelevant", len(tests), 0)
    assert row["significant"] == (tests["p_adjusted"] <= 0.05).sum()
    effects = tests["effect_size"]
    assert row["mean_effect_size"] == pytest.approx(effects.mean())
    interval = [effects.mean() + sign * 1.959964 * effects.sem() for sign in (-1, 1)]
    assert list(row[["effect_low", "effect_high"]]) == pytest.approx(interval)
    wilson = proportion_confint(row["significant"], len(tests), method="wilson")
    assert list(row[["share_low", "share_high"]]) == pytest.approx(wilson)


def test_share_has_the_same_text_everywhere(own_questions: dict[str, pd.DataFrame]) -> None:
    quantity = "follows the passage: gives its answer"
    (finding,) = (
        finding
        for finding in findings(own_questions).headline
        if finding.sentence.startswith("With a wrong passage, the model")
    )
    headline = next(number.text for number in finding.numbers if number.label == f"{MODEL} (float32)")
    at_a_glance = filled(TABLES["models-at-a-glance"], own_questions).rows.set_index(["quantity", "group"])
    cell = at_a_glance.loc[(quantity, "wrong"), f"{MODEL} (float32)"]
    partitions = filled(TABLES["shares-persuaded-and-stubborn"], own_questions).rows
    all_wrong_passages = f"model == '{MODEL}' and partition == 'all' and context == 'wrong passage'"
    (all_partitions,) = partitions.query(all_wrong_passages).to_dict("records")
    no_silent_replies = pd.DataFrame(columns=["model", "dtype", "condition", "empty", "undecided", "missing"])
    measured = measured_quantities(own_questions["models_side_by_side"], no_silent_replies)
    audited = {(share.model, share.name): share.words for share in measured}
    assert headline.startswith(f"{cell} of 24 wrong passages")
    assert all_partitions["follows the passage"] == audited[f"{MODEL} (float32)", "follow.conflicting"] == cell
    assert at_a_glance.loc[(quantity, "wrong"), "n"] == "24 (12 questions)"


def test_unknown_token_limit_is_not_called_zero() -> None:
    row = {"model": MODEL, "dtype": "served", "greedy_answers": 9, "unfinished": 2}
    sentences = [cut_off_sentence(pd.DataFrame([{**row, "tokens": tokens}])) for tokens in (20, None)]
    assert [text.partition(":")[0] for text in sentences] == [
        " Cut off at 20 tokens",
        " Cut off at the limit of tokens",
    ]


def test_a_sentence_counts_many_variants_together() -> None:
    variants = [{"model": f"m · {number}", "dtype": "float32"} for number in range(5)]
    cut_off = [
        {**variant, "greedy_answers": 9, "unfinished": 2 + number, "tokens": 20}
        for number, variant in enumerate(variants)
    ]
    assert cut_off_sentence(pd.DataFrame(cut_off)) == (
        " Cut off at 20 tokens: 20 of 45 greedy answers of 5 variants (2 to 6 of each) (44.4%). They count as they "
        "stand; many may state nothing yet."
    )
    reasons = [
        {**variant, "greedy_answers": 9, "reason": reason, "answers": 1 + number}
        for number, variant in enumerate(variants)
        for reason in ("denied", "empty")
    ]
    assert neither_sentences(pd.DataFrame(reasons)) == (
        " With a context that states an answer, 30 of 45 greedy answers of 5 variants (2 to 10 of each) state another "
        "answer or no answer (denied: 15, empty: 15)."
    )
    servers = pd.DataFrame(
        [{**variant, "server": "vllm" if number else "llama.cpp"} for number, variant in enumerate(variants)]
    )
    assert server_sentences(servers).startswith(
        " Answered at a server: m · 0 (float32): llama.cpp; m · 1 (float32), m · 2 "
    )


def test_a_page_shows_a_number_with_its_interval(two_dtypes: dict[str, pd.DataFrame]) -> None:
    differences = filled(TABLES["differences-between-models"], two_dtypes)
    assert "model" not in differences.shown
    first = differences.rows.iloc[0]
    assert differences.shown["difference"].iloc[0] == estimate(dict(first), "difference", signed=True)
    assert differences.shown["mean"].iloc[0] == f"{100 * first['mean']:.1f}%"
    assert not {"low", "high", "unit"} & {*differences.shown}
    side_by_side = filled(TABLES["models-side-by-side"], two_dtypes)
    assert {*side_by_side.shown["model"]} == {f"{MODEL} (float32)", f"{MODEL} (bfloat16)"}
    assert {"model", "dtype", "mean", "low", "high", "unit"} <= {*side_by_side.rows}


def test_common_values_of_rows_are_written_once() -> None:
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
    result = filled(table, {table.queries[0]: pd.DataFrame([{**row, "kind": kind} for kind in ("a", "b", "c")])})
    assert (
        result.in_common
        == " All rows: m (float32); set: all; effect: the newer of a right and a wrong passage, against the older."
    )
    assert list(result.shown.columns) == ["questions", "mean", "against", "difference", "p_adjusted", "direction"]
    assert result.shown["difference"].iloc[0] == "+25.0 points [10.0, 40.0]"


def test_caption_explains_servers_beside_local_models(two_dtypes: dict[str, pd.DataFrame]) -> None:
    means = two_dtypes["models_side_by_side"]
    variants = means[["model", "dtype"]].drop_duplicates()
    servers = variants.iloc[:1].assign(server="llama.cpp, prompts are sent as messages")
    for served_models, is_explained in (
        (servers, True),
        (variants.assign(server="vllm"), False),
        (variants.iloc[:0], False),
    ):
        study = {**two_dtypes, "served_models": served_models}
        caption = filled(TABLES["models-at-a-glance"], study).caption
        assert ("also depend on the server's number format" in caption) == is_explained
        caveats = [text for text in findings(study).caveats if text.startswith("Answered at a server")]
        assert len(caveats) == bool(len(served_models))
        assert sum(text.count("(float32)") + text.count("(bfloat16)") for text in caveats) == len(served_models)


def test_answers_that_state_neither_are_counted_by_reason() -> None:
    rows = [("m", "float32", 40, "denied", 7), ("m", "float32", 40, "part of another name", 5)]
    frame = pd.DataFrame(rows, columns=["model", "dtype", "greedy_answers", "reason", "answers"])
    text = neither_sentences(frame)
    assert text == (
        " With a context that states an answer, 12 of 40 greedy answers of m (float32) state another answer or no "
        "answer (denied: 7, part of another name: 5)."
    )
    assert neither_sentences(frame.iloc[:0]) == ""
    assert neither_sentences(frame.iloc[:1].assign(reason="another answer or none")).endswith(
        " of m (float32) state another answer or no answer."
    )


def test_regressions_name_untestable_predictors(
    study_frames: dict[str, pd.DataFrame], own_questions: dict[str, pd.DataFrame]
) -> None:
    rows = filled(TABLES["predictors-of-persuasion"], study_frames).rows
    assert list(rows["partition"].unique()) == ["static", "temporal", "disputable", "all"]
    assert set(rows["untestable"].dropna()) == {"edits, object_popularity: no instance has one"}
    entropies, testable_partitions, contexts, coefficients = 2, 3, 3, 6
    assert rows["beta"].notna().sum() == entropies * testable_partitions * contexts * coefficients
    assert filled(TABLES["predictors-of-persuasion"], own_questions).rows.empty


def test_quantiles_have_the_unit_of_their_rows(study_frames: dict[str, pd.DataFrame]) -> None:
    units_of_forms = units(study_frames["susceptibility_of_forms"])
    assert {units_of_forms.get(name) for name in ("percentile_5", "median", "percentile_95")} == {"nats"}


@pytest.mark.parametrize(
    ("row", "text"),
    # An interval over many items has fewer bootstrap samples, so its ends have fewer digits.
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
def test_intervals_decide_the_digits_of_numbers(row: dict[str, Any], text: str) -> None:
    assert estimate(row) == text


def test_differences_of_shares_are_in_points() -> None:
    row = {"difference": 0.0031, "low": -0.0012, "high": 0.0071, "unit": "share", "margin": 0.05, "direction": "equal"}
    assert estimate(row, "difference", signed=True) == "+0.31 points [-0.12, 0.71]"
    assert direction(row) == "equal ±5 points"
    assert direction({**row, "unit": "nats", "margin": 0.1523}) == "equal ±0.15 nats"
    # pandas has NaN if no row has a direction.
    assert direction({**row, "direction": math.nan, "untestable": "one cluster"}) == "one cluster"


def test_untested_effect_shows_its_reason() -> None:
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
