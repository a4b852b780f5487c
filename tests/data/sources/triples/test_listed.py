import csv
import hashlib
import io
import json
import logging
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import huggingface_hub
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import constants

from swaymeter.data.errors import InputError, ServiceError
from swaymeter.data.records import Partition, RelationName, Triple, WikidataId
from swaymeter.data.sources.dynamicqa.layout import FILES
from swaymeter.data.sources.triples.listed import DATASET, PROPERTIES, from_file, popqa
from tests.data.sources.servers.faults import FaultServer, ServedResponse, serving

HEADER = ("subject_id", "property_id", "object_id", "subject", "property", "object", "question", "answers", "list_id")
ROW = ("Q42", "P106", "Q36180", "Douglas Adams", "occupation", "writer", "What did he do?", '["writer","author"]', "7")


def csv_text(*rows: Sequence[str], delimiter: str = ",") -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue()


def write_csv(folder: Path, *rows: Sequence[str], delimiter: str = ",") -> Path:
    file = folder / "facts.csv"
    file.write_bytes(csv_text(*rows, delimiter=delimiter).encode())
    return file


def with_cells(**cells: str) -> tuple[str, ...]:
    """Return ROW with other cells."""
    return tuple(cells.get(column, cell) for column, cell in zip(HEADER, ROW, strict=True))


def test_row_becomes_a_triple_with_every_field(tmp_path: Path) -> None:
    (triple,) = from_file(write_csv(tmp_path, HEADER, ROW))
    assert triple == Triple(
        relation=RelationName("occupation"),
        subject_id=WikidataId("Q42"),
        property_id=WikidataId("P106"),
        object_id=WikidataId("Q36180"),
        source="a list of Wikidata facts (facts.csv)",
        licence="facts: Wikidata CC0 1.0",
        subject="Douglas Adams",
        property="occupation",
        object="writer",
        question="What did he do?",
        answers=("writer", "author"),
        list_id="7",
    )


def test_cells_become_texts_of_one_line(tmp_path: Path) -> None:
    row = with_cells(subject='a, b; "c"\td', question="Who?\r\nReally\x00\x7f?", answers="")
    (triple,) = from_file(write_csv(tmp_path, HEADER, row, delimiter=";"))
    assert (triple.subject, triple.question, triple.object_id) == ('a, b; "c" d', "Who? Really ?", "Q36180")


@pytest.mark.parametrize(
    ("cell", "answers"),
    [
        ("", ()),
        ("writer", ("writer",)),
        ("writer| author |writer|", ("writer", "author")),
        ('["writer", "a | b", "writer", ""]', ("writer", "a | b")),
        ('["\\u5317\\u4eac", "<b>\\n{x}"]', ("北京", "<b> {x}")),
        ("[]", ()),
    ],
)
def test_answers_are_json_or_separated_by_bars(cell: str, answers: tuple[str, ...], tmp_path: Path) -> None:
    assert from_file(write_csv(tmp_path, HEADER, with_cells(answers=cell)))[0].answers == answers


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
def test_a_bad_cell_is_named_with_its_position(cells: dict[str, str], message: str, tmp_path: Path) -> None:
    two_lines = with_cells(subject_id="Q1", subject="on two\nlines")
    file = write_csv(tmp_path, HEADER, two_lines, with_cells(**cells))
    with pytest.raises(InputError, match=rf"facts\.csv, line 4: {message}"):
        from_file(file)


