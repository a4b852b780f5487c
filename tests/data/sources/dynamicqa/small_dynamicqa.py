"""Rows in each layout of the published DynamicQA, files with such rows, and the folder of the published files.

SWAYMETER_DYNAMICQA names this folder.
"""

import csv
import os
from pathlib import Path

import pytest

from swaymeter.data.records import Partition
from swaymeter.data.sources.dynamicqa.layout import COLUMNS, FILES

ROW = {
    "": "0",
    "id": "0",
    "subj": "Norway",
    "prop": "capital city",
    "obj": "Oslo",
    "subj_id": "Q20",
    "prop_id": "P36",
    "obj_id": "Q585",
    "s_pop": "1500.5",
    "o_pop": "99",
    "question": "What is the seat of Norway?",
    "possible_answers": '["Oslo", "Christiania"]',
    "num_edits": "1.0",
    "context": " The seat of Norway is [ENTITY].",
    "replace_quality": "0.75",
    "replace_name": "Lima",
    "s_pop_new": "7.0",
    "o_pop_new": "",
}
PERU = {
    **ROW,
    "": "1",
    "id": "1",
    "subj": "Peru",
    "obj": "Lima",
    "subj_id": "Q419",
    "obj_id": "Q2868",
    "question": "What is the seat of Peru?",
    "possible_answers": '["Lima"]',
    "context": "Peru's seat is [ENTITY].",
    "replace_name": "Oslo",
}
DISPUTED = {
    "": "0",
    "id": "7",
    "subj": "Persian Gulf",
    "question": "What is it called?",
    "context": "Iran and its Iranian coast, says IRAN.",
    "obj": "Iran",
    "replace_name": "Peru",
    "num_edits": "12",
    "dir_info": "./result/Persian Gulf-310/84205503",
    "s_pop": "",
}

PUBLISHED = Path(os.environ.get("SWAYMETER_DYNAMICQA", "."))
with_published = pytest.mark.skipif(
    "SWAYMETER_DYNAMICQA" not in os.environ,
    reason="SWAYMETER_DYNAMICQA does not name the folder of the published files",
)


def temporal(row: dict[str, str]) -> dict[str, str]:
    return {**row, "num_edits": "2.0"}


def write(folder: Path, partition: Partition, *rows: dict[str, str], columns: list[str] | None = None) -> Path:
    """Write rows to the file of a partition, with `columns` or with the published columns of the rows."""
    file = folder / FILES[partition]
    with file.open("w", encoding="utf-8", newline="") as handle:
        published = [column for column in COLUMNS[partition] if column in rows[0]]
        writer = csv.DictWriter(handle, published if columns is None else columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return file
