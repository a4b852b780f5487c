"""Copies of sound files, damaged in some way: an error that says where, or every row that it hit flagged."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from data.errors import InputError
from data.records import PARTITIONS, Partition
from data.records.tables import QUESTIONS
from data.sources import dynamicqa, slots
from data.sources.dynamicqa.layout import COLUMNS, FILES, Row, Rows, content_of, read_rows
from data.sources.fetch import fetch_questions
from data.storage.workspace import Workspace
from tests.data.sources.dynamicqa.small_dynamicqa import made_up

Damage = Callable[[bytes], bytes]

ROW = 5
"""The row that is doubled."""


def columns(change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Callable[[Rows], Rows]:
    """Columns with their cells left out, moved or added."""

    def damage(rows: Rows) -> Rows:
        changed = change(rows.columns)
        cells = (Row(row.line, {column: row.cells.get(column, "") for column in changed}) for row in rows.rows)
        return Rows(changed, tuple(cells), rows.line_end)

    return damage


def header(old: bytes, new: bytes) -> Damage:
    """The first line changed, and no other."""

    def damage(content: bytes) -> bytes:
        first, rest = content.split(b"\r\n", 1)
        assert old in first
        return first.replace(old, new) + b"\r\n" + rest

    return damage


def names_turned(content: bytes) -> bytes:
    """The names of the last two columns in each other's place, and their cells where they were."""
    first, rest = content.split(b"\r\n", 1)
    *others, one, two = first.split(b",")
    return b",".join((*others, two, one)) + b"\r\n" + rest


def without(column: str) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
    return lambda known: tuple(name for name in known if name != column)


def turned(known: tuple[str, ...]) -> tuple[str, ...]:
    return *known[:-2], known[-1], known[-2]


def byte(place: float, new: int) -> Damage:
    """One byte changed, so far into the file."""

    def damage(content: bytes) -> bytes:
        at = int(len(content) * place)
        return content[:at] + bytes([new]) + content[at + 1 :]

    return damage


