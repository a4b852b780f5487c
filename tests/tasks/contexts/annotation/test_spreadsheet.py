import csv
import tracemalloc
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook

from swaymeter.data.errors import InputError, UsageError, WorkspaceError
from swaymeter.tasks.contexts.annotation import spreadsheet
from swaymeter.tasks.contexts.annotation.cells import LARGEST_CELL, SheetColumn
from swaymeter.tasks.contexts.annotation.spreadsheet import read_sheet, write_sheet

HEADER = ["context", "choice", "key"]
COLUMNS = (
    SheetColumn("context", 60),
    SheetColumn("choice", 12, written=True, choices=("accept", "discard")),
    SheetColumn("key", hidden=True),
)
GUIDE = {"accept": "=1+1 is no formula here", "discard": "anything else"}
BOTH = pytest.mark.parametrize("name", ["sheet.xlsx", "sheet.CSV"])
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
HOSTILE = [
    '=HYPERLINK("http://127.0.0.1/?"&A1,"Oslo")', "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "#N/A",
    "#REF!", "1914", "1/2", "TRUE", "\x07bell\x00", "a\r\nb\rc\nd", "_x0041_", '"quoted", and; more\tthere', "a;=1+1",
    "  spaces  ",
    "]]>", "<b>&amp;</b>", "{0} {entity} [ENTITY]", "שלום \u202e=1", "../../etc/passwd", "'s-Hertogenbosch",
    "👩‍🚀", "\ufeffx",
]  # fmt: skip


def write(path: Path, texts: list[str]) -> Path:
    write_sheet(
        path, COLUMNS, [{"context": text, "choice": "", "key": f"q-{n}"} for n, text in enumerate(texts)], GUIDE
    )
    return path


def as_csv(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def as_xlsx(path: Path, *rows: list[Any], title: str = "questions") -> Path:
    book = Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def saved(path: Path, *rows: list[Any]) -> Path:
    """The sheet as people or programs save it."""
    if path.suffix == ".xlsx":
        return as_xlsx(path, *rows)
    return as_csv(path, "\n".join(",".join(cell or "" for cell in row) for row in rows))


@BOTH
def test_every_text_is_read_back_as_it_was(name: str, tmp_path: Path) -> None:
    read = read_sheet(write(tmp_path / name, HOSTILE), COLUMNS)
    expected = [text.replace("\r\n", "\n").replace("\r", "\n") for text in HOSTILE]
    assert [row.cells["context"] for row in read.rows] == expected
    assert [row.number for row in read.rows] == list(range(2, len(HOSTILE) + 2))
    assert [row.cells["key"] for row in read.rows] == [f"q-{n}" for n in range(len(HOSTILE))]
    assert read.others == ()


def test_every_cell_of_a_workbook_is_text(tmp_path: Path) -> None:
    path = write(tmp_path / "s.xlsx", HOSTILE)
    with zipfile.ZipFile(path) as packed:
        for name in ("xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml"):
            assert "<f" not in packed.read(name).decode().replace("<formula1", "")
    book = load_workbook(path)
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value is not None]
    assert {cell.data_type for cell in cells} == {"s"}
    assert {cell.number_format for cell in cells} == {"@"}
    assert next(cell for cell in cells if str(cell.value).startswith("=HYPER")).quotePrefix


def test_a_workbook_offers_choices_and_is_protected(tmp_path: Path) -> None:
    sheet, guide = load_workbook(write(tmp_path / "s.xlsx", ["a", "b"])).worksheets
    offered = sheet.data_validations.dataValidation[0]
    assert (offered.formula1, str(offered.sqref), offered.type) == ('"accept,discard"', "B2:B3", "list")
    assert sheet.freeze_panes == "A2"
    assert sheet.protection.sheet
    assert [sheet.cell(2, place).protection.locked for place in (1, 2, 3)] == [True, False, True]
    assert sheet.column_dimensions["C"].hidden
    assert not sheet.column_dimensions["A"].hidden
    assert sheet.column_dimensions["A"].width == 60
    assert sheet["A2"].alignment.wrap_text
    assert [[cell.value for cell in row] for row in guide.iter_rows()] == [list(pair) for pair in GUIDE.items()]


def test_spreadsheet_programs_read_the_csv_as_utf_8(tmp_path: Path) -> None:
    content = write(tmp_path / "s.csv", ["Zoë", "=1"]).read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(content.decode("utf-8-sig").splitlines()))
    assert rows == [HEADER, ["Zoë", "", "q-0"], ["'=1", "", "q-1"]]