def test_a_duplicate_fact_is_named_with_both_lines(tmp_path: Path) -> None:
    other = with_cells(object_id="Q1")
    with pytest.raises(InputError, match=r"line 4: the row has the same subject_id, property_id, object_id as line 2"):
        from_file(write_csv(tmp_path, HEADER, ROW, other, with_cells(question="Another?", list_id="8")))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("subject_id,object_id\nQ1,Q2\n", "has no column property_id or prop_id; the file has subject_id, object_id"),
        ("subject_id,subj_id,property_id,object_id\nQ1,Q1,P1,Q2\n", "subject_id and subj_id both hold the subject_id"),
        ("subject_id,property_id,object_id\n\n", "has a header and no rows"),
        ("subject_id,property_id,object_id\nQ1,P1\n", "line 2: has 2 cells, and the header 3"),
    ],
)
def test_file_that_is_not_a_list_is_refused(content: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "facts.csv"
    file.write_text(content)
    with pytest.raises(InputError, match=rf"facts\.csv.*{message}"):
        from_file(file)


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_list_may_be_json_or_parquet(missing: Any, tmp_path: Path) -> None:
    triples = from_file(write_csv(tmp_path, HEADER, ROW))
    row = dict(zip(HEADER, ROW, strict=True)) | {"answers": ["writer", "author"], "list_id": 7, "subject": missing}
    (tmp_path / "facts.csv").write_text(json.dumps([row]))  # the content decides the format, and not the file's name
    assert from_file(tmp_path / "facts.csv") == [replace(triples[0], subject=None)]
    pq.write_table(pa.Table.from_pylist([row | {"object": date(2020, 1, 2)}]), tmp_path / "facts.csv")
    assert "2020-01-02" in str(from_file(tmp_path / "facts.csv")[0].object)


@pytest.mark.skipif("SWAYMETER_DYNAMICQA" not in os.environ, reason="SWAYMETER_DYNAMICQA names no published files")
@pytest.mark.parametrize("partition", ["static", "temporal"])
def test_published_questions_are_a_list_of_facts(partition: Partition) -> None:
    file = Path(os.environ["SWAYMETER_DYNAMICQA"]) / FILES[partition]
    triples = from_file(file)
    with file.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(triples) == len(rows) > 1000
    for triple, row in zip(triples, rows, strict=True):
        assert (triple.subject_id, triple.property_id, triple.object_id) == (
            row["subj_id"],
            row["prop_id"],
            row["obj_id"],
        )
        assert set(triple.answers) == {" ".join(form.split()) for form in json.loads(row["possible_answers"])} - {""}
        assert triple.list_id == row["id"]


POPQA_HEADER = (
    "id",
    "subj",
    "prop",
    "obj",
    "subj_id",
    "prop_id",
    "obj_id",
    "s_aliases",
    "o_aliases",
    "s_uri",
    "o_uri",
    "s_wiki_title",
    "o_wiki_title",
    "s_pop",
    "o_pop",
    "question",
    "possible_answers",
)
COMMIT = "0123456789abcdef0123456789abcdef01234567"
DOWNLOAD = huggingface_hub.hf_hub_download


def popqa_row(number: int, prop: str = "occupation", **cells: str) -> list[str]:
    """Return a row with the columns of the published file; subj_id, prop_id and obj_id are PopQA's own numbers."""
    defaults = {
        "id": str(4_000_000 + number),
        "subj": f"Ada Example {number}",
        "prop": prop,
        "obj": "writer",
        "subj_id": "1893",
        "prop_id": "106",
        "obj_id": "2834605",
        "s_aliases": "[]",
        "o_aliases": '["author"]',
        "s_uri": f"http://www.wikidata.org/entity/Q{number}",
        "o_uri": "http://www.wikidata.org/entity/Q36180",
        "s_wiki_title": f"Ada Example {number}",
        "o_wiki_title": "Writer",
        "s_pop": "142",
        "o_pop": "25692",
        "question": f"What is Ada Example {number}'s {prop}?",
        "possible_answers": '["writer", "author"]',
    }
    return list((defaults | cells).values())


def write_popqa(folder: Path, *rows: list[str]) -> Path:
    file = folder / "test.tsv"
    file.write_text(csv_text(POPQA_HEADER, *rows, delimiter="\t"), newline="")
    return file


def test_popqa_row_has_ids_from_addresses(tmp_path: Path) -> None:
    (triple,) = popqa(write_popqa(tmp_path, popqa_row(7)))
    assert (triple.subject_id, triple.property_id, triple.object_id) == ("Q7", "P106", "Q36180")
    assert (triple.relation, triple.property, triple.subject, triple.object) == (
        "occupation",
        "occupation",
        "Ada Example 7",
        "writer",
    )
    assert (triple.question, triple.answers) == ("What is Ada Example 7's occupation?", ("writer", "author"))
    assert (triple.list_id, triple.source, triple.retrieved_at) == ("4000007", "PopQA (akariasai/PopQA)", None)


def test_sixteen_properties_of_popqa_have_wikidata_ids(tmp_path: Path) -> None:
    triples = popqa(write_popqa(tmp_path, *(popqa_row(number, prop) for number, prop in enumerate(PROPERTIES, 1))))
    assert len({(triple.property_id, triple.relation) for triple in triples}) == 16
    relations = {triple.property: (triple.property_id, triple.relation) for triple in triples}
    assert relations["place of birth"] == ("P19", "birthPlace")
    assert relations["capital of"] == ("P1376", "capitalOf")


def test_duplicate_facts_are_read_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    triples = popqa(write_popqa(tmp_path, popqa_row(1), popqa_row(2), popqa_row(1, id="9"), popqa_row(1, "genre")))
    assert [(triple.subject_id, triple.property_id, triple.list_id) for triple in triples] == [
        ("Q1", "P106", "4000001"),
        ("Q2", "P106", "4000002"),
        ("Q1", "P136", "4000001"),
    ]
    assert "1 of 4 rows are duplicates" in caplog.text


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"prop": "religon"}, "prop is 'religon', which is not a property of PopQA; did you mean 'religion'?"),
        ({"prop": "P106"}, "prop is 'P106', which is not a property of PopQA; known: author, capital, capital of"),
        ({"s_uri": "1893"}, "s_uri is '1893', which is not a valid item of Wikidata"),
        ({"o_uri": ""}, "o_uri is ''"),
        ({"possible_answers": "['writer'"}, "possible_answers is"),
    ],
)
def test_a_bad_cell_of_popqa_is_named(cells: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"test\.tsv, line 3: {message}"):
        popqa(write_popqa(tmp_path, popqa_row(1), popqa_row(2, **cells)))


