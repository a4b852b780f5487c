import tracemalloc
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from swaymeter.data.errors import InputError
from swaymeter.tasks.contexts.annotation import workbook
from swaymeter.tasks.contexts.annotation.spreadsheet import read_sheet
from tests.tasks.contexts.annotation.sheets import BOTH, COLUMNS, HEADER, as_csv, as_xlsx, write

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


@pytest.mark.parametrize(
    ("typed", "text"), [(1914, "1914"), (1914.0, "1914"), (0.5, "0.5"), (True, "True"), (None, "")]
)
def test_what_a_program_took_for_a_number_is_its_text(typed: Any, text: str, tmp_path: Path) -> None:
    read = read_sheet(as_xlsx(tmp_path / "s.xlsx", HEADER, [typed, "", "q-1"]), COLUMNS)
    assert read.rows[0].cells["context"] == text


@pytest.mark.parametrize(
    ("typed", "kind"), [("=1+1", "a formula"), (date(2020, 1, 5), "a date or time"), ("#N/A", "a formula")]
)
def test_what_has_lost_its_words_is_refused_with_its_place(typed: Any, kind: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"s\.xlsx, row 3, column context holds {kind}; format the cell as text"):
        read_sheet(as_xlsx(tmp_path / "s.xlsx", HEADER, ["a"], [typed, "", "q-1"]), COLUMNS)


def test_the_sheet_is_found_under_another_title_and_behind_another(tmp_path: Path) -> None:
    book = Workbook()
    book.active.append(["something", "else"])
    book.create_sheet("Tabelle1").append(HEADER)
    book["Tabelle1"].append(["Oslo", "accept", "q-1"])
    book.save(tmp_path / "s.xlsx")
    assert len(read_sheet(tmp_path / "s.xlsx", COLUMNS).rows) == 1


@BOTH
def test_half_of_a_character_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name.endswith("xlsx"):
        as_xlsx(path, HEADER, ["_xD800_", "", "q-1"])
    else:
        as_csv(path, "context,choice,key\n_xD800_,,q-1\n")
    with pytest.raises(InputError, match=r"row 2, column context holds half of a character"):
        read_sheet(path, COLUMNS)


@BOTH
def test_missing_and_doubled_columns_are_named(name: str, tmp_path: Path) -> None:
    def sheet(*header: str) -> Path:
        path = tmp_path / name
        return as_xlsx(path, [*header]) if name.endswith("xlsx") else as_csv(path, ",".join(header))

    with pytest.raises(InputError, match="has no column 'choice', 'key'; its first row must have the names"):
        read_sheet(sheet("context"), COLUMNS)
    with pytest.raises(InputError, match="the column 'key' occurs twice"):
        read_sheet(sheet(*HEADER, "key"), COLUMNS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("context,choice,key\nZo\xeb,,q-1".encode("cp1252"), "is not in UTF-8; save it as `CSV UTF-8`"),
        ("context,choice,key".encode("utf-16"), "is not in UTF-8"),
        (b'context,choice,key\n"Oslo,,q-1\n', "is not CSV: unexpected end of data"),
        (b"", "has no column 'context', 'choice', 'key'"),
        (b"<html>", "has no column"),
        (b"context,choice,key\n" + b"," * 4_000_000, "too large to be a sheet of questions"),
    ],
    ids=range(6),
)
def test_a_csv_that_is_none_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_sheet(as_csv(tmp_path / "s.csv", content), COLUMNS)


@pytest.mark.parametrize("damage", ["empty", "cut", "a text", "another zip", "a folder", "missing", "a broken sheet"])
def test_a_workbook_that_is_none_is_refused(damage: str, tmp_path: Path) -> None:
    path = write(tmp_path / "s.xlsx", ["Oslo"] * 50)
    content = path.read_bytes()
    path.unlink()
    if damage == "another zip":
        with zipfile.ZipFile(path, "w") as packed:
            packed.writestr("a", "b")
    elif damage == "a broken sheet":
        with (
            zipfile.ZipFile(path, "w") as packed,
            zipfile.ZipFile(write(tmp_path / "sound.xlsx", ["a"])) as other,
        ):
            for part in other.namelist():
                packed.writestr(part, b"<a>" if "sheet1" in part else other.read(part))
    elif damage == "a folder":
        path.mkdir()
    elif damage != "missing":
        path.write_bytes({"empty": b"", "cut": content[: len(content) // 2], "a text": b"context,choice,key"}[damage])
    with pytest.raises(InputError, match=r"s\.xlsx (is not a workbook that can be read|cannot be read)"):
        read_sheet(path, COLUMNS)


BOMBS = {
    "last row": ('<row r="1000000000"><c><v>1</v></c></row>', "number 16,384"),
    "last column": ("".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(1, 2_001)), "no column"),
    "column of no program": ('<row r="1"><c r="ZZZZZZ1"><v>1</v></c></row>', "not a workbook|no column"),
    "attributes": (f"<row{' a=1' * 3_000_001}/>", "too large to be a sheet of questions"),
    "a text": (f"<row><c><v>{'x' * 2**27}</v></c></row>", "too large to be a sheet of questions"),
    "cells": (f"<row>{'<c/>' * 4_000_000}</row>", "too large to be a sheet of questions"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_workbook_that_would_fill_the_memory_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook, "MOST_ROWS", 2**14)
    rows, message = BOMBS[name]
    bomb, sound = tmp_path / "bomb.xlsx", write(tmp_path / "sound.xlsx", ["Oslo"])
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed, zipfile.ZipFile(sound) as other:
        for part in other.namelist():
            sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
            packed.writestr(part, sheet if "sheet1" in part else other.read(part))
    tracemalloc.start()
    with pytest.raises(InputError, match=message):
        read_sheet(bomb, COLUMNS)
    assert tracemalloc.get_traced_memory()[1] < 50 * 2**20
    tracemalloc.stop()