@BOTH
def test_an_existing_file_is_never_written_over(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("a day's work")
    (tmp_path / "link.csv").symlink_to(tmp_path / "elsewhere.csv")
    for path in (tmp_path / name, tmp_path / "link.csv"):
        with pytest.raises(UsageError, match="exists already and may hold somebody's work; name another file"):
            write(path, ["a"])
    assert (tmp_path / name).read_text() == "a day's work"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link.csv", name]


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match=r"s\.csv cannot be written: .*; name another file"):
        write(write(tmp_path / "s.xlsx", ["a"]) / "s.csv", ["a"])


@BOTH
def test_a_text_too_long_for_a_cell_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a text of 32768 characters does not fit into a cell: 'aaa"):
        write(tmp_path / name, ["a" * (LARGEST_CELL + 1)])
    assert not (tmp_path / name).exists()
    longest = read_sheet(write(tmp_path / name, ["a" * LARGEST_CELL]), COLUMNS).rows[0]
    assert longest.cells["context"] == "a" * LARGEST_CELL


@pytest.mark.parametrize("name", ["s.ods", "s"])
def test_other_formats_are_usage(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is neither \.xlsx nor \.csv"):
        write(tmp_path / name, ["a"])
    with pytest.raises(UsageError, match=r"is neither \.xlsx nor \.csv"):
        read_sheet(tmp_path / name, COLUMNS)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_a_csv_of_another_locale_is_read(separator: str, end: str, tmp_path: Path) -> None:
    lines = [HEADER, ["Oslo", "accept", "q-1"], ['"a, b; c"', "", "q-2"]]
    content = end.join(separator.join(line) for line in lines) + end
    read = read_sheet(as_csv(tmp_path / "s.csv", content), COLUMNS)
    assert [tuple(row.cells.values()) for row in read.rows] == [("Oslo", "accept", "q-1"), ("a, b; c", "", "q-2")]


@BOTH
def test_columns_may_be_moved_and_added(name: str, tmp_path: Path) -> None:
    rows: list[list[Any]] = [["Key ", "CHOICE", "mine", "context", None, "empty"],
                             ["q-1", "accept", "x", "Oslo", "y", None]]  # fmt: skip
    read = read_sheet(saved(tmp_path / name, *rows), COLUMNS)
    assert read.rows[0].cells == {"context": "Oslo", "choice": "accept", "key": "q-1"}
    assert read.others == ("mine", "no. 5")


@BOTH
def test_empty_rows_and_short_ones_are_no_matter(name: str, tmp_path: Path) -> None:
    read = read_sheet(saved(tmp_path / name, HEADER, [None, " ", None], [], ["Oslo"]), COLUMNS)
    assert [(row.number, row.cells) for row in read.rows] == [(4, {"context": "Oslo", "choice": "", "key": ""})]


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
    with pytest.raises(InputError, match=r"row 2, column context holds half of a character"):
        read_sheet(saved(tmp_path / name, HEADER, ["_xD800_", "", "q-1"]), COLUMNS)


@BOTH
def test_missing_and_doubled_columns_are_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no column 'choice', 'key'; its first row must have the names"):
        read_sheet(saved(tmp_path / name, ["context"]), COLUMNS)
    with pytest.raises(InputError, match="the column 'key' occurs twice"):
        read_sheet(saved(tmp_path / name, [*HEADER, "key"]), COLUMNS)


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


def repacked(path: Path, sound: Path, sheet: str | bytes) -> Path:
    """A workbook with another content of its first sheet."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed, zipfile.ZipFile(sound) as other:
        for part in other.namelist():
            packed.writestr(part, sheet if "sheet1" in part else other.read(part))
    return path


@pytest.mark.parametrize("damage", ["empty", "cut", "a text", "a folder", "missing", "a broken sheet"])
def test_a_workbook_that_is_none_is_refused(damage: str, tmp_path: Path) -> None:
    path, sound = tmp_path / "s.xlsx", write(tmp_path / "sound.xlsx", ["Oslo"] * 50)
    content = sound.read_bytes()
    if damage == "a broken sheet":
        repacked(path, sound, "<a>")
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
    monkeypatch.setattr(spreadsheet, "MOST_ROWS", 2**14)
    rows, message = BOMBS[name]
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    bomb = repacked(tmp_path / "bomb.xlsx", write(tmp_path / "sound.xlsx", ["Oslo"]), sheet)
    tracemalloc.start()
    with pytest.raises(InputError, match=message):
        read_sheet(bomb, COLUMNS)
    assert tracemalloc.get_traced_memory()[1] < 50 * 2**20
    tracemalloc.stop()
