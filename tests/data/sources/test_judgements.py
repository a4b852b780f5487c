"""Files of judgements: texts survive, wrong rows and files are refused, and contradictory judgements do not count."""

import csv
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook

from swaymeter.data.errors import InputError, UsageError, WorkspaceError
from swaymeter.data.records.judgements import Judgement
from swaymeter.data.sources import judgements
from swaymeter.data.sources.judgements import COLUMNS, LARGEST_CELL, read_judgements, write_judgements

HEADER = "question_id,context_id,field,judged,value,annotator"
EACH_FORMAT = pytest.mark.parametrize("name", ["sheet.xlsx", "sheet.CSV"])
HOSTILE = [
    "=1+1",
    "+47 22",
    "@SUM(1)",
    "-5",
    "\u202e=1",
    "1914",
    "12 March 2020",
    "TRUE",
    "#N/A",
    "a;=cmd|x",
    "'s-H",
    "Zoë\n\x07",
    "_x0041_",
    "</script>",
    "None",
    "NaN",
]


def row(judged: str = "Oslo", value: str = "both", annotator: str = "Ada", **cells: str) -> dict[str, str]:
    keys = {"question_id": "q", "context_id": "none", "field": "verdict"}
    return keys | {"judged": judged, "value": value, "annotator": annotator} | cells


def write_and_read(folder: Path, *rows: dict[str, str], name: str = "v.csv") -> tuple[Judgement, ...]:
    write_judgements(folder / name, rows)
    return read_judgements([folder / name])


def write_text(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


@EACH_FORMAT
def test_every_text_is_read_back(name: str, tmp_path: Path) -> None:
    result = write_and_read(tmp_path, *(row(judged=text, note=text) for text in HOSTILE), name=name)
    assert [(judgement.judged, judgement.note) for judgement in result] == [(text, text) for text in HOSTILE]
    assert [judgement.row for judgement in result] == list(range(2, len(HOSTILE) + 2))
    assert [judgement.number for judgement in result] == list(range(1, len(HOSTILE) + 1))
    assert {judgement.problem for judgement in result} == {None}


def test_no_program_computes_a_cell(tmp_path: Path) -> None:
    rows = [row(judged=text) for text in HOSTILE]
    write_judgements(tmp_path / "v.xlsx", rows)
    with zipfile.ZipFile(tmp_path / "v.xlsx") as packed:
        assert b"<f" not in packed.read("xl/worksheets/sheet1.xml")  # the tag of formulas
    cells = [cell for line in load_workbook(tmp_path / "v.xlsx").active.iter_rows() for cell in line if cell.value]
    assert {cell.data_type for cell in cells} == {"s"}
    write_judgements(tmp_path / "v.csv", rows)
    content = (tmp_path / "v.csv").read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    assert next(csv.DictReader(content.decode("utf-8-sig").splitlines()))["judged"] == "'=1+1"


def test_rows_without_a_value_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "v.csv"
    file.write_text(f'{HEADER}\nq,none,verdict,x,,Ada\n\nq,none,verdict,"x\n2",both ,Ada\n')
    (judgement,) = read_judgements([file])
    assert (judgement.row, judgement.judged, judgement.value) == (4, "x\n2", "both")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_sheets_of_other_locales_are_read(separator: str, tmp_path: Path) -> None:
    header, cells = [*HEADER.split(","), "Mine"], ["q", "a", "kind", "", "neutral", "Ada", "x"]
    file = tmp_path / "v.csv"
    file.write_text(f"{separator.join(header)}\r\n{separator.join(cells)}")
    (judgement,) = read_judgements([file])
    assert (judgement.field, judgement.value, judgement.problem) == ("kind", "neutral", None)


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"value": "bth"}, "'bth' is not a verdict (did you mean both?); write one of context, original"),
        ({"field": "veridct"}, "'veridct' is not a field (did you mean verdict?); write one of verdict, kind"),
        ({"question_id": ""}, "question_id is empty"),
        ({"annotator": " "}, "the annotator has no name"),
        ({"annotator": "A\u202eda"}, "the annotator has no name"),
        ({"judged": " "}, "judged is empty; write the reply that was judged"),
        ({"context_id": ""}, "context_id is empty; a verdict needs the id of its context"),
        ({"field": "choice", "value": "accept"}, "context_id is filled in; a choice is about the question"),
        ({"sample": "first"}, "'first' is not a sample; write its number from 0"),
    ],
)
def test_wrong_rows_are_named_and_others_count(cells: dict[str, str], problem: str, tmp_path: Path) -> None:
    wrong, right = write_and_read(tmp_path, row(**cells), row(judged="Rome"))
    assert (wrong.problem or "").startswith(problem)
    assert wrong.location == "v.csv, row 2"
    assert right.problem is None


def test_contradictory_judgements_of_one_person_do_not_count(tmp_path: Path) -> None:
    result = write_and_read(tmp_path, row("x y"), row("x  y ", "neither", "ada"), row("x y", "both", "Ben"), row("x y"))
    assert [judgement.problem for judgement in result] == [
        "Ada says 'both' here and 'neither' in v.csv, row 3; neither counts, so delete one of the two",
        "Ada says 'neither' here and 'both' in v.csv, row 2; neither counts, so delete one of the two",
        None,
    ]


