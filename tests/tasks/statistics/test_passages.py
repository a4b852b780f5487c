"""Effects of position, length, date and other passages: planted effects are detected, random verdicts have none."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swaymeter.tasks.statistics.passages import CITATIONS, EFFECTS, MEANS, PERSUASION, QUERY

Rows = list[dict[str, Any]]


def study(rule: str, questions: int = 12, seed: int = 0) -> dict[str, pd.DataFrame]:
    """Return verdicts of a made-up model that follows the right or the wrong passage by a rule, or at random.

    Each question has either passage alone, and both passages with a third passage in every order.
    """
    draws, rows = np.random.default_rng(seed), Rows()
    for number in range(questions):
        longer, newer = number % 2 == 0, number // 2 % 2 == 0
        common = {
            "model": "m",
            "dtype": "float32",
            "relation": "r",
            "question_id": f"q{number}",
            "subject_key": f"q{number}",
            "right_length": 40 if longer else 20,
            "wrong_length": 30,
            "right_date": "2026-03-01" if newer else "2019-01-01",
            "wrong_date": "2022-05-05",
        }
        for kind, right_at, wrong_at in (("supporting", 1, None), ("conflicting", None, 1)):
            rows.append(
                {
                    **common,
                    "right_at": right_at,
                    "wrong_at": wrong_at,
                    "condition": kind,
                    "evidence_set": kind,
                    "passages": 1,
                    "context_id": kind,
                    "verdict": "context",
                }
            )
        for order in itertools.permutations(("right", "wrong", "other")):
            right_at, wrong_at = order.index("right") + 1, order.index("wrong") + 1
            follows_right = {
                "first": right_at < wrong_at,
                "last": right_at > wrong_at,
                "longest": longer,
                "newest": newer,
                "random": bool(draws.random() < 0.5),
            }[rule]
            rows.append(
                {
                    **common,
                    "right_at": right_at,
                    "wrong_at": wrong_at,
                    "condition": "mixed",
                    "passages": 3,
                    "evidence_set": "s+c+i",
                    "context_id": " ".join(order),
                    "verdict": "original" if follows_right else "context",
                }
            )
    return {QUERY: pd.DataFrame(rows)}


def directions(rule: str, seed: int = 0, questions: int = 12) -> dict[tuple[str, str], str]:
    """Return the decided directions by effect and kind, without the effect `beside` of neighbouring passages."""
    rows = EFFECTS.rows(study(rule, questions, seed), seed)
    all_directions = {(row["effect"], row["kind"]): row["direction"] for row in rows if row["effect"] != "beside"}
    return {key: direction for key, direction in all_directions.items() if direction not in ("undecided", None)}


def test_a_planted_effect_is_detected() -> None:
    assert directions("first") == {("position", "supporting"): "larger", ("position", "conflicting"): "larger"}
    assert directions("last") == {("position", "supporting"): "smaller", ("position", "conflicting"): "smaller"}
    assert directions("longest") == {("length", "both"): "larger"}
    assert directions("newest") == {("date", "both"): "larger"}


def test_several_right_passages_are_no_effect_of_length() -> None:
    rows = []
    for number in range(50):
        lengths = (40, 10) if number % 2 else (10, 10)
        for order, length in enumerate(lengths, 1):  # each of the two right passages is first once
            rows.append(
                {
                    "model": "m",
                    "dtype": "float32",
                    "relation": "r",
                    "question_id": f"q{number}",
                    "subject_key": f"q{number}",
                    "right_length": length,
                    "wrong_length": 20,
                    "right_date": None,
                    "wrong_date": None,
                    "right_at": 1,
                    "wrong_at": 3,
                    "condition": "mixed",
                    "passages": 3,
                    "evidence_set": "2 s+c",
                    "context_id": f"c{order}",
                    "verdict": "original",
                }
            )
    (length,) = (row for row in EFFECTS.rows({QUERY: pd.DataFrame(rows)}, 0) if row["effect"] == "length")
    assert length["difference"] == 0


def test_random_verdicts_rarely_show_an_effect() -> None:
    studies = 30
    false_effects = sum(bool(directions("random", seed=seed, questions=10)) for seed in range(studies))
    assert false_effects <= 0.05 * studies


def test_newer_right_passages_are_no_effect_of_dates() -> None:
    frames = study("random", questions=20, seed=1)
    rows = frames[QUERY]
    mixed = rows["condition"] == "mixed"
    rows.loc[mixed, "verdict"] = "original"  # the model always states the right answer
    (date_row,) = [row for row in EFFECTS.rows(frames, 0) if row["effect"] == "date"]
    assert (date_row["difference"], date_row["direction"]) == (pytest.approx(0.0), "undecided")
    rows["right_date"] = "2026-03-01"
    (date_row,) = [row for row in EFFECTS.rows(frames, 0) if row["effect"] == "date"]
    assert date_row["untestable"] == (
        "fewer than 5 questions in which the right passage is longer (or newer), or in which the wrong passage is"
    )
    assert date_row["direction"] is None


def test_effects_match_hand_worked_values() -> None:
    rows = EFFECTS.rows(study("first", questions=6), 0)
    (row,) = [row for row in rows if (row["effect"], row["kind"]) == ("position", "supporting")]
    # The model follows the right passage only if it is first: each question has 1 - 0.
    assert (row["mean_a"], row["mean_b"], row["difference"], row["n"]) == (1.0, 0.0, 1.0, 6)
    assert row["p"] == pytest.approx(2 / 2**6)
    (beside,) = [row for row in rows if (row["effect"], row["kind"]) == ("beside", "conflicting")]
    assert (beside["a"], beside["mean_a"], beside["mean_b"]) == ("in the set", 0.5, 1.0)
    assert (beside["difference"], beside["direction"]) == (-0.5, "smaller")


def test_means_match_hand_worked_values() -> None:
    about = {"model": "m", "dtype": "float32", "condition": "mixed", "subject_key": "q"}
    citations = {"cites": 1.0, "cited_exist": 1.0, "citation_right": None, "names_conflict": 0.0}
    replies = pd.DataFrame([{**about, **citations}, {**about, **citations, "cites": 0.0, "cited_exist": None}])
    persuasion = pd.DataFrame([{**about, "kind": "supporting", "position": "first", "passage_persuasion": 0.5}])
    rows = MEANS.rows({**study("first"), CITATIONS: replies, PERSUASION: persuasion}, 0)
    means = {row["quantity"]: (row["mean"], row["n"]) for row in rows}
    assert means["cites"] == (0.5, 2)
    assert means["cited_exist"] == (1.0, 1)
    assert "citation_right" not in means
    assert means["passage_persuasion"] == (0.5, 1)
    shares = {tuple(row["group_values"]): (row["mean"], row["n"]) for row in rows}
    assert shares["s+c+i", "supporting", "first"] == (1.0, 24)
    assert shares["s+c+i", "supporting", "middle"] == (0.5, 24)
    assert shares["s+c+i", "conflicting", "last"] == (0.0, 24)
    assert shares["conflicting", "conflicting", "alone"] == (1.0, 12)


@pytest.mark.parametrize("date", ["last spring", None, float("nan")])
def test_dates_that_cannot_be_compared_have_no_effect(date: Any) -> None:
    frames = study("newest")
    frames[QUERY]["right_date"] = date
    assert not [row for row in EFFECTS.rows(frames, 0) if row["effect"] == "date"]
