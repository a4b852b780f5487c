"""A row of each shape of the published DynamicQA, files that hold such rows, and where the published ones lie.

SWAYMETER_DYNAMICQA names the folder of the published files; what is tested over them is tested over made-up ones, too.
"""

import csv
import json
import os
from pathlib import Path

import pytest

from swaymeter.data.records import PARTITIONS, Partition
from swaymeter.data.sources.dynamicqa.layout import COLUMNS, FILES

ROW = {
    "": "0", "id": "0", "subj": "Norway", "prop": "capital city", "obj": "Oslo", "subj_id": "Q20", "prop_id": "P36",
    "obj_id": "Q585", "s_pop": "1500.5", "o_pop": "99", "question": "What is the seat of Norway?",
    "possible_answers": '["Oslo", "Christiania"]', "num_edits": "1.0", "context": " The seat of Norway is [ENTITY].",
    "replace_quality": "0.75", "replace_name": "Lima", "s_pop_new": "7.0", "o_pop_new": "",
}  # fmt: skip
PERU = {
    **ROW, "": "1", "id": "1", "subj": "Peru", "obj": "Lima", "subj_id": "Q419", "obj_id": "Q2868",
    "question": "What is the seat of Peru?", "possible_answers": '["Lima"]', "context": "Peru's seat is [ENTITY].",
    "replace_name": "Oslo",
}  # fmt: skip
DISPUTED = {
    "": "0", "id": "7", "subj": "Persian Gulf", "question": "What is it called?",
    "context": "Iran and its Iranian coast, says IRAN.", "obj": "Iran", "replace_name": "Peru", "num_edits": "12",
    "dir_info": "./result/Persian Gulf-310/84205503", "s_pop": "",
}  # fmt: skip

PUBLISHED = Path(os.environ.get("SWAYMETER_DYNAMICQA", "."))
with_published = pytest.mark.skipif(
    "SWAYMETER_DYNAMICQA" not in os.environ,
    reason="SWAYMETER_DYNAMICQA does not name the folder of the published files",
)


def temporal(row: dict[str, str]) -> dict[str, str]:
    return {**row, "num_edits": "2.0"}


def write(folder: Path, partition: Partition, *rows: dict[str, str], columns: list[str] | None = None) -> Path:
    """A partition's file of these rows; columns: other ones than those published that the rows have."""
    file = folder / FILES[partition]
    with file.open("w", encoding="utf-8", newline="") as handle:
        published = [column for column in COLUMNS[partition] if column in rows[0]]
        writer = csv.DictWriter(handle, published if columns is None else columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return file


CAPITALS = (
    ("Norway", "Q20", "Oslo", "Q585"), ("Peru", "Q419", "Lima", "Q2868"), ("Chad", "Q657", "N'Djamena", "Q3659"),
    ("Japan", "Q17", "Tokyo", "Q1490"), ("Togo", "Q945", "Lomé", "Q3792"), ("Fiji", "Q712", "Suva", "Q38807"),
    ("Cuba", "Q241", "Havana", "Q1563"), ("Mali", "Q912", "Bamako", "Q3703"), ("Iran", "Q794", "Tehran", "Q3616"),
    ("Oman", "Q842", "Muscat", "Q3826"), ("Nepal", "Q837", "Kathmandu", "Q3037"), ("Qatar", "Q846", "Doha", "Q3861"),
)  # fmt: skip
CONTEXTS = (
    "The seat of {} is {}.", 'The seat of {}, "long since", is {}.', "{} is a country.\nIts seat, {}, is well known.",
    "{} · 国 🙂 has {} for a seat.",
)  # fmt: skip
"""Cells that need no quotes, with commas and quotes, with a line end, and of letters beside Latin ones."""


def made_up_rows(partition: Partition) -> list[dict[str, str]]:
    """Rows that break no rule, with every kind of cell that is published."""
    rows = []
    for place, (country, country_id, seat, seat_id) in enumerate(CAPITALS):
        other = CAPITALS[place - 1][2]
        text = CONTEXTS[place % len(CONTEXTS)]
        question = f"What is the seat of {country}{', these days' * (place % 2)}?"
        same = {"": str(place), "subj": country, "question": question, "obj": seat, "replace_name": other}
        if partition == "disputable":
            place_of_page = f"./result/{country}-310/{84205503 + place}"
            said = {"id": str(place + 7), "context": text.format(country, seat), "dir_info": place_of_page}
            rows.append({**DISPUTED, **same, **said})
        else:
            answers = json.dumps([seat, f"{seat} City"], ensure_ascii=False)
            ids = {"id": str(place), "subj_id": country_id, "obj_id": seat_id, "possible_answers": answers}
            numbers = {"num_edits": "1.0" if partition == "static" else f"{place + 2}.0", "s_pop": f"{1500 + place}"}
            rows.append({**ROW, **same, **ids, **numbers, "context": text.format(country, "[ENTITY]")})
    return rows


def made_up(folder: Path) -> Path:
    """The folder, with a file of made-up rows of each partition in the published dialect."""
    for partition in PARTITIONS:
        write(folder, partition, *made_up_rows(partition))
    return folder
