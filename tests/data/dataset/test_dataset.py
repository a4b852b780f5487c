"""Datasets, read from a path, and their versions: digests of the contents of facts and questions."""

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from swaymeter.data.dataset.dataset import Dataset, with_current_counts
from swaymeter.data.errors import DamagedFile, InputError
from swaymeter.data.records import Fact, Question, QuestionContext, as_row
from swaymeter.data.records.tables import FACTS, INVENTED, QUESTIONS
from swaymeter.data.sources.dynamicqa.export import write_questions
from swaymeter.data.sources.graph.qec import SOURCE
from swaymeter.data.storage.workspace import Workspace
from tests.data.dataset_samples import (
    KENYA,
    NORWAY,
    PERU,
    RECOUNTED_DISPUTE,
    disputed,
    fact,
    qec_content,
    qec_file,
    question,
    store,
    workspace,
)
from tests.data.warehouse.small_study import row

FATHER = fact("Ada Lovelace", "Lord Byron", "father")
STATIC = question(partition="static", edits=1, question_id="s", subject="Peru")
TEMPORAL, DISPUTED = question(), disputed()


def version(folder: Path, *records: Fact | Question) -> str:
    workspace(folder, *(record for record in records if isinstance(record, Fact)))
    if questions := [record for record in records if isinstance(record, Question)]:
        store(folder, *questions, part="capital")
    return Dataset.of(folder).version


# ---- reading ---------------------------------------------------------------------------------------------------------


def test_a_workspace_is_a_dataset(tmp_path: Path) -> None:
    workspace(
        tmp_path, replace(PERU, retrieved_at="2026-03-02T09:30:00+00:00"), replace(KENYA, retrieved_at=None), FATHER
    )
    store(tmp_path, STATIC, TEMPORAL, part="capital")
    store(tmp_path, DISPUTED, part="Persian Gulf")
    names = Workspace(tmp_path).table(("facts",), "invented-country", INVENTED, {})
    names.write(INVENTED.of([row(INVENTED, name="Orvania")]))
    (tmp_path / "facts" / ".facts-capital.parquet.1-2.unfinished").write_bytes(b"PAR1")
    dataset = Dataset.of(str(tmp_path))
    assert {record.subject for record in dataset.facts} == {"Peru", "Kenya", "Ada Lovelace"}
    assert set(dataset.questions) == {STATIC, TEMPORAL, DISPUTED}
    assert (dataset.relations, dataset.question_relations) == (("capital", "father"), ("capital", "disputable"))
    assert dataset.sources == ("Wikidata", "YAGO")
    assert dataset.retrieved == ("2026-03-01T12:00:00+00:00", "2026-03-02T09:30:00+00:00")
    assert dataset.warnings == ()


def test_a_yago_qec_json_is_a_dataset(tmp_path: Path) -> None:
    dataset = Dataset.of(qec_file(tmp_path, qec_content() | {"http://schema.org/shoeSize": {}}))
    assert [record.subject for record in dataset.facts] == ["Norway", "South Africa"]
    assert (dataset.sources, dataset.retrieved) == ((SOURCE,), None)
    assert dataset.warnings == (
        "keys left out, because the catalog has no relation for them: 'http://schema.org/shoeSize'",
    )


def test_folder_of_published_files_is_dataset(tmp_path: Path) -> None:
    write_questions(tmp_path, [STATIC, TEMPORAL, DISPUTED])
    dataset = Dataset.of(tmp_path)
    assert [record.partition for record in dataset.questions] == ["static", "temporal", "disputable"]
    assert (dataset.sources, dataset.retrieved, dataset.warnings) == (("DynamicQA (copenlu/dynamicqa)",), None, ())
    (tmp_path / "Temporal_final.csv").unlink()
    dataset = Dataset.of(tmp_path)
    assert [record.partition for record in dataset.questions] == ["static", "disputable"]
    assert dataset.warnings == (f"{tmp_path}: there is no Temporal_final.csv",)


def test_only_the_newest_file_of_part_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = store(tmp_path, NORWAY, seed=0)
    slow_clock = SimpleNamespace(now=lambda zone: datetime.now(UTC) - timedelta(minutes=5))
    monkeypatch.setattr("swaymeter.data.storage.artifact.datetime", slow_clock)  # of the host that writes the next file
    new = store(tmp_path, PERU, seed=1)
    store(tmp_path, FATHER)
    store(tmp_path, STATIC, part="capital")
    newest = store(tmp_path, TEMPORAL, part="capital", seed=1)
    store(tmp_path, DISPUTED, part="Capital!")  # another part, whose file has the same name
    os.utime(old)  # a copied workspace has other modification times
    dataset = Dataset.of(tmp_path)
    assert (set(dataset.facts), set(dataset.questions)) == ({PERU, FATHER}, {TEMPORAL, DISPUTED})
    assert dataset.warnings == (
        f"{tmp_path}: capital has 2 files of facts; only the newest is read, {new.name}",
        f"{tmp_path}: disputable capital has 2 files of questions; only the newest is read, {newest.name}",
    )