def test_another_list_is_not_popqa(tmp_path: Path) -> None:
    other = tmp_path / "facts.csv"
    other.write_text("subject_id,property_id,object_id\nQ1,P1,Q2\n")
    with pytest.raises(InputError, match=r"facts\.csv has no column s_uri"):
        popqa(other)
    with pytest.raises(InputError, match=r"is PopQA's list, .*; set `source: popqa` for this list"):
        from_file(write_popqa(tmp_path, popqa_row(1)))


@pytest.fixture(autouse=True)
def _separate_hub_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Allow downloads into the test's folder; the hub's library reads HF_HUB_OFFLINE only when it is imported."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", partial(DOWNLOAD, cache_dir=tmp_path))


@contextmanager
def hub(folder: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, status: int = 200) -> Iterator[FaultServer]:
    """Run a hub that has the dataset; downloads go into `folder`."""
    digest = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    with serving(ServedResponse(content, status, {"ETag": f'"{digest}"', "X-Repo-Commit": COMMIT})) as server:
        download = partial(DOWNLOAD, endpoint=server.address, cache_dir=folder)
        monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
        yield server


def test_popqa_without_file_comes_from_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = csv_text(POPQA_HEADER, popqa_row(1), popqa_row(2), delimiter="\t").encode()
    with hub(tmp_path, monkeypatch, content) as server:
        triples = popqa(None)
        assert popqa(None, offline=True) == triples
    file = f"/ask/datasets/{DATASET}/resolve/main/test.tsv"
    assert [(request.method, request.path) for request in server.received] == [("HEAD", file), ("GET", file)]
    assert [triple.subject_id for triple in triples] == ["Q1", "Q2"]
    assert triples[0].retrieved_at is not None
    assert abs((datetime.fromisoformat(triples[0].retrieved_at) - datetime.now(UTC)).total_seconds()) < 30


def test_changed_list_in_hubs_cache_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hub(tmp_path, monkeypatch, csv_text(POPQA_HEADER, popqa_row(1), delimiter="\t").encode()):
        popqa(None)
    (file,) = tmp_path.glob("**/snapshots/**/test.tsv")
    file.write_bytes(file.read_bytes().replace(b"writer", b"waiter"))
    with pytest.raises(ServiceError, match=rf"PopQA's list in the hub's cache is damaged: .*; delete {file.resolve()}"):
        popqa(None, offline=True)


@pytest.mark.parametrize(("status", "offline"), [(200, True), (401, False), (404, False)])
def test_error_without_file_gives_advice(
    status: int, offline: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = pytest.raises(
        ServiceError,
        match=r"not on this machine .*; name a copy of the list under `triples.file`, run again with a network, or",
    )
    with hub(tmp_path, monkeypatch, b"{}", status), refused:
        popqa(None, offline=offline)
