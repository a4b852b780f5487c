"""Findings: headline, details, caveats, and their file."""

import dataclasses
import math
import re
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pytest

from swaymeter.data.errors import DamagedFile
from swaymeter.data.records.findings import FINDINGS_FILE, Claim, read_findings, write_findings
from swaymeter.reports.caveats import few_entities
from swaymeter.reports.estimates import significant_relations
from swaymeter.reports.findings import FINDINGS, MAX_HEADLINE, UNCHANGED, Evidence, basis, findings
from swaymeter.reports.frames import Frames, with_empty
from swaymeter.reports.headline import RELATIONS
from swaymeter.reports.report import queries
from tests.reports.study import CARD, MODEL, frames, tables


def headline(frames: Frames) -> list[Claim]:
    return findings(frames).headline


def emptied(frames: Frames, names: Iterable[str]) -> Frames:
    """Return the frames; the frames with these names have no rows."""
    return {**frames, **{name: frames[name].iloc[:0] for name in names}}


def claims_of_questions(frames: Frames) -> list[Claim]:
    """Return the claims about questions whose first named query is in the frames."""
    evidence = Evidence(with_empty(frames, queries()))
    question_findings = (
        finding for finding in FINDINGS if finding.section == "questions" and finding.queries[0] in frames
    )
    return [claim for finding in question_findings if (claim := finding.claim(evidence))]


def test_an_audit_uses_the_words_of_users(own_questions: dict[str, pd.DataFrame]) -> None:
    claims = headline(own_questions)
    wrong = next(claim for claim in claims if "With a wrong passage" in claim.sentence)
    assert wrong.sentence == "With a wrong passage, the model gave the passage's answer in"
    assert [number.label for number in wrong.numbers] == ["other (float32)", f"{MODEL} (float32)"]
    assert wrong.numbers[0].text == "50.0% [29.0, 71.0] of 24 wrong passages, of 12 questions"
    assert wrong.numbers[0].interval == pytest.approx((50.0, 28.97, 71.03), abs=0.01)
    assert not any("persuaded" in claim.sentence or "entropy" in claim.sentence for claim in claims)
    assert basis(own_questions) == "12 questions, 60 passages, 144 greedy answers."


def test_a_replication_uses_the_words_of_papers(study_frames: dict[str, pd.DataFrame]) -> None:
    assert len(headline(study_frames)) <= MAX_HEADLINE
    # The findings on these frames would fill the headline.
    leading = ("susceptibility_by_label", "group_comparisons", "correlations")
    sentences = [claim.sentence for claim in headline(emptied(study_frames, leading))]
    assert any("significantly more than real ones" in sentence for sentence in sentences)
    questions_only = emptied(study_frames, ("susceptibility_summary", "persuasion_summary", *leading))
    means = study_frames["partition_means"]
    unchanged = means[means["quantity"] == "coherent_persuasion"].assign(quantity=UNCHANGED, mean=0.5, low=None)
    following, by_rule, by_kind, uncertain, moved = headline(
        {**questions_only, "partition_means": pd.concat([means, unchanged])}
    )
    assert following.sentence.endswith("the greedy answer stated the context's answer in")
    assert ", and stayed unchanged in " in following.numbers[0].text
    counter_memory = study_frames["outcomes"].query("condition == 'counter_memory'")
    counts = counter_memory["following_stubborn"].sum(), counter_memory["stubborn_by_rule"].sum()
    assert by_rule.numbers[0].text.endswith("{} of these {} state the context's answer".format(*counts))
    assert by_kind.numbers[0].text.endswith("no kind is demonstrated to be easier to sway than another")
    assert uncertain.numbers[0].text.startswith("0.05 [-0.18, 0.29] (not demonstrated), over 60 contexts; ")
    assert "; 0.500 between halves of the answers without a context, so the context adds" in moved.numbers[0].text