def in_the_middle(what: bytes) -> Damage:
    """Bytes put before the first question mark of the file's second half."""

    def damage(content: bytes) -> bytes:
        at = content.index(b"?", len(content) // 2)
        return content[:at] + what + content[at:]

    return damage


BYTES: dict[str, tuple[Damage, str]] = {
    "nothing left": (lambda content: b"", "is empty"),
    "cut in a row": (lambda content: content[: len(content) // 2], r"line \d+: (has no end|is no CSV: unexpected end)"),
    "cut in the last number": (lambda content: content[:-3], r"line \d+: has no end"),
    "cut in the header": (lambda content: content[:40], r"line 1: has no (end|column)"),
    "the beginning missing": (lambda content: content.split(b"\r\n", 1)[1], r"line 1: has no column"),
    "a high byte": (byte(0.5, 0xFF), r"line \d+: is no CSV in UTF-8: byte \d+ of the line is 0xff"),
    "a byte of zero": (byte(0.7, 0), r"line \d+, column \w+: holds the control character U\+0000"),
    "a block of zeros": (lambda content: content[: len(content) // 3] + bytes(64), r"line \d+: "),
    "another encoding": (lambda content: content.decode().encode("utf-16"), "line 1: is no CSV in UTF-8"),
    "an old encoding": (
        lambda content: in_the_middle("é".encode("latin-1"))(content), r"line \d+: is no CSV in UTF-8: .* is 0xe9",
    ),
    "a byte order mark": (lambda content: b"\xef\xbb\xbf" + content, "line 1: begins with a byte order mark"),
    "half a character": (in_the_middle(b"\xed\xa0\xbd"), r"line \d+: is no CSV in UTF-8: .* is 0xed"),
    "a web page": (lambda content: b"<!DOCTYPE html><html></html>\n", "line 1: is no CSV but a web page"),
    "a packed file": (lambda content: b"\x1f\x8b\x08\x00" + content, "line 1: (is no CSV in UTF-8|has no column)"),
    "a quote never closed": (in_the_middle(b',"'), r"line \d+"),
    "a quote lost": (lambda content: content.replace(b',"', b",", 1), r"line \d+"),
    "line ends of two kinds": (
        lambda content: content.replace(b"\r\n", b"\n", 1), r"line 2: ends otherwise than the header",
    ),
    "line ends of cells changed": (
        lambda content: content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n").replace(b"?", b"?\r\n", 1), r"line \d+",
    ),
    "semicolons": (lambda content: content.replace(b",", b";"), "line 1: has no column"),
    "a cell without end": (in_the_middle(b"x" * 200_000), r"line \d+: is no CSV: field larger than field limit"),
    "columns called otherwise": (header(b"replace_name", b"replacement"), "line 1: has no column replace_name"),
    "columns called twice": (header(b"question", b"obj"), "line 1: has no column question"),
    "columns named in another order": (names_turned, r"line 1: has the column \w+ where \w+ is published"),
    "a row's end missing": (lambda content: content.replace(b"?", b"?\r\n", 1), r"line \d+"),
}  # fmt: skip


@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("kind", BYTES)
def test_damaged_bytes_are_refused_with_file_line_and_what_to_do(
    kind: str, partition: Partition, sound_files: Path, tmp_path: Path
) -> None:
    damage, said = BYTES[kind]
    sound = (sound_files / FILES[partition]).read_bytes()
    file = tmp_path / FILES[partition]
    file.write_bytes(damage(sound))
    assert file.read_bytes() != sound
    with pytest.raises(InputError) as raised:
        dynamicqa.questions(tmp_path, partition)
    assert re.match(rf"{re.escape(str(file))},? {said}", str(raised.value)), str(raised.value)
    assert re.search("fetch it again|save it as|did you mean|remove it", str(raised.value))
    assert str(raised.value).isprintable()


@pytest.mark.parametrize("partition", PARTITIONS)
def test_a_doubled_row_is_flagged_so_that_it_is_asked_once(partition: Partition, sound_files: Path) -> None:
    rows = read_rows(sound_files / FILES[partition], partition)
    doubled = Rows(rows.columns, (*rows.rows, rows.rows[ROW]), rows.line_end)
    questions = dynamicqa.questions_of(doubled, partition, "doubled")
    assert [slots.DUPLICATE_ID in question.flags for question in questions] == [False] * len(rows.rows) + [True]
    assert len({question.question_id for question in questions}) == len(questions)


@pytest.mark.parametrize(("partition", "other"), [("static", "temporal"), ("temporal", "static")])
def test_a_file_under_the_name_of_another_partition_is_flagged_in_every_row(
    partition: Partition, other: Partition, sound_files: Path, tmp_path: Path
) -> None:
    (tmp_path / FILES[partition]).write_bytes((sound_files / FILES[other]).read_bytes())
    questions = dynamicqa.questions(tmp_path, partition)
    assert all(slots.EDITS_CONTRADICT_PARTITION in question.flags for question in questions)


@pytest.mark.parametrize(
    ("one", "two", "flag"),
    [
        ("obj", "replace_name", slots.OBJECT_NOT_AMONG_ANSWERS), ("question", "context", slots.NO_SLOT),
        ("subj", "obj", slots.SUBJECT_NOT_IN_QUESTION), ("subj_id", "prop_id", slots.MALFORMED_ID),
        ("num_edits", "s_pop", slots.EDITS_CONTRADICT_PARTITION),
    ],
)  # fmt: skip
def test_cells_that_changed_their_columns_are_flagged(one: str, two: str, flag: str, sound_files: Path) -> None:
    rows = read_rows(sound_files / FILES["static"], "static")
    cells = ({**row.cells, one: row.cells[two], two: row.cells[one]} for row in rows.rows)
    swapped = Rows(rows.columns, tuple(Row(row.line, new) for row, new in zip(rows.rows, cells, strict=True)))
    questions = dynamicqa.questions_of(swapped, "static", "swapped")
    assert sum(flag in question.flags for question in questions) > 0.98 * len(questions)


@pytest.mark.parametrize("partition", PARTITIONS)
def test_columns_left_out_moved_or_added_are_refused(partition: Partition, sound_files: Path, tmp_path: Path) -> None:
    rows = read_rows(sound_files / FILES[partition], partition)
    file = tmp_path / FILES[partition]
    for change, said in (
        (without("obj"), "has no column obj; expected"),
        (turned, "has the column"),
        (lambda known: (*known, "notes"), "has a column 'notes', which is none of the published; remove it"),
    ):
        file.write_bytes(content_of(columns(change)(rows)))
        with pytest.raises(InputError, match=f"^{re.escape(str(file))}, line 1: {said}"):
            dynamicqa.questions(tmp_path, partition)


@pytest.mark.parametrize("partition", PARTITIONS)
def test_only_a_header_is_refused_when_fetched(partition: Partition, tmp_path: Path) -> None:
    (tmp_path / FILES[partition]).write_bytes(",".join(COLUMNS[partition]).encode() + b"\r\n")
    with pytest.raises(InputError, match="the source has no questions"):
        fetch_questions(partition, tmp_path, Workspace(tmp_path / "w").facts(partition, QUESTIONS, {}))


@pytest.mark.parametrize("partition", PARTITIONS)
def test_a_copy_whose_line_ends_were_changed_as_a_whole_says_the_same(
    partition: Partition, sound_files: Path, tmp_path: Path
) -> None:
    file = tmp_path / FILES[partition]
    file.write_bytes((sound_files / FILES[partition]).read_bytes().replace(b"\r\n", b"\n"))
    assert dynamicqa.questions(tmp_path, partition) == dynamicqa.questions(sound_files, partition)
    assert content_of(read_rows(file, partition)) == file.read_bytes()


@pytest.mark.parametrize("partition", PARTITIONS)
def test_what_is_damaged_was_sound(partition: Partition, tmp_path: Path) -> None:
    questions = dynamicqa.questions(made_up(tmp_path), partition)
    assert len(questions) >= 2 * ROW
    assert not any(question.flags for question in questions)
    content = (tmp_path / FILES[partition]).read_bytes()
    assert content.startswith(",".join(COLUMNS[partition]).encode() + b"\r\n")
    assert all(sign in content for sign in (b'""', "国".encode()))
    assert re.search(rb"[^\r]\n", content)


def test_there_are_twenty_kinds_of_damage() -> None:
    assert len(BYTES) >= 20