def test_majority_of_people_decides_and_tie_does_not(tmp_path: Path) -> None:
    tie = [row(), row(value="neither", annotator="Ben")]
    problems = {judgement.problem for judgement in write_and_read(tmp_path, *tie)}
    assert problems == {"people differ; another person has to decide"}
    result = write_and_read(tmp_path, *tie, row(annotator="Cem"), name="w.csv")
    assert [judgement.problem for judgement in result] == [None, "most people say something else", None]
    assert [judgement.is_outvoted for judgement in result] == [False, True, False]


def test_corrections_of_a_question_outvote_nobody(tmp_path: Path) -> None:
    cells = {"field": "answer", "context_id": ""}
    result = write_and_read(tmp_path, row(value="Oslo", **cells), row(value="Rome", annotator="Ben", **cells))
    assert [judgement.problem for judgement in result] == [None, None]


def test_verdicts_need_the_judged_reply(tmp_path: Path) -> None:
    file = write_text(tmp_path / "v.csv", "question_id,context_id,field,value,annotator\nq,none,verdict,original,Ada\n")
    with pytest.raises(InputError, match=r"v\.csv, row 2: a verdict needs a column `judged`"):
        read_judgements([file])


@EACH_FORMAT
@pytest.mark.parametrize(
    ("header", "message"),
    [
        (["question_id", "context_id", "value", "annotator"], "row 1: the column field is missing; the first row has"),
        (["question", "context", "model", "sample", "answer", "verdict", "who", "why"], "the column question_id is"),
        ([*COLUMNS, "Field "], "row 1: the column field occurs twice"),
    ],
)
def test_missing_and_doubled_columns_are_named(name: str, header: list[str], message: str, tmp_path: Path) -> None:
    file = tmp_path / name
    if file.suffix == ".xlsx":
        book = Workbook()
        book.active.append(header)
        book.save(file)
    else:
        file.write_text(",".join(header))
    with pytest.raises(InputError, match=rf"{name}, {message}" if message.startswith("row") else message):
        read_judgements([file])


@pytest.mark.parametrize(("typed", "text"), [(1914, "1914"), (1914.0, "1914"), (0.5, "0.5"), (True, "True")])
def test_numbers_of_spreadsheets_are_read_as_text(typed: Any, text: str, tmp_path: Path) -> None:
    book = Workbook()
    book.active.append(HEADER.split(","))
    book.active.append(["q", None, "answer", None, typed, "Ada"])
    book.active.append(["q", None, "question", None, date(2020, 1, 5), "Ada"])
    book.save(tmp_path / "v.xlsx")
    number, day = read_judgements([tmp_path / "v.xlsx"])
    assert (number.value, number.problem) == (text, None)
    assert day.problem == "the value is a date; format the cell as text and type it again"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.csv", f"{HEADER}\nZo\xeb".encode("cp1252"), "is not in UTF-8; save it as `CSV UTF-8`"),
        ("v.csv", f'{HEADER}\n"q'.encode(), "cannot be read"),
        ("v.csv", b"", "the column question_id is missing"),
        ("v.csv", b"," * 2_000, "is too large"),
        ("v.xlsx", b"question_id", "cannot be read .*; save it again as `CSV UTF-8`"),
        ("v.xlsx", None, "cannot be read: No such file"),
    ],
)
def test_unreadable_files_are_refused(
    name: str, content: bytes | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judgements, "LARGEST_FILE", 1_000)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_judgements([tmp_path / name])


def test_workbook_above_a_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_judgements(tmp_path / "v.xlsx", [row()])
    for limit in ("LARGEST_FILE", "MAX_ROWS"):
        with monkeypatch.context() as patch:
            patch.setattr(judgements, limit, 1)
            with pytest.raises(InputError, match=r"v\.xlsx is too large"):
                read_judgements([tmp_path / "v.xlsx"])


@EACH_FORMAT
def test_existing_files_are_replaced_only_on_demand(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("a day's work")
    with pytest.raises(UsageError, match="exists already and may hold somebody's work; name another file"):
        write_judgements(tmp_path / name, [row()])
    assert (tmp_path / name).read_text() == "a day's work"
    write_judgements(tmp_path / name, [row()], new=False)
    assert len(read_judgements([tmp_path / name])) == 1


def test_unwritable_files_and_texts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is neither \.csv nor \.xlsx"):
        write_judgements(tmp_path / "v.ods", [row()])
    with pytest.raises(InputError, match=r"a text of question q is too long for a cell of \.xlsx; name a \.csv file"):
        write_judgements(tmp_path / "v.xlsx", [row(judged="a" * (LARGEST_CELL + 1))])
    with pytest.raises(WorkspaceError, match=r"v\.csv cannot be written: .*; name another file"):
        write_judgements(write_text(tmp_path / "file", "") / "v.csv", [row()])
