"""Snapshots of runs."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.dataset.snapshot import (
    COLUMNS,
    IDS,
    QUERY_NAMES,
    Snapshot,
    _settings,
    _typed,
)
from swaymeter.data.errors import DamagedFile
from tests.data.a_dataset import KENYA, NORWAY, question

SIDES = {"verdict": "context", "answer": "Lima", "answers": 10, "coherent_persuasion": 0.5}


def snapshot(replies: Iterable[Mapping[str, Any]] = (), **values: Any) -> Snapshot:
    """A snapshot of these replies, whose context_id is that of the context; values: of the snapshot."""
    columns = ["model", "dtype", *IDS["reply"], *COLUMNS["reply"]]
    rows = [{"question": "Who?", **row, "context": row["context_id"]} for row in replies]
    frame = pd.DataFrame(rows, columns=columns)
    empty = Snapshot(Dataset(Path(), ())).frames
    return Snapshot(
        **{"dataset": Dataset(Path(), ()), **values, "frames": {**empty, QUERY_NAMES["reply"]: _typed("reply", frame)}}
    )


def reply(name: str, model: str = "m", texts: str = "a", **values: Any) -> dict[str, Any]:
    about = {"model": model, "dtype": "float32", "question_id": name, "context_id": "c", "texts": texts}
    return {**about, **SIDES, **values}


def test_items_give_the_snapshot_back() -> None:
    dataset = Dataset(Path(), (NORWAY, KENYA), (), (question(),))
    items = snapshot([reply("q1"), reply("q2", verdict=None)], dataset=dataset, settings={"seed": "0"}).items()
    again = Snapshot.from_items(items)
    assert again.items() == items
    assert (len(again.dataset.facts), len(again.dataset.questions), again.settings) == (2, 1, {"seed": "0"})


@pytest.mark.parametrize("state", ["[" * 100_000, "[1]", "{", '"text"', "1" * 5_000])
def test_a_foreign_item_or_prompt_is_an_object(state: str) -> None:
    with pytest.raises(DamagedFile, match=r"study\.duckdb has a prompt that is not a JSON object"):
        _settings([{"prompt_name": None, "prompt": state}], "study.duckdb")
    with pytest.raises(DamagedFile, match="an item that cannot be read"):
        Snapshot.from_items({("reply", "m", "float32", "q\x1fc"): state})
