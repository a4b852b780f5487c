"""Snapshots are restored from their items; damaged items are refused."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.dataset.snapshot import (
    BETWEEN,
    COLUMNS,
    IDS,
    SQL_NAMES,
    Snapshot,
    _settings,
    _typed,
)
from swaymeter.data.errors import DamagedFile
from tests.data.dataset_samples import KENYA, NORWAY, question


def snapshot(replies: Iterable[Mapping[str, Any]] = (), **values: Any) -> Snapshot:
    """Return a snapshot with replies; the `context_id` of a reply becomes its `context`. Values are other fields."""
    columns = ["model", "dtype", *IDS["reply"], *COLUMNS["reply"]]
    rows = [{"question": "Who?", **row, "context": row["context_id"]} for row in replies]
    frame = pd.DataFrame(rows, columns=columns)
    empty = Snapshot(Dataset(Path(), ())).frames
    return Snapshot(
        **{"dataset": Dataset(Path(), ()), **values, "frames": {**empty, SQL_NAMES["reply"]: _typed("reply", frame)}}
    )


def reply(name: str, model: str = "m", texts: str = "a", **values: Any) -> dict[str, Any]:
    """Return a reply; `name` is the id of its question, and `texts` the digest of its question and context."""
    identity = {"model": model, "dtype": "float32", "question_id": name, "context_id": "c", "texts": texts}
    return {**identity, "verdict": "context", "answer": "Lima", "answers": 10, "coherent_persuasion": 0.5, **values}


def test_a_snapshot_is_restored_from_its_items() -> None:
    dataset = Dataset(Path(), (NORWAY, KENYA), (), (question(),))
    items = snapshot([reply("q1"), reply("q2", verdict=None)], dataset=dataset, settings={"seed": "0"}).items()
    again = Snapshot.from_items(items)
    assert again.items() == items
    assert (len(again.dataset.facts), len(again.dataset.questions), again.settings) == (2, 1, {"seed": "0"})


@pytest.mark.parametrize("text", ["[" * 100_000, "[1]", "{", '"text"', "1" * 5_000])
def test_a_text_without_json_object_is_refused(text: str) -> None:
    with pytest.raises(DamagedFile, match=r"study\.duckdb has a prompt that is not a JSON object"):
        _settings([{"prompt_name": None, "prompt": text}], "study.duckdb")
    with pytest.raises(DamagedFile, match="an item that cannot be read"):
        Snapshot.from_items({("reply", "m", "float32", f"q{BETWEEN}c"): text})
