"""Rows in each layout of the published DynamicQA, files with such rows, and the folder of the published files."""

import csv
import os
from pathlib import Path

import pytest

from swaymeter.data.records import Partition
from swaymeter.data.sources.dynamicqa.layout import COLUMNS, FILES


def _sample(name: str) -> list[dict[str, str]]:
    with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


NORWAY, PERU = _sample("static.csv")
(DISPUTED,) = _sample("disputable.csv")
PUBLISHED_FOLDER = Path(os.environ.get("SWAYMETER_DYNAMICQA", "."))
with_published = pytest.mark.skipif(
    "SWAYMETER_DYNAMICQA" not in os.environ,
    reason="SWAYMETER_DYNAMICQA does not name the folder of the published files",
)


def temporal(row: dict[str, str]) -> dict[str, str]:
    return {**row, "num_edits": "2.0"}


def write_rows(folder: Path, partition: Partition, *rows: dict[str, str]) -> Path:
    """Write rows to the file of a partition, with the published columns that the first row has."""
    file = folder / FILES[partition]
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, [column for column in COLUMNS[partition] if column in rows[0]])
        writer.writeheader()
        writer.writerows(rows)
    return file
