import codecs
from pathlib import Path

import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.records import PARTITIONS, Partition
from swaymeter.data.sources.dynamicqa.layout import COLUMNS, OPTIONAL_COLUMNS, content_of, read_rows, rows_of
from swaymeter.data.sources.dynamicqa.published import questions
from tests.data.sources.dynamicqa.small_dynamicqa import DISPUTED, PERU, ROW, write

HEADER = ",".join(COLUMNS["disputable"])
SOUND = "0,7,Gulf,What?,It is Iran.,Iran,Peru,12,./result/Gulf-1/2,5"
CONTENT = f"{HEADER}\r\n{SOUND}\r\n"
CLEAR_SCREEN = "\x1b[2J"
"""A control sequence of terminals."""


@pytest.mark.parametrize("cell", ["", " a ", "two\nlines", 'say "no"', "a,b", "\t", "Ωμέγα 🙂", "\u2028", "'", '"'])
def test_cells_are_written_back_to_the_byte(cell: str, tmp_path: Path) -> None:
    file = write(tmp_path, "static", {**ROW, "context": cell, "": "5"}, PERU)
    rows = read_rows(file, "static")
    assert rows.columns == COLUMNS["static"]
    assert rows.rows[0].cells["context"] == cell
    assert content_of(rows) == file.read_bytes()


@pytest.mark.parametrize("partition", PARTITIONS)
def test_a_missing_column_is_refused_unless_optional(partition: Partition, tmp_path: Path) -> None:
    row = DISPUTED if partition == "disputable" else ROW
    for column in COLUMNS[partition]:
        file = write(tmp_path, partition, {name: cell for name, cell in row.items() if name != column})
        if column in OPTIONAL_COLUMNS:
            assert column not in read_rows(file, partition).columns
            assert len(questions(tmp_path, partition)) == 1
        else:
            with pytest.raises(InputError, match=f"^{file}, line 1: has no column {column}; expected id, subj, "):
                read_rows(file, partition)


def changed(old: str, new: str) -> bytes:
    assert old in CONTENT
    return CONTENT.replace(old, new).encode()


NOT_PUBLISHED: list[tuple[bytes, str]] = [
    (b"", "line 1: has no column id, subj, "),
    (changed("s_pop", "s_pop,notes"), "line 1: has the columns , id, .*s_pop, notes; expected"),
    (changed("s_pop", "s_pop,obj"), "line 1: has the columns"),
    (changed("obj,replace_name", "replace_name,obj"), "line 1: has the columns"),
    (changed(HEADER, CLEAR_SCREEN + HEADER), "line 1: has the columns  ?.2J, id"),
    (changed(",", ";"), "line 1: has no column id"),
    (codecs.BOM_UTF8 + CONTENT.encode(), "line 1: has the columns"),
    (b"<!DOCTYPE html><html></html>\n", "line 1: has no column id"),
    (changed(SOUND, f"{SOUND}\r\n1,8,Gulf"), "line 3: has 3 cells, and the header 10"),
    (changed(SOUND, f"{SOUND},more"), "line 2: has 11 cells, and the header 10"),
    (changed(SOUND, f"\r\n{SOUND}"), "line 2: has 0 cells"),
    (changed("5\r\n", "5\n"), "line 2: has other quotes than the published files, or another line end"),
    (changed("s_pop\r\n", "s_pop\n"), "line 2: has other quotes"),
    (changed("What?", '"What?"'), "line 2: has other quotes"),
    (changed("What?", 'What "is" it?'), "line 2: has other quotes"),
    (changed("What?", '"What? not closed'), "line 2: is not CSV: .*; a quote may be missing or never closed"),
    (changed("What?", '"What" is it?'), "line 2: is not CSV: ',' expected after"),
    (changed("What?", "x" * 200_000), "line 2: is not CSV: field larger than field limit"),
    (changed("What?", "a\rb"), "line 2: is not CSV: new-line character"),
    (changed("What?", '"a\r\nb"'), r"line 2, column 'question': has the control character U\+000D"),
    (changed("What?", "a\0b"), r"line 2, column 'question': has the control character U\+0000"),
    (changed("5\r\n", "5"), "line 2: is incomplete, so the file may be cut short"),
    (changed("What?", "é").replace("é".encode(), b"\xe9"), "line 2: is not CSV in UTF-8 .0xe9.; save it as UTF-8"),
    (changed("What?", "é").replace("é".encode(), b"\xed\xa0\xbd"), "line 2: is not CSV in UTF-8 .0xed"),
]


@pytest.mark.parametrize(("content", "message"), NOT_PUBLISHED, ids=range(len(NOT_PUBLISHED)))
def test_other_content_is_refused_with_its_line(content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=rf"^Some.csv, {message}.*correct the file, or remove it and") as raised:
        rows_of(content, "disputable", "Some.csv")
    assert str(raised.value).isprintable()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Static_final\.csv cannot be read: No such file"):
        questions(tmp_path, "static")
