"""The claims that a page opens with, what they rest on, and what to distrust."""

import dataclasses
import math

import pandas as pd
import pytest

from swaymeter.reports.distrust import distrust
from swaymeter.reports.findings import UNCHANGED
from swaymeter.reports.frames import with_empty
from swaymeter.reports.headline import MOST_CLAIMS, basis, claims
from swaymeter.reports.report import queries
from tests.reports.study import CARD, MODEL


def test_an_audit_is_told_in_words_of_its_user(own: dict[str, pd.DataFrame]) -> None:
    said = claims(own)
    wrong = next(claim for claim in said if "a wrong passage" in claim.sentence)
    assert wrong.sentence == "With a wrong passage it gave the passage's answer in"
    assert [number.of for number in wrong.numbers] == ["other (float32)", f"{MODEL} (float32)"]
    assert wrong.numbers[0].text == "50.0% [29.0, 71.0] of 24 wrong passages, of 12 questions"
    assert wrong.numbers[0].ends == pytest.approx((50.0, 28.97, 71.03), abs=0.01)
    assert not any("persuaded" in claim.sentence or "entropy" in claim.sentence for claim in said)
    assert basis(own).startswith("12 questions, 60 passages, 144 greedy answers; asked of other (float32), ")


def test_a_replication_is_told_in_words_of_its_paper(known: dict[str, pd.DataFrame]) -> None:
    said = [claim.sentence for claim in claims(known)]
    assert len(said) <= MOST_CLAIMS
    assert any("(persuaded, by the paper's rule" in sentence for sentence in said)
    of_queries = ("susceptibility_in_short", "persuasion_in_short", "susceptibility_by_label", "correlations")
    alone = {**known, **{name: known[name].iloc[:0] for name in of_queries}}
    means = known["partition_means"]
    same = means[means["quantity"] == "coherent_persuasion"].assign(quantity=UNCHANGED, mean=0.5, low=None)
    moved = claims({**alone, "partition_means": pd.concat([means, same])})[-1]
    assert all(number.text.endswith("against 0.500 where nothing changes") for number in moved.numbers)
    assert any("invented entities" in sentence for sentence in said)


def test_of_many_models_the_least_and_the_most_are_said(own: dict[str, pd.DataFrame]) -> None:
    rows = own["models_side_by_side"]
    many = [rows[rows["model"] == "other"].assign(model=f"m{number}", mean=number / 10) for number in range(9)]
    advice, first, *_ = claims({**own, "models_side_by_side": pd.concat(many)})
    assert advice.numbers == ()
    ends = [(number.of, number.text.partition(" ")[0]) for number in first.numbers]
    assert ends == [("m0 (float32), the lowest of 9", "0.0%"), ("m8 (float32), the highest of 9", "80.0%")]
    alike = pd.concat([of_one.assign(mean=0.5) for of_one in many])
    (number,) = claims({**own, "models_side_by_side": alike})[1].numbers
    assert number.of == "each of 9"
    tied = pd.concat([*many[:8], many[7].assign(model="m8")])
    highest = claims({**own, "models_side_by_side": tied})[1].numbers[1]
    assert highest.of == "2 of 9 have the highest, such as m8 (float32)"


def test_a_share_without_an_interval_has_no_bar(own: dict[str, pd.DataFrame]) -> None:
    rows = own["models_side_by_side"].assign(low=math.nan, high=math.nan)
    said = [number for claim in claims({**own, "models_side_by_side": rows}) for number in claim.numbers]
    assert said
    assert {number.ends for number in said} == {None}
    assert said[0].text == "50.0% of 12 questions"
    assert said[0].head == "50.0%"


def test_what_to_distrust(known: dict[str, pd.DataFrame]) -> None:
    said = distrust(CARD, known, claims(known))
    starts = ("Parts of the study are missing: 1 piece", "Few items", "Few entities", "A stand-in", "Neither answer",
              "The judge large agrees")  # fmt: skip
    assert [sentence.startswith(start) for sentence, start in zip(said, starts, strict=True)] == [True] * len(starts)


def test_share_of_verdicts_by_hand_is_said(known: dict[str, pd.DataFrame]) -> None:
    judged = pd.DataFrame([{"model": MODEL, "dtype": "float32", "greedy_answers": 40, "by_hand": 10, "changed": 3}])
    verdicts = pd.DataFrame([{"row": 1, "unused": None}, {"row": 2, "unused": "no such question was asked"}])
    said = distrust(CARD, {**known, "answers_judged_by_hand": judged, "verdicts_to_read": verdicts}, claims(known))
    assert any("(25.0%), of which the rule said something else of 3" in sentence for sentence in said)
    assert "Verdicts by hand that count for no answer: row 2, no such question was asked." in said


def test_nothing_is_distrusted_without_a_reason() -> None:
    nothing = with_empty({}, queries())
    assert claims(nothing) == []
    assert basis(nothing) == ""
    assert distrust(dataclasses.replace(CARD, not_run=()), nothing, []) == []
