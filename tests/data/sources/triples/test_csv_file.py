import csv
import io
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.records import Partition, Triple
from swaymeter.data.sources.dynamicqa.layout import FILES
from swaymeter.data.sources.triples.listed import from_csv

HEADER = ("subject_id", "property_id", "object_id", "subject", "property", "object", "question", "answers", "list_id")
ROW = ("Q42", "P106", "Q36180", "Douglas Adams", "occupation", "writer", "What did he do?", '["writer","author"]', "7")


def written(folder: Path, *rows: Sequence[str], delimiter: str = ",", encoding: str = "utf-8") -> Path:
    """A CSV file of rows, the header first."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    file = folder / "facts.csv"
    file.write_bytes(text.getvalue().encode(encoding))
    return file


def with_cells(**cells: str) -> tuple[str, ...]:
    """The row with some cells changed."""
    return tuple(cells.get(column, said) for column, said in zip(HEADER, ROW, strict=True))


def test_a_row_says_all_there_is_to_say(tmp_path: Path) -> None:
    (seed,) = from_csv(written(tmp_path, HEADER, ROW))
    assert seed == Triple(
        relation=seed.relation, subject_id=seed.subject_id, property_id=seed.property_id, object_id=seed.object_id,
        source="a list of Wikidata facts (facts.csv)", licence="facts: Wikidata CC0 1.0", subject="Douglas Adams",
        property="occupation", object="writer", question="What did he do?", answers=("writer", "author"), list_id="7",
    )  # fmt: skip
    assert (seed.relation, seed.subject_id, seed.property_id, seed.object_id) == ("occupation", "Q42", "P106", "Q36180")


@pytest.mark.parametrize(("delimiter", "encoding"), [(",", "utf-8"), (";", "utf-8-sig"), ("\t", "utf-8")])
def test_commas_semicolons_and_tabs_are_read_alike(delimiter: str, encoding: str, tmp_path: Path) -> None:
    row = with_cells(subject='a, b; "c"\td', question="Who?\r\nReally\x00\x7f?", answers="")
    (seed,) = from_csv(written(tmp_path, HEADER, row, delimiter=delimiter, encoding=encoding))
    assert (seed.subject, seed.question, seed.object_id) == ('a, b; "c" d', "Who? Really ?", "Q36180")


@pytest.mark.parametrize(
    ("cell", "answers"),
    [
        ("", ()), ("writer", ("writer",)), ("writer| author |writer|", ("writer", "author")),
        ('["writer", "a | b", "writer", ""]', ("writer", "a | b")),
        ('["\\u5317\\u4eac", "<b>\\n{x}"]', ("北京", "<b> {x}")), ("[]", ()),
    ],
)  # fmt: skip
def test_answers_are_a_json_list_or_parted_by_bars(cell: str, answers: tuple[str, ...], tmp_path: Path) -> None:
    assert from_csv(written(tmp_path, HEADER, with_cells(answers=cell)))[0].answers == answers


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"subject_id": ""}, "subject_id is '', which is not a valid item of Wikidata: expected an id such as Q42"),
        ({"subject_id": "Q0"}, "subject_id is 'Q0'"),
        ({"subject_id": "Ｑ４２"}, "subject_id is 'Ｑ４２'"),
        ({"subject_id": "http://evil.example/entity/Q42"}, "subject_id is 'http://evil.example/entity/Q42'"),
        ({"property_id": "106"}, "property_id is '106', which is not a valid property of Wikidata"),
        ({"answers": '["writer"'}, "answers is '\\[\"writer\"', which is not a list of texts"),
        ({"answers": '["writer", 7]'}, "answers is"),
        ({"answers": '["\\ud800"]'}, "answers is"),
        ({"answers": "[" * 5000}, "answers is"),
    ],
)
def test_a_bad_cell_is_named_with_file_line_and_column(cells: dict[str, str], message: str, tmp_path: Path) -> None:
    two_lines = with_cells(subject_id="Q1", subject="on two\nlines")
    file = written(tmp_path, HEADER, two_lines, with_cells(**cells))
    with pytest.raises(InputError, match=rf"facts\.csv, line 4: {message}"):
        from_csv(file)


def test_a_duplicate_fact_is_named_with_both_lines(tmp_path: Path) -> None:
    other = with_cells(object_id="Q1")
    with pytest.raises(InputError, match=r"line 4: subject_id, property_id, object_id are the same as in line 2"):
        from_csv(written(tmp_path, HEADER, ROW, other, with_cells(question="Another?", list_id="8")))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("subject_id,object_id\nQ1,Q2\n", "has no column property_id or prop_id; it has subject_id, object_id"),
        ("subject_id,subj_id,property_id,object_id\nQ1,Q1,P1,Q2\n", "subject_id and subj_id both hold the subject_id"),
        ("subject_id,property_id,object_id,subject_id\nQ1,P1,Q2,Q3\n", "has the column subject_id twice"),
        ("subject_id,property_id,object_id\n\n", "has a header and no rows"),
        ("subject_id,property_id,object_id\nQ1,P1\n", "line 2: has 2 cells, and the header 3"),
        ("<!doctype html><html><body>404</body></html>", "has no column subject_id"),
    ],
)
def test_a_file_that_is_not_a_list_is_refused(content: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "facts.csv"
    file.write_text(content)
    with pytest.raises(InputError, match=rf"facts\.csv.*{message}"):
        from_csv(file)


def test_a_list_may_be_json(tmp_path: Path) -> None:
    listed = from_csv(written(tmp_path, HEADER, ROW))
    row = dict(zip(HEADER, ROW, strict=True)) | {"answers": ["writer", "author"], "list_id": 7, "subject": None}
    (tmp_path / "facts.csv").write_text(json.dumps([row]))
    assert from_csv(tmp_path / "facts.csv") == [replace(listed[0], subject=None)]


@pytest.mark.skipif("SWAYMETER_DYNAMICQA" not in os.environ, reason="SWAYMETER_DYNAMICQA names no published files")
@pytest.mark.parametrize("partition", ["static", "temporal"])
def test_the_published_questions_are_such_a_list(partition: Partition) -> None:
    file = Path(os.environ["SWAYMETER_DYNAMICQA"]) / FILES[partition]
    seeds = from_csv(file)
    with file.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(seeds) == len(rows) > 1000
    for seed, row in zip(seeds, rows, strict=True):
        assert (seed.subject_id, seed.property_id, seed.object_id) == (row["subj_id"], row["prop_id"], row["obj_id"])
        assert set(seed.answers) == {" ".join(form.split()) for form in json.loads(row["possible_answers"])} - {""}
        assert seed.list_id == row["id"]