@pytest.mark.parametrize(
    ("high", "order"),
    [
        (0.3, "static is easier to sway than temporal (by the 95% interval of each difference, not adjusted)"),
        (0.6, "no kind is demonstrated to be easier"),
    ],
)
def test_kinds_differ_if_their_difference_excludes_zero(high: float, order: str) -> None:
    common = {
        "model": MODEL,
        "dtype": "float32",
        "condition": "counter_memory",
        "quantity": "following",
        "unit": "share",
    }
    means = [
        {**common, "partition": "static", "n": 20, "mean": 0.6, "low": 0.4, "high": 0.8},
        {**common, "partition": "temporal", "n": 20, "mean": 0.2, "low": 0.1, "high": high},
    ]
    outcomes = pd.DataFrame([{"condition": "counter_memory"}])
    claims = claims_of_questions({"partition_means": pd.DataFrame(means), "outcomes": outcomes})
    (claim,) = (claim for claim in claims if "kind" in claim.sentence)
    assert order in claim.numbers[0].text


def test_the_extremes_of_many_models_are_named(own_questions: dict[str, pd.DataFrame]) -> None:
    rows = own_questions["models_side_by_side"]
    rows_of_models = [
        rows[rows["model"] == "other"].assign(model=f"m{number}", mean=number / 10) for number in range(9)
    ]
    advice, first, *_ = headline({**own_questions, "models_side_by_side": pd.concat(rows_of_models)})
    assert advice.numbers == ()
    ends = [(number.label, number.text.partition(" ")[0]) for number in first.numbers]
    assert ends == [("m0 (float32), the lowest of 9", "0.0%"), ("m8 (float32), the highest of 9", "80.0%")]
    equal_rows = pd.concat([rows_of_model.assign(mean=0.5) for rows_of_model in rows_of_models])
    (number,) = headline({**own_questions, "models_side_by_side": equal_rows})[1].numbers
    assert number.label == "each of 9"
    tied = pd.concat([*rows_of_models[:8], rows_of_models[7].assign(model="m8")])
    highest = headline({**own_questions, "models_side_by_side": tied})[1].numbers[1]
    assert highest.label == "2 of 9 have the highest, such as m8 (float32)"


def test_a_share_without_an_interval_has_no_bar(own_questions: dict[str, pd.DataFrame]) -> None:
    rows = own_questions["models_side_by_side"].assign(low=math.nan, high=math.nan)
    numbers = [number for claim in headline({**own_questions, "models_side_by_side": rows}) for number in claim.numbers]
    assert numbers
    assert {number.interval for number in numbers} == {None}
    assert numbers[0].text == "50.0% of 12 questions"
    assert numbers[0].head == "50.0%"


def test_groups_come_with_their_tests() -> None:
    common = {"model": MODEL, "dtype": "float32", "relation": "pair", "query_type": "open", "unit": "nats"}
    no_interval = {"low": math.nan, "high": math.nan}
    means = [
        {**common, "label": label, "type": None, "entities": 4, "mean": mean, **no_interval}
        for label, mean in (("enemy", 0.188), ("friend", 0.193))
    ]
    test = {**common, "within": "all", "n_a": 4, "n_b": 4, "untestable": None}
    tests = [
        {
            **test,
            "comparison": "label",
            "group_a": "enemy",
            "group_b": "friend",
            "mean_a": 0.188,
            "mean_b": 0.193,
            "p_adjusted": 0.686,
        },
        {
            **test,
            "comparison": "context",
            "group_a": "negative",
            "group_b": "positive",
            "mean_a": 0.169,
            "mean_b": 0.156,
            "p_adjusted": 0.03,
        },
    ]
    summary = {**common, "mean": 0.19, "low": math.nan, "high": math.nan, "invented": False}
    frames = {
        **with_empty({}, queries()),
        "susceptibility_by_label": pd.DataFrame(means),
        "group_comparisons": pd.DataFrame(tests),
        "susceptibility_summary": pd.DataFrame([summary]),
    }
    labels, tones = headline(frames)
    assert labels.sentence == "Contexts moved open queries by"
    text = "0.188 nats (enemy) against 0.193 nats (friend), adjusted p = 0.686"
    assert [number.text for number in labels.numbers] == [text]
    assert tones.numbers[0].text == "0.169 (negative), 0.156 (positive) nats, 1 of 1 difference significant"


