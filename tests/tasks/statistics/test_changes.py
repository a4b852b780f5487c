"""Changes between two made-up runs: headline numbers, replies and settings."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.dataset.snapshot import SQL_NAMES, Comparison, Row, Snapshot, _typed
from swaymeter.data.randomness import generator
from swaymeter.tasks.statistics.changes import (
    add_directions,
    compare_items,
    compare_snapshots,
    model_pairs,
    unmatched_items,
)
from swaymeter.tasks.statistics.formulas.groups import adjust
from swaymeter.tasks.statistics.formulas.paired import paired_difference
from tests.data.dataset.test_snapshot import reply, snapshot
from tests.tasks.statistics.test_models import answer

CONDITIONS = ("original", "counter_memory", "none")
QUESTIONS = 40
VERDICTS = ("context", "context", "original", "refusal")


def run(resistance: float = 0.0, *, text: str = "", models: Sequence[str] = ("m1", "m2")) -> Snapshot:
    """Return a run; a share `resistance` of the replies after counter-memory is forced to the original answer."""
    verdicts, forced = generator(0, "world"), generator(0, "night")  # two independent draws
    rows = []
    for model in models:
        for number in range(QUESTIONS):
            for condition in CONDITIONS:
                draw, is_forced = verdicts.integers(4), forced.random() < resistance
                verdict = "original" if is_forced and condition == "counter_memory" else VERDICTS[int(draw)]
                row = answer(model, f"q{number}", condition, verdict)
                rows.append({**row, "question": f"What is {number}?", "texts": text, "answer": verdict})
    return snapshot(rows)


def changes(before: Snapshot, now: Snapshot) -> Sequence[Row]:
    return compare_snapshots(before, now, over_time=True).numbers


def decided(rows: Sequence[Row]) -> list[tuple[str, str, str]]:
    return [
        (row["model"], row["quantity"], row["direction"]) for row in rows if row["direction"] in ("larger", "smaller")
    ]


def test_a_planted_change_is_detected() -> None:
    before, now = run(), run(0.8)
    numbers = changes(before, snapshot([*rows_of(before, "m2"), *rows_of(now, "m1")]))
    assert ("m1", "follows", "smaller") in decided(numbers)
    assert {model for model, *_ in decided(numbers)} == {"m1"}
    (follows,) = [
        row for row in numbers if (row["model"], row["quantity"], row["group"]) == ("m1", "follows", "counter_memory")
    ]
    assert follows["n"] == QUESTIONS
    assert follows["difference"] == follows["mean"] - follows["against_mean"] < 0


def rows_of(source: Snapshot, model: str) -> list[Row]:
    """Return the replies of a model, in the columns from which `snapshot` makes a run."""
    frame = source.select((model, "float32"))["answers_of_questions"]
    return frame.drop(columns="context_id").rename(columns={"context": "context_id"}).to_dict("records")


def test_differences_between_studies_have_the_opposite_sign() -> None:
    over_time, between_studies = (compare_snapshots(run(), run(0.8), over_time=flag).numbers for flag in (True, False))
    assert [row["difference"] for row in between_studies] == [-row["difference"] for row in over_time]
    assert [row["p"] for row in between_studies] == [row["p"] for row in over_time]


@pytest.mark.parametrize(
    ("models", "over_time", "pairs"),
    [
        (("m1", "n"), False, [("m1", "m1")]),
        (("n",), False, [("m1", "n"), ("m2", "n")]),
        (("n",), True, []),
    ],
)
def test_models_of_two_runs_are_paired(models: Any, over_time: bool, pairs: list[tuple[str, str]]) -> None:
    numbers = compare_snapshots(run(), run(models=models), over_time=over_time).numbers
    names = ("model", "against_model")
    assert [*dict.fromkeys(tuple(row[name] for name in names) for row in numbers)] == pairs


def test_single_models_with_different_names_are_compared() -> None:
    (row, *_) = compare_snapshots(run(models=("m",)), run(models=("n",)), over_time=True).numbers
    assert (row["model"], row["against_model"]) == ("n", "m")


def test_items_without_a_counterpart_have_a_reason() -> None:
    incomplete = snapshot(rows_of(run(models=("m1",)), "m1")[3:])  # without the replies to q0
    (phrases,) = unmatched_items(compare_snapshots(run(models=("m1",)), incomplete)).values()
    ((phrase, quantities),) = [item for item in phrases.items() if ("follows", "original") in item[1]]
    assert phrase == "1 of 40 in A not asked in B"
    assert ("correct", "none") in quantities


def test_studies_without_questions_are_compared() -> None:
    row = {"model": "m", "dtype": "float32", "entity": "real", "query_type": "open", "susceptibility": 0.5}
    queries = pd.DataFrame([row | {"query_id": f"q{number}"} for number in range(9)])
    replies = pa.schema((name, pa.string()) for name in run().frames[SQL_NAMES["reply"]]).empty_table().to_pandas()
    study = Snapshot(
        Dataset(Path(), ()), frames={SQL_NAMES["query"]: queries, SQL_NAMES["reply"]: _typed("reply", replies)}
    )
    comparison = compare_snapshots(study, study)
    assert {row["difference"] for row in comparison.numbers} == {0}
    assert unmatched_items(comparison) == {}


def test_items_with_other_texts_are_not_paired() -> None:
    assert changes(run(), run(text="It is Lima.")) == []


def test_unchanged_runs_rarely_show_a_change() -> None:
    def numbers(seed: int) -> list[Row]:
        values = generator(seed, "nights").random((8, 2, 20)) < 0.6  # quantities, runs, answers
        return [
            {
                "model": "m",
                "quantity": str(quantity),
                "unit": "share",
                "mean": now.mean(),
                "against_mean": before.mean(),
                **paired_difference(now.astype(float) - before, range(20), 0, shares=True)._asdict(),
            }
            for quantity, (before, now) in enumerate(values)
        ]

    assert sum(bool(decided(add_directions(adjust(numbers(seed), ())))) for seed in range(100)) <= 5


def test_equal_runs_have_zero_differences() -> None:
    numbers = changes(run(), run())
    assert {row["difference"] for row in numbers if row["n"]} == {0.0}
    assert {row["p"] for row in numbers if row["n"] and not row["untestable"]} == {1.0}


COMPLETED = {"swaymeter": '"1"'}  # the version of the package, a setting of every completed run


def compare(before: Snapshot, after: Snapshot) -> Comparison:
    return compare_items(before, after, model_pairs(before.models, after.models, over_time=False))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"texts": "b", "verdict": "both"}, "asked with other texts"),
        ({"answer": "It is Lima."}, "in other words"),
        ({"coherent_persuasion": 0.6}, "with other scores"),
        ({"verdict": None}, "judged in one run only"),
        ({"model": "n"}, "asked no more"),
        ({"coherent_persuasion": 0.5000001}, None),
    ],
)
def test_a_changed_reply_is_counted_by_kind(values: dict[str, Any], kind: str | None) -> None:
    others = [reply("q2"), reply("q2", "n")]
    comparison = compare(snapshot([reply("q1"), *others]), snapshot([reply("q1") | values, *others]))
    assert comparison.flips == []
    assert comparison.other_replies[kind or ""] == (kind is not None)
    assert comparison.differs == (kind is not None)


def test_a_flipped_reply_has_both_verdicts() -> None:
    before = snapshot([reply("q1"), reply("q2"), reply("q3", verdict=None)])
    (flip,) = compare(before, snapshot([reply("q1", verdict="both", answer=None), reply("q2")])).flips
    assert (flip.question_id, flip.verdict_before, flip.verdict) == ("q1", "context", "both")
    assert (flip.reply_before, flip.reply) == ("Lima", "")
    renamed = compare(before, snapshot([reply("q1", "n", verdict="both"), reply("q2", "o")]))
    assert [(flip.before[0], flip.after[0]) for flip in renamed.flips] == [("m", "n")]


@pytest.mark.parametrize(
    ("before", "now", "names"),
    [
        ({"seed": "0"}, {"seed": "1"}, ["seed"]),
        ({}, {"prompt.system": '"Be brief."'}, ["prompt.system"]),
        ({}, {"answers.samples": "5"}, []),  # an incomplete run stores no parameters
        (COMPLETED, {**COMPLETED, "answers.samples": "5"}, ["answers.samples"]),
        (COMPLETED, {**COMPLETED, "revision of m (float32)": '"1a"'}, []),  # a new model has no earlier revision
        ({"revision of m (float32)": '"1a"'}, {"revision of m (float32)": '"2b"'}, ["revision of m (float32)"]),
    ],
)
def test_different_settings_are_listed(before: dict[str, str], now: dict[str, str], names: list[str]) -> None:
    comparison = compare(snapshot(settings=before), snapshot(settings=now))
    assert [change.name for change in comparison.settings] == names


@pytest.mark.parametrize(
    ("before", "after", "pairs"),
    [
        ("ac", "bc", ["aa", "bb", "cc"]),
        ("a", "b", ["ab"]),
        ("ab", "c", ["aa", "bb", "cc"]),
    ],
)
def test_only_single_models_are_paired_with_their_replacement(before: str, after: str, pairs: list[str]) -> None:
    runs = ([(name, "float32") for name in names] for names in (before, after))
    assert ["".join(name for name, _ in pair) for pair in model_pairs(*runs, over_time=True)] == pairs
