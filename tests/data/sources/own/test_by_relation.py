"""Own facts and contexts: every row is used as it was meant, or named with its line and what is wrong."""

import json
import logging
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from swaymeter.data.errors import InputError, MissingFile
from swaymeter.data.sources.own.facts import ContextRow, FactRow, facts_of, rows_by_relation
from swaymeter.data.sources.own.rows import Origin

HEADER = "relation,subject,object,aliases,subject_id,note"
OSLO = "capital,Norway,Oslo,Christiania|Kristiania,Q20,north"
LIMA = "capital,Peru,Lima,,,"
ORIGIN = Origin("Atlas", "CC0 1.0")


def written(folder: Path, *rows: str, name: str = "mine.csv") -> Path:
    file = folder / name
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


def test_rows_become_facts(tmp_path: Path) -> None:
    file = written(tmp_path, HEADER, OSLO, LIMA, "father,Ada,Byron,,,", "capital,Norway,Bergen,,,")
    rows = rows_by_relation(file, "facts.file", FactRow, {})
    assert list(rows) == ["capital", "father"]
    norway, peru = facts_of(rows["capital"], ORIGIN)
    assert (norway.subject, norway.object, norway.subject_id) == ("Norway", "Oslo", "Q20")
    assert norway.other_objects == ("Christiania", "Kristiania", "Bergen")
    assert (norway.source, norway.licence, norway.id_source) == ("Atlas", "CC0 1.0", "Atlas")
    assert (peru.other_objects, peru.subject_id, peru.id_source) == ((), None, None)


def test_every_format_gives_the_same_rows(tmp_path: Path) -> None:
    cells = {"relation": "capital", "subject": "Norway", "object": "Oslo", "aliases": ["Christiania", "Kristiania"]}
    pq.write_table(pa.Table.from_pylist([{**cells, "subject_id": "Q20", "more": 1.5}]), tmp_path / "mine.parquet")
    files = [
        written(tmp_path, HEADER, OSLO),
        written(tmp_path, HEADER.replace(",", "\t"), OSLO.replace(",", "\t"), name="mine.tsv"),
        written(tmp_path, json.dumps({**cells, "subject_id": "Q20", "more": [1]}), name="mine.jsonl"),
        tmp_path / "mine.parquet",
    ]
    assert len({rows_by_relation(file, "facts.file", FactRow, {})["capital"] for file in files}) == 1


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("capitol,Peru,Lima,,,", "relation: no relation is named 'capitol'; did you mean 'capital'?"),
        (",Peru,Lima,,,", "relation: is missing; add it"),
        ("capital,,Lima,,,", "subject: is missing; add it"),
        ("capital,Peru,Lima,[1,,", "aliases: is not a list"),
        ("capital,Peru,Lima,,20,", "subject_id: '20' is not a Wikidata id; write Q or P and a number"),
        ('capital,"Peru\nChile",Lima,,,', "subject: is more than one line"),
        ("capital,Peru,Li\x07ma,,,", "object: holds the control character U+0007"),
        ("capital,Peru", "has 2 cells, and the header 6"),
        (OSLO, "is the same as line 2; leave one out"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(
    row: str, problem: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = written(tmp_path, HEADER, OSLO, row, LIMA)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):  # what is known of a file is not told again
            rows = rows_by_relation(file, "facts.file", FactRow, {})
    assert [fact.subject for fact in rows["capital"]] == ["Norway", "Peru"]
    (message,) = caplog.messages
    assert message.startswith(f"{file}: 1 of 3 rows cannot be used: line 3: {problem}")


def test_a_file_without_a_usable_row_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"2 of 2 rows cannot be used: line 2: subject: .*; line 3: has 1 cells"):
        rows_by_relation(written(tmp_path, HEADER, "capital,,Lima,,,", "capital"), "facts.file", FactRow, {})
    with pytest.raises(InputError, match="has no column relation; it has subject, object"):
        rows_by_relation(written(tmp_path, "subject,object", "Peru,Lima"), "facts.file", FactRow, {})
    with pytest.raises(MissingFile, match=r"facts.file: .*gone.csv cannot be read"):
        rows_by_relation(tmp_path / "gone.csv", "facts.file", FactRow, {})


def test_contexts_have_a_kind(tmp_path: Path) -> None:
    rows = ("capital,It is Lima.,,,", "capital,Not Oslo., NEGATION ,Norway,Oslo")
    file = written(tmp_path, "relation,text,kind,entity,object", *rows)
    assert rows_by_relation(file, "contexts.file", ContextRow, {})["capital"] == (
        ContextRow(relation="capital", text="It is Lima."),
        ContextRow(relation="capital", text="Not Oslo.", kind="negation", entity="Norway", object="Oslo"),
    )
    wrong = written(tmp_path, "relation,text,kind", "capital,It is Lima.,maybe", "capital,,base")
    with pytest.raises(InputError, match=r"line 2: kind: expected 'base', .*line 3: text: is missing"):
        rows_by_relation(wrong, "contexts.file", ContextRow, {})


def test_hostile_names_are_kept_as_texts(tmp_path: Path) -> None:
    names = ["../../etc/passwd", "'; DROP TABLE facts; --", "{answer}", "=HYPERLINK(1)", "<script>", "\u202eمرحبا"]
    lines = [json.dumps({"relation": "capital", "subject": name, "object": name, name: name}) for name in names]
    rows = rows_by_relation(written(tmp_path, *lines, name="mine.jsonl"), "facts.file", FactRow, {})
    assert [(fact.subject, fact.object) for fact in facts_of(rows["capital"], ORIGIN)] == [(n, n) for n in names]
