import codecs
from pathlib import Path

import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.records import PARTITIONS, Partition
from swaymeter.data.sources.dynamicqa.layout import COLUMNS, OPTIONAL_COLUMNS, content_of, read_rows, rows_of
from swaymeter.data.sources.dynamicqa.published import questions
from tests.data.sources.dynamicqa.small_dynamicqa import DISPUTED, NORWAY, PERU, write_rows

HEADER = ",".join(COLUMNS["disputable"])
SOUND = "0,7,Gulf,What?,It is Iran.,Iran,Peru,12,./result/Gulf-1/2,5"
CONTENT = f"{HEADER}\r\n{SOUND}\r\n"
CLEAR_SCREEN = "\x1b[2J"
"""A control sequence of terminals."""


@pytest.mark.parametrize("cell", ["", " a ", "two\nlines", 'say "no"', "a,b", "\t", "Ωμέγα 🙂", "\u2028", "'", '"'])
def test_rows_are_written_back_byte_for_byte(cell: str, tmp_path: Path) -> None:
    file = write_rows(tmp_path, "static", {**NORWAY, "context": cell, "": "5"}, PERU)
    rows = read_rows(file, "static")
    assert rows.columns == COLUMNS["static"]
    assert rows.rows[0].cells["context"] == cell
    assert content_of(rows) == file.read_bytes()


@pytest.mark.parametrize("partition", PARTITIONS)
def test_a_missing_column_is_refused_unless_optional(partition: Partition, tmp_path: Path) -> None:
    row = DISPUTED if partition == "disputable" else NORWAY
    for column in COLUMNS[partition]:
        file = write_rows(tmp_path, partition, {name: cell for name, cell in row.items() if name != column})
        if column in OPTIONAL_COLUMNS:
            assert column not in read_rows(file, partition).columns
            assert len(questions(tmp_path, partition)) == 1
        else:
            with pytest.raises(InputError, match=f"^{file}, line 1: has no column {column}; expected id, subj, "):
                read_rows(file, partition)


def content_with(old: str, new: str) -> bytes:
    assert old in CONTENT
    return CONTENT.replace(old, new).encode()


MALFORMED: list[tuple[bytes, str]] = [
    (b"", "line 1: has no column id, subj, "),
    (content_with("s_pop", "s_pop,notes"), "line 1: has the columns , id, .*s_pop, notes; expected"),
    (content_with("s_pop", "s_pop,obj"), "line 1: has the columns"),
    (content_with("obj,replace_name", "replace_name,obj"), "line 1: has the columns"),
    (content_with(HEADER, CLEAR_SCREEN + HEADER), "line 1: has the columns  ?.2J, id"),
    (content_with(",", ";"), "line 1: has no column id"),
    (codecs.BOM_UTF8 + CONTENT.encode(), "line 1: has the columns"),
    (b"<!DOCTYPE html><html></html>\n", "line 1: has no column id"),
    (content_with(SOUND, f"{SOUND}\r\n1,8,Gulf"), "line 3: has 3 cells, but the header has 10 cells"),
    (content_with(SOUND, f"{SOUND},more"), "line 2: has 11 cells, but the header has 10 cells"),
    (content_with(SOUND, f"\r\n{SOUND}"), "line 2: has 0 cells"),
    (content_with("5\r\n", "5\n"), "line 2: has other quotes than the published files, or another line end"),
    (content_with("s_pop\r\n", "s_pop\n"), "line 2: has other quotes"),
    (content_with("What?", '"What?"'), "line 2: has other quotes"),
    (content_with("What?", 'What "is" it?'), "line 2: has other quotes"),
    (content_with("What?", '"What? not closed'), "line 2: is not CSV: .*; a quote may be missing or never closed"),
    (content_with("What?", '"What" is it?'), "line 2: is not CSV: ',' expected after"),
    (content_with("What?", "x" * 200_000), "line 2: is not CSV: field larger than field limit"),
    (content_with("What?", "a\rb"), "line 2: is not CSV: new-line character"),
    (content_with("What?", '"a\r\nb"'), r"line 2, column 'question': has the control character U\+000D"),
    (content_with("What?", "a\0b"), r"line 2, column 'question': has the control character U\+0000"),
    (content_with("5\r\n", "5"), "line 2: is incomplete, so the file may be cut short"),
    (
        content_with("What?", "é").replace("é".encode(), b"\xe9"),
        "line 2: is not UTF-8 .byte 0xe9.; save the file as UTF-8",
    ),
    (content_with("What?", "é").replace("é".encode(), b"\xed\xa0\xbd"), "line 2: is not UTF-8 .byte 0xed"),
]


@pytest.mark.parametrize(("content", "message"), MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_content_is_refused_with_its_line(content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=rf"^Some.csv, {message}.*, or remove it and") as raised:
        rows_of(content, "disputable", "Some.csv")
    assert str(raised.value).isprintable()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Static_final\.csv cannot be read: No such file"):
        questions(tmp_path, "static")
