"""Snapshots, and the items of two snapshots that changed."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from swaymeter.data.dataset.comparison import (
    COLUMNS,
    FRAMES,
    IDS,
    Comparison,
    Snapshot,
    _settings,
    _typed,
    compare_items,
    model_pairs,
)
from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.errors import DamagedFile
from tests.data.a_dataset import KENYA, NORWAY, question

SIDES = {"verdict": "context", "answer": "Lima", "answers": 10, "coherent_persuasion": 0.5}
DONE = {"swaymeter": '"1"'}


def snapshot(replies: Iterable[Mapping[str, Any]] = (), **values: Any) -> Snapshot:
    """A snapshot of these replies, whose context_id is that of the context; values: of the snapshot."""
    columns = ["model", "dtype", *IDS["reply"], *COLUMNS["reply"]]
    rows = [{"question": "Who?", **row, "context": row["context_id"]} for row in replies]
    frame = pd.DataFrame(rows, columns=columns)
    empty = Snapshot(Dataset(Path(), ())).frames
    return Snapshot(**{"sources": Dataset(Path(), ()), **values,
                       "frames": {**empty, FRAMES["reply"]: _typed("reply", frame)}})  # fmt: skip


def reply(name: str, model: str = "m", texts: str = "a", **values: Any) -> dict[str, Any]:
    about = {"model": model, "dtype": "float32", "question_id": name, "context_id": "c", "texts": texts}
    return {**about, **SIDES, **values}


def compared(before: Snapshot, after: Snapshot) -> Comparison:
    return compare_items(before, after, model_pairs(before.models, after.models, over_time=False))


def test_items_give_the_snapshot_back() -> None:
    sources = Dataset(Path(), (NORWAY, KENYA), (), (question(),))
    items = snapshot([reply("q1"), reply("q2", verdict=None)], sources=sources, settings={"seed": "0"}).items()
    again = Snapshot.from_items(items)
    assert again.items() == items
    assert (len(again.sources.facts), len(again.sources.questions), again.settings) == (2, 1, {"seed": "0"})


@pytest.mark.parametrize("state", ["[" * 100_000, "[1]", "{", '"text"', "1" * 5_000])
def test_a_foreign_item_or_prompt_is_an_object(state: str) -> None:
    with pytest.raises(DamagedFile, match=r"study\.duckdb has a prompt that is not a JSON object"):
        _settings([{"prompt_name": None, "prompt": state}], "study.duckdb")
    with pytest.raises(DamagedFile, match="an item that cannot be read"):
        Snapshot.from_items({("reply", "m", "float32", "q\x1fc"): state})


@pytest.mark.parametrize(
    ("now", "sort"),
    [
        ({"texts": "b", "verdict": "both"}, "asked with other texts"),
        ({"answer": "It is Lima."}, "in other words"),
        ({"coherent_persuasion": 0.6}, "with other sampled replies"),
        ({"verdict": None}, "judged in one run only"),
        ({"model": "n"}, "asked no more"),
        ({"coherent_persuasion": 0.5000001}, None),
    ],
)
def test_a_changed_reply_is_counted_by_its_sort(now: dict[str, Any], sort: str | None) -> None:
    others = [reply("q2"), reply("q2", "n")]
    found = compared(snapshot([reply("q1"), *others]), snapshot([reply("q1") | now, *others]))
    assert found.flips == []
    assert found.others[sort or ""] == (sort is not None)
    assert found.differs == (sort is not None)


def test_a_flipped_reply_has_both_verdicts() -> None:
    before = snapshot([reply("q1"), reply("q2"), reply("q3", verdict=None)])
    (flip,) = compared(before, snapshot([reply("q1", verdict="both", answer=None), reply("q2")])).flips
    assert (flip.question_id, flip.verdict_before, flip.verdict) == ("q1", "context", "both")
    assert (flip.reply_before, flip.reply) == ("Lima", "")
    other = compared(before, snapshot([reply("q1", "n", verdict="both"), reply("q2", "o")]))
    assert [(flip.before[0], flip.after[0]) for flip in other.flips] == [("m", "n")]


@pytest.mark.parametrize(
    ("before", "now", "names"),
    [
        ({"seed": "0"}, {"seed": "1"}, ["seed"]),
        ({}, {"prompt.system": '"Be brief."'}, ["prompt.system"]),
        ({}, {"answers.samples": "5"}, []),  # an incomplete run keeps no parameters
        (DONE, {**DONE, "answers.samples": "5"}, ["answers.samples"]),
        (DONE, {**DONE, "revision of m (float32)": '"1a"'}, []),  # a new model has no revision before
        ({"revision of m (float32)": '"1a"'}, {"revision of m (float32)": '"2b"'}, ["revision of m (float32)"]),
    ],
)
def test_settings_that_differ(before: dict[str, str], now: dict[str, str], names: list[str]) -> None:
    found = compared(snapshot(settings=before), snapshot(settings=now))
    assert [change.name for change in found.settings] == names


@pytest.mark.parametrize(
    ("before", "after", "pairs"),
    [
        ("ac", "bc", ["aa", "bb", "cc"]),
        ("a", "b", ["ab"]),
        ("ab", "c", ["aa", "bb", "cc"]),
    ],
)
def test_a_replaced_model_is_paired_alone(before: str, after: str, pairs: list[str]) -> None:
    runs = ([(name, "float32") for name in run] for run in (before, after))
    assert ["".join(name for name, _ in pair) for pair in model_pairs(*runs, over_time=True)] == pairs