def test_a_correlation_with_fisher_comes_first(study_frames: dict[str, pd.DataFrame]) -> None:
    rows = study_frames["correlations"]
    correlations = rows[rows["measure_a"] == "fisher"].assign(
        measure_a="fisher_top_k", relation="all", query_type="all"
    )
    first = headline(
        {
            **with_empty({}, queries()),
            "correlations": correlations,
            "susceptibility_summary": study_frames["susceptibility_summary"],
        }
    )[0]
    assert first.sentence.startswith("Rank correlation of susceptibility with Fisher susceptibility")


def test_caveats_stand_in_order(study_frames: dict[str, pd.DataFrame]) -> None:
    caveats = findings(study_frames, CARD).caveats
    words = (
        "Parts of the study are missing: 1 piece",
        "Few items",
        "Few entities",
        "Contexts about other entities",
        "Not to be compared",
        "with a context state another answer or none",
        "replies are without a decision",
        "The judge large decided",
    )
    assert [word in sentence for sentence, word in zip(caveats, words, strict=True)] == [True] * len(words)


def test_caveats_state_the_numbers_of_a_study(study_frames: dict[str, pd.DataFrame]) -> None:
    closed_book = {
        "model": MODEL,
        "dtype": "float32",
        "quantity": "correct",
        "group": "none",
        "unit": "share",
        "n": 40,
        "mean": 0.025,
        "low": 0.004,
        "high": 0.129,
    }
    frames = {
        **study_frames,
        "models_side_by_side": pd.DataFrame([closed_book]),
        "outcomes": study_frames["outcomes"].assign(following_stubborn=3),
        "setup": pd.DataFrame([{"quantity": "questions", "total": 2}]),
        "statistics_summary": study_frames["statistics_summary"].assign(untestable=0),
    }
    caveats = findings(frames, CARD).caveats
    assert "Few items: with 2 questions, no share or mean here can be relied on." in caveats
    assert any(re.match(r"Few entities: \d per group and relation, too few for an interval", text) for text in caveats)
    assert any(text.startswith("Without a context 2.5% [0.4, 12.9] of 40 answers are right: ") for text in caveats)
    assert any(text.startswith("Stubborn by ROUGE-L is not resistance") for text in caveats)


@pytest.mark.parametrize(
    ("entities", "caveat"),
    [
        (4, "4 per group and relation, too few for an interval."),
        (9, "9 per group and relation, and one of them"),
        (10, ""),
    ],
)
def test_few_entities_bring_a_caveat(entities: int, caveat: str) -> None:
    rows = {RELATIONS: pd.DataFrame([{"entities": entities}])}
    assert few_entities(with_empty(rows, queries())).removeprefix("Few entities: ").startswith(caveat)


@pytest.mark.parametrize(
    ("p", "test", "note"),
    [
        # 70 ways to choose 4 of 8 entities; 16 ways to set 4 signs
        (1 / 70, "permutation", ", p = 0.014, the smallest that so few can give"),
        (0.03, "permutation", ""),
        (1 / 16, "sign flip", ", p = 0.062, the smallest that so few can give"),
    ],
)
def test_significance_states_the_number_of_entities(p: float, test: str, note: str) -> None:
    row = {"relation": "capital", "n_a": 4, "n_b": 4, "alternative": "greater", "p": p, "test": test}
    tests = pd.DataFrame([{**row, "p_adjusted": 0.038}, {**row, "relation": "author", "p_adjusted": 0.4}])
    assert significant_relations({"tested": 2, "significant": 1}, tests) == (
        f"1 of 2 relations (capital), with 4 against 4 entities each{note}; adjusted p up to 0.038"
    )


def test_the_share_of_judgements_is_a_caveat(study_frames: dict[str, pd.DataFrame]) -> None:
    judged = pd.DataFrame([{"model": MODEL, "dtype": "float32", "greedy_answers": 40, "judged": 10, "changed": 3}])
    rows = [(2, None), (3, "no such question was asked")]
    judgements = pd.DataFrame(
        [{"file": "v.csv", "row": row, "field": "verdict", "unused": unused} for row, unused in rows]
    )
    caveats = findings(
        {**study_frames, "answers_judged_by_people": judged, "judgements_to_read": judgements}, CARD
    ).caveats
    assert any("(25.0%), 3 of them with another verdict than the rule's" in sentence for sentence in caveats)
    assert any("Judgements that do not count: v.csv, row 3: no such question was asked." in text for text in caveats)


