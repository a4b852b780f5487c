from collections.abc import Callable
from pathlib import Path

import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.records import PARTITIONS, Partition
from swaymeter.data.sources.dynamicqa import published as dynamicqa
from swaymeter.data.sources.dynamicqa.layout import COLUMNS, FILES, OPTIONAL, content_of, read_rows, rows_of
from tests.data.sources.dynamicqa.small_dynamicqa import DISPUTED, PERU, ROW, write

HEADER = ",".join(COLUMNS["disputable"])
SOUND = "0,7,Gulf,What?,It is Iran.,Iran,Peru,12,./result/Gulf-1/2,5"


def refused(text: str) -> str:
    """What is said of a file that holds this."""
    with pytest.raises(InputError) as raised:
        rows_of(text.encode(), "disputable", "Some.csv")
    return str(raised.value)


@pytest.mark.parametrize("partition", PARTITIONS)
def test_whole_files_are_read_and_written_back_to_the_byte(partition: Partition, sound_files: Path) -> None:
    file = sound_files / FILES[partition]
    rows = read_rows(file, partition)
    assert rows.columns == COLUMNS[partition]
    assert content_of(rows) == file.read_bytes()


@pytest.mark.parametrize("cell", ["", " a ", "two\nlines", 'say "no"', "a,b", "\t", "Ωμέγα 🙂", "\u2028", "'", '"'])
def test_any_cell_is_read_and_written_back_to_the_byte(cell: str, tmp_path: Path) -> None:
    file = write(tmp_path, "static", {**ROW, "context": cell, "": "5"}, PERU)
    rows = read_rows(file, "static")
    assert rows.rows[0].cells["context"] == cell
    assert content_of(rows) == file.read_bytes()


@pytest.mark.parametrize("partition", PARTITIONS)
def test_a_missing_column_is_named_unless_optional(partition: Partition, tmp_path: Path) -> None:
    row = DISPUTED if partition == "disputable" else ROW
    for column in COLUMNS[partition]:
        file = write(tmp_path, partition, row, columns=[name for name in COLUMNS[partition] if name != column])
        if column in OPTIONAL:
            assert column not in read_rows(file, partition).columns
            assert len(dynamicqa.questions(tmp_path, partition)) == 1
        else:
            with pytest.raises(InputError, match=f"^{file}, line 1: has no column {column}; expected id, subj, "):
                read_rows(file, partition)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (HEADER + ",notes", "has the column notes where no further one is published"),
        (HEADER + ",obj", "has the column obj where no further one is published"),
        (HEADER.replace("obj,replace_name", "replace_name,obj"), "has the column replace_name where obj is published"),
        ("\x1b[2J" + HEADER[1:], "has no column id"),
    ],
)
def test_a_header_that_is_none_of_the_published_is_refused(header: str, said: str) -> None:
    told = refused(f"{header}\r\n{SOUND}\r\n")
    assert told.startswith(f"Some.csv, line 1: {said}")
    assert "\x1b" not in told


def asks(question: str) -> str:
    """The file with one row, whose cell of the question is written like this."""
    return f"{HEADER}\r\n{SOUND.replace('What?', question)}\r\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEADER}\r\n{SOUND}\r\n1,8,Gulf\r\n", "line 3: has 3 cells, and the header 10"),
        (f"{HEADER}\r\n{SOUND},more\r\n", "line 2: has 11 cells, and the header 10"),
        (f"{HEADER}\r\n\r\n{SOUND}\r\n", "line 2: has 0 cells"),
        (f"{HEADER}\r\n{SOUND}\n", "line 2: is quoted otherwise than the published files, or ends otherwise"),
        (f"{HEADER}\n{SOUND}\r\n", "line 2: is quoted otherwise than the published files, or ends"),
        (asks('"What?"'), "line 2: is quoted otherwise than the published files"),
        (asks('What "is" it?'), "line 2: is quoted otherwise"),
        (
            asks('"What? not closed'),
            "line 2: is not CSV: unexpected end of data; a quote may be missing or never closed",
        ),
        (asks('"What" is it?'), "line 2: is not CSV: ',' expected after"),
        (asks('"a\r\nb"'), "line 2, column question: holds the control character U+000D"),
        (asks("a\rb"), "line 2: is not CSV: new-line character"),
    ],
)
def test_ambiguous_text_is_refused_with_its_line(text: str, said: str) -> None:
    assert refused(text).startswith(f"Some.csv, {said}")


def test_a_file_without_end_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / FILES["static"]
    with file.open("wb") as handle:
        handle.truncate(65 * 2**20)
    with pytest.raises(InputError, match=f"^{file} is larger than 64 MiB"):
        read_rows(file, "static")


def put_in(what: bytes) -> Callable[[bytes], bytes]:
    """Bytes put before the first question mark of the file's second half."""

    def damage(content: bytes) -> bytes:
        place = content.index(b"?", len(content) // 2)
        return content[:place] + what + content[place:]

    return damage


def names_swapped(content: bytes) -> bytes:
    """The names of the last two columns in each other's place, and their cells where they were."""
    first, rest = content.split(b"\r\n", 1)
    *others, one, two = first.split(b",")
    return b",".join((*others, two, one)) + b"\r\n" + rest


DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "nothing left": (lambda content: b"", "is empty"),
    "cut in a row": (lambda content: content[: len(content) // 2], r"line \d+: (has no end|is not CSV)"),
    "cut in the header": (lambda content: content[:40], "line 1: has no (end|column)"),
    "a high byte": (put_in(b"\xff"), r"line \d+: is not CSV in UTF-8 .0xff"),
    "a byte of zero": (put_in(b"\0"), r"line \d+, column \w+: holds the control character U\+0000"),
    "an old encoding": (put_in("é".encode("latin-1")), r"line \d+: is not CSV in UTF-8 .0xe9"),
    "a byte order mark": (lambda content: b"\xef\xbb\xbf" + content, "line 1: begins with a byte order mark"),
    "half a character": (put_in(b"\xed\xa0\xbd"), r"line \d+: is not CSV in UTF-8 .0xed"),
    "a web page": (lambda content: b"<!DOCTYPE html><html></html>\n", "line 1: is not CSV but a web page"),
    "a quote never closed": (put_in(b',"'), r"line \d+"),
    "line ends of two kinds": (lambda content: content.replace(b"\r\n", b"\n", 1), r"line \d: is quoted otherwise"),
    "semicolons": (lambda content: content.replace(b",", b";"), "line 1: has no column"),
    "a cell without end": (put_in(b"x" * 200_000), r"line \d+: is not CSV: field larger than field limit"),
    "a column renamed": (lambda content: content.replace(b"replace_name", b"x", 1), "line 1: has no column replace"),
    "a column twice": (lambda content: content.replace(b"question", b"obj", 1), "line 1: has no column question"),
    "columns named in another order": (names_swapped, r"line 1: has the column \w+ where \w+ is published"),
    "a row's end amid it": (lambda content: content.replace(b"?", b"?\r\n", 1), r"line \d+"),
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGES)
def test_damaged_files_are_refused_with_what_to_do(kind: str, sound_files: Path, tmp_path: Path) -> None:
    damage, reason = DAMAGES[kind]
    file = tmp_path / FILES["static"]
    file.write_bytes(damage((sound_files / FILES["static"]).read_bytes()))
    with pytest.raises(InputError, match=rf"(?s)^{file},? {reason}.*(fetch it again|save it as)") as raised:
        dynamicqa.questions(tmp_path, "static")
    assert str(raised.value).isprintable()