def test_questions_take_counts_from_a_recounted_dispute(tmp_path: Path) -> None:
    store(tmp_path, DISPUTED, replace(DISPUTED, object="Iraq", question_id="other"), part="Persian Gulf")
    before = Dataset.of(tmp_path)
    store(tmp_path, RECOUNTED_DISPUTE, part="Persian Gulf")
    counted, other = Dataset.of(tmp_path).questions
    assert counted == replace(
        DISPUTED,
        edits=4,
        edit_revisions=(5, 9, 12, 35),
        hidden_edits=2,
        subject_popularity=1700.0,
        page_revision=40,
        retrieved_at="2026-04-01T12:00:00+00:00",
    )
    assert other == before.questions[1]
    assert Dataset.of(tmp_path).version == before.version


@pytest.mark.parametrize(
    "other", [{"page": "Gulf"}, {"object": "Iraq"}, {"replacement": "Iraq"}, {"context": "Iran and another coast."}]
)
def test_counts_of_another_dispute_are_not_used(other: dict[str, str]) -> None:
    assert with_current_counts([DISPUTED], [replace(RECOUNTED_DISPUTE, **other)]) == [DISPUTED]


def qec_without_facts(folder: Path) -> Path:
    predicate, entry = next(iter(qec_content().items()))
    return qec_file(folder, {predicate: entry | {key: [] for key, value in entry.items() if isinstance(value, list)}})


def malformed_questions(folder: Path) -> Path:
    (folder / "Static_final.csv").write_text("id,subj\n")
    return folder


def files_without_questions(folder: Path) -> Path:
    write_questions(folder, [])
    return folder


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (lambda folder: folder / "missing", "missing does not exist; name a workspace with fetched facts or"),
        (lambda folder: folder, " holds no facts and no questions; name a workspace"),
        (lambda folder: "x" * 5000, "does not exist"),
        (lambda folder: "nul\0byte", "does not exist"),
        (lambda folder: store(folder, NORWAY), "parquet is not JSON in UTF-8"),
        (qec_without_facts, "yago_qec.json holds no facts"),
        (files_without_questions, " holds no facts and no questions; name a workspace"),
        (malformed_questions, "/Static_final.csv, line 1: has no column"),
    ],
)
def test_a_path_without_a_dataset_is_refused(path: Callable[[Path], Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        Dataset.of(path(tmp_path))


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    for file in (
        store(tmp_path, NORWAY),
        store(tmp_path, TEMPORAL, part="a"),
        store(tmp_path, RECOUNTED_DISPUTE, part="b"),
    ):
        content = file.read_bytes()
        file.write_bytes(content[:-1])
        with pytest.raises(DamagedFile, match=f"^{file} holds other bytes than were written"):
            Dataset.of(tmp_path)
        file.write_bytes(content)


@pytest.mark.parametrize("key_inputs", [{}, {"subject": ["capital", ""]}, {"step": ["fetch"], "subject": 7}])
def test_a_file_without_its_part_is_refused(key_inputs: dict[str, object], tmp_path: Path) -> None:
    file = Workspace(tmp_path).table(("facts",), "facts", FACTS, key_inputs).write(FACTS.of([as_row(NORWAY)]))
    with pytest.raises(
        InputError, match=f"^the metadata of {file} does not say when or from what the file was made; remove"
    ):
        Dataset.of(tmp_path)


# ---- versions --------------------------------------------------------------------------------------------------------


def test_a_version_depends_on_neither_order_nor_keys(tmp_path: Path) -> None:
    norway = replace(NORWAY, other_objects=("Bergen", "Tromsø"))
    expected = version(tmp_path / "a", norway, PERU, FATHER, STATIC, TEMPORAL)
    store(tmp_path / "b", PERU, replace(norway, other_objects=("Tromsø", "Bergen")), seed=5)
    store(tmp_path / "b", FATHER, seed=6)
    store(tmp_path / "b", replace(TEMPORAL, answers=TEMPORAL.answers[::-1]), part="capital", seed=5)
    store(tmp_path / "b", STATIC, part="other", seed=6)
    assert Dataset.of(tmp_path / "b").version == expected
    assert len(expected) == 16
    assert int(expected, 16) >= 0


def test_facts_and_questions_both_change_the_version(tmp_path: Path) -> None:
    contents = [(NORWAY,), (NORWAY, PERU), (NORWAY, TEMPORAL), (TEMPORAL,), (TEMPORAL, STATIC)]
    assert len({version(tmp_path / str(number), *records) for number, records in enumerate(contents)}) == 5


@pytest.mark.parametrize(
    ("record", "field", "in_digest"),
    [
        *((NORWAY, column.name, column.in_digest) for column in FACTS.columns),
        *((TEMPORAL, column.name, column.in_digest) for column in QUESTIONS.columns),
    ],
)
def test_columns_in_the_digest_change_the_version(
    record: Fact | Question, field: str, in_digest: bool, tmp_path: Path
) -> None:
    text = "Q7" if field.endswith("_id") else "static"  # a Wikidata id, or a text that is also a partition
    values = {"VARCHAR": text, "DOUBLE": 0.25, "BIGINT": 977, "VARCHAR[]": ("x",), "BIGINT[]": (7,)}
    table = FACTS if isinstance(record, Fact) else QUESTIONS
    column_type = next(column.type for column in table.columns if column.name == field)
    value = (QuestionContext("none", "none"),) if field == "contexts" else values[column_type]
    other = replace(record, **{field: value})
    assert getattr(other, field) != getattr(record, field)
    assert (version(tmp_path / "a", record) != version(tmp_path / "b", other)) == in_digest