def test_a_study_without_results_has_no_findings() -> None:
    nothing = with_empty({}, queries())
    assert headline(nothing) == []
    assert basis(nothing) == ""
    assert findings(nothing, dataclasses.replace(CARD, not_run=())).caveats == []


@pytest.mark.parametrize(
    ("changed", "start"),
    [
        ({}, "0.40 [0.10, 0.60] (demonstrated), over 30 contexts"),
        ({"subject_low": math.nan, "subject_high": math.nan}, "0.400 (no interval)"),
        ({"pearson": math.nan}, ""),
        ({"n": 19}, ""),
    ],
)
def test_the_entropy_claim_needs_one_measured_model(changed: dict[str, float], start: str) -> None:
    row = {
        "model": MODEL,
        "dtype": "float32",
        "partition": "all",
        "condition": "all",
        "n": 30,
        "pearson": 0.4,
        "measure_a": "semantic_entropy_without",
        "measure_b": "coherent_persuasion",
        "subject_low": 0.1,
        "subject_high": 0.6,
        "low": 0.0,
        "high": 0.7,
    }

    def claim_text(*rows: object) -> str:
        outcomes = pd.DataFrame([{"condition": "counter_memory"}])
        claims = claims_of_questions({"instance_correlations": pd.DataFrame([*rows]), "outcomes": outcomes})
        return "".join(number.text for claim in claims if "entropy" in claim.sentence for number in claim.numbers)

    text = claim_text({**row, **changed})
    assert text.startswith(start)
    assert bool(text) == bool(start)
    assert claim_text(row, {**row, "model": "small", "n": 19}) == ""


def test_effects_of_several_passages_are_claims() -> None:
    effect = {
        "model": "m",
        "dtype": "float32",
        "effect": "position",
        "evidence_set": "all",
        "kind": "supporting",
        "difference": 0.25,
        "low": 0.1,
        "high": 0.4,
        "unit": "share",
        "p_adjusted": 0.01,
        "direction": "larger",
    }
    outcomes = pd.DataFrame([{"condition": "mixed"}])
    (claim,) = claims_of_questions({"passage_effects_summary": pd.DataFrame([effect]), "outcomes": outcomes})
    assert claim.line == (
        "Among several passages the answer is moved by +25.0 points [10.0, 40.0] "
        "(a supporting passage that stands first, against last)"
    )
    length_effect = pd.DataFrame([{**effect, "effect": "length", "kind": "both", "direction": "undecided"}])
    (claim,) = claims_of_questions({"passage_effects_summary": length_effect, "outcomes": outcomes})
    assert claim.line == "Nothing shows that the length of a passage moves the answer (1 test)"


def test_details_name_each_measure(two_dtypes: dict[str, pd.DataFrame]) -> None:
    details = {claim.sentence.partition(" over")[0].rstrip(":"): claim for claim in findings(two_dtypes).details}
    assert {"Mean memorization ratio", "Mean susceptibility", "Mean Fisher susceptibility"} <= details.keys()
    (cost,) = details["Cost of the precision"].numbers
    assert (cost.label, cost.text[:24]) == (f"{MODEL} (bfloat16)", "bfloat16 against float32")
    labels = {number.label for number in details["Mean memorization ratio"].numbers}
    assert labels == {f"{MODEL} (bfloat16)", f"{MODEL} (float32)"}


def test_an_unmeasured_precision_is_named() -> None:
    rows = tables([(MODEL, "bfloat16")], relations=["capital"], entities=4, questions=6)
    scored_rows = {name: rows[name] for name in ("queries", "contexts", "susceptibility")}
    (cost,) = (claim for claim in findings(frames(scored_rows)).details if claim.sentence.startswith("Cost"))
    assert cost.numbers[0].text.startswith("not measured; add `precision: {}`")


def test_findings_survive_their_file(two_dtypes: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    result = findings(two_dtypes, CARD)
    write_findings(result, tmp_path)
    assert read_findings(tmp_path) == result
    assert result.headline
    for content in ("[" * 100_000, '{"headline": 3}', ""):
        (tmp_path / FINDINGS_FILE).write_text(content)
        with pytest.raises(DamagedFile, match=r"findings\.json"):
            read_findings(tmp_path)
