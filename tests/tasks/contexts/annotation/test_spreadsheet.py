import csv
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from swaymeter.data.errors import InputError, UsageError, WorkspaceError
from swaymeter.tasks.contexts.annotation.cells import LARGEST_CELL
from swaymeter.tasks.contexts.annotation.spreadsheet import read_sheet, too_long
from tests.tasks.contexts.annotation.sheets import BOTH, COLUMNS, GUIDE, HEADER, as_csv, as_xlsx, write

HOSTILE = [
    '=HYPERLINK("http://127.0.0.1/?"&A1,"Oslo")', "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "#N/A",
    "#REF!", "1914", "1/2", "TRUE", "\x07bell\x00", "a\r\nb\rc\nd", "_x0041_", '"quoted", and; more\tthere', "a;=1+1",
    "  spaces  ",
    "]]>", "<b>&amp;</b>", "{0} {entity} [ENTITY]", "שלום \u202e=1", "../../etc/passwd", "'s-Hertogenbosch",
    "👩‍🚀", "\ufeffx",
]  # fmt: skip


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


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_a_file_that_appears_meanwhile_stays(links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def appears(*_: object) -> bool:
        (tmp_path / "s.csv").write_text("a day's work")
        return False

    monkeypatch.setattr(os.path, "lexists", appears)
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(UsageError, match="exists already"):
        write(tmp_path / "s.csv", ["a"])
    assert (tmp_path / "s.csv").read_text() == "a day's work"
    assert [file.name for file in tmp_path.iterdir()] == ["s.csv"]


def no_links(*_: object) -> None:
    raise PermissionError(1, "Operation not permitted")


def test_a_disk_without_links_and_a_file_as_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WorkspaceError, match=r"s\.csv cannot be written: .*; name another file"):
        write(write(tmp_path / "s.xlsx", ["a"]) / "s.csv", ["a"])
    (tmp_path / "s.xlsx").unlink()
    monkeypatch.setattr(os, "link", no_links)
    assert len(read_sheet(write(tmp_path / "s.xlsx", ["a"]), COLUMNS).rows) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["s.xlsx"]


@BOTH
def test_a_text_too_long_for_a_cell_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a text of 32768 characters does not fit into a cell: 'aaa"):
        write(tmp_path / name, ["a" * (LARGEST_CELL + 1)])
    assert not (tmp_path / name).exists()
    longest = read_sheet(write(tmp_path / name, ["a" * LARGEST_CELL]), COLUMNS).rows[0]
    assert longest.cells["context"] == "a" * LARGEST_CELL


def test_the_columns_whose_text_is_too_long_are_named() -> None:
    row = {"context": "👩" * (LARGEST_CELL // 2 + 1), "choice": "a" * LARGEST_CELL}
    row["key"] = "\x07" * (LARGEST_CELL // 7 + 1)
    assert too_long(row, COLUMNS) == ["context", "key"]


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
    if name.endswith("xlsx"):
        path = as_xlsx(tmp_path / name, *rows)
    else:
        path = as_csv(tmp_path / name, "\n".join(",".join(cell or "" for cell in row) for row in rows))
    read = read_sheet(path, COLUMNS)
    assert read.rows[0].cells == {"context": "Oslo", "choice": "accept", "key": "q-1"}
    assert read.others == ("mine", "no. 5")


@BOTH
def test_empty_rows_and_short_ones_are_no_matter(name: str, tmp_path: Path) -> None:
    if name.endswith("xlsx"):
        path = as_xlsx(tmp_path / name, HEADER, [None, " ", None], [], ["Oslo"])
    else:
        path = as_csv(tmp_path / name, "context,choice,key\n, ,\n\nOslo\n")
    read = read_sheet(path, COLUMNS)
    assert [(row.number, row.cells) for row in read.rows] == [(4, {"context": "Oslo", "choice": "", "key": ""})]
