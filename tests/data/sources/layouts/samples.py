"""Samples of published data sets: files in the form of each data set, about invented towns and people.

The folder `sample_files` has a folder for each data set. A Parquet file has its rows there as JSON lines, and the
ending .jsonl after its name.
"""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Row = dict[str, Any]
FILES = Path(__file__).with_name("sample_files")


def rows_of(file: str) -> list[Row]:
    """Return the rows of a file in `sample_files`, such as "popqa/popQA.tsv"."""
    with (FILES / file).open(encoding="utf-8", newline="") as lines:
        if file.endswith((".csv", ".tsv")):
            return list(csv.DictReader(lines, delimiter="\t" if file.endswith(".tsv") else ","))
        return [json.loads(line) for line in lines]


def write(folder: Path, name: str) -> Path:
    """Write the sample of a data set below a folder, and return its file, or the folder of its files."""
    copy = folder / name
    copy.mkdir()
    for file in (FILES / name).iterdir():
        if len(file.suffixes) > 1:  # such as .parquet.jsonl
            pq.write_table(pa.Table.from_pylist(rows_of(f"{name}/{file.name}")), copy / file.stem)
        else:
            shutil.copy(file, copy)
    files = list(copy.iterdir())
    return files[0] if len(files) == 1 else copy
