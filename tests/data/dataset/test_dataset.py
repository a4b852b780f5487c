"""A dataset is what lies at a path; its version is a digest of what its facts and questions say."""

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
from tests.data.a_dataset import (
    KENYA,
    NORWAY,
    PERU,
    a_dispute,
    disputed,
    fact,
    keep,
    keep_disputes,
    keep_questions,
    published,
    question,
    workspace,
    write,
)
from tests.data.warehouse.small_study import row

FATHER = fact("Ada Lovelace", "Lord Byron", "father")
STATIC = question(partition="static", edits=1, question_id="s", subject="Peru")
TEMPORAL, DISPUTED = question(), disputed()


def version(folder: Path, *records: Fact | Question) -> str:
    workspace(folder, *(one for one in records if isinstance(one, Fact)))
    if questions := [one for one in records if isinstance(one, Question)]:
        keep_questions(folder, "capital", *questions)
    return Dataset.of(folder).version


# ---- reading ---------------------------------------------------------------------------------------------------------


def test_workspace_s_facts_and_questions_are_dataset(tmp_path: Path) -> None:
    workspace(
        tmp_path, replace(PERU, retrieved_at="2026-03-02T09:30:00+00:00"), replace(KENYA, retrieved_at=None), FATHER
    )
    keep_questions(tmp_path, "capital", STATIC, TEMPORAL)
    keep_questions(tmp_path, "Persian Gulf", DISPUTED)
    names = Workspace(tmp_path).table(("facts",), "invented-country", INVENTED, {})
    names.write(INVENTED.of([row(INVENTED, name="Orvania")]))
    (tmp_path / "facts" / ".facts-capital.parquet.1-2.unfinished").write_bytes(b"PAR1")
    read = Dataset.of(str(tmp_path))
    assert {one.subject for one in read.facts} == {"Peru", "Kenya", "Ada Lovelace"}
    assert set(read.questions) == {STATIC, TEMPORAL, DISPUTED}
    assert (read.relations, read.question_relations) == (("capital", "father"), ("capital", "disputable"))
    assert read.sources == ("Wikidata", "YAGO")
    assert read.retrieved == ("2026-03-01T12:00:00+00:00", "2026-03-02T09:30:00+00:00")
    assert read.warnings == ()


def test_a_yago_qec_json_is_a_dataset(tmp_path: Path) -> None:
    read = Dataset.of(write(tmp_path, published() | {"http://schema.org/shoeSize": {}}))
    assert [one.subject for one in read.facts] == ["Norway", "South Africa"]
    assert (read.sources, read.retrieved) == ((SOURCE,), None)
    assert read.warnings == (
        "keys left out, because the catalog has no relation for them: 'http://schema.org/shoeSize'",
    )


def test_folder_of_published_files_is_dataset(tmp_path: Path) -> None:
    write_questions(tmp_path, [STATIC, TEMPORAL, DISPUTED])
    read = Dataset.of(tmp_path)
    assert [one.partition for one in read.questions] == ["static", "temporal", "disputable"]
    assert (read.sources, read.retrieved, read.warnings) == (("DynamicQA (copenlu/dynamicqa)",), None, ())
    (tmp_path / "Temporal_final.csv").unlink()
    read = Dataset.of(tmp_path)
    assert [one.partition for one in read.questions] == ["static", "disputable"]
    assert read.warnings == (f"{tmp_path}: there is no Temporal_final.csv",)


def test_the_newest_file_of_a_part_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = keep(tmp_path, [NORWAY], seed=0)
    behind = SimpleNamespace(now=lambda zone: datetime.now(UTC) - timedelta(minutes=5))
    monkeypatch.setattr("swaymeter.data.storage.artifact.datetime", behind)  # from here on another host writes
    new = keep(tmp_path, [PERU], seed=1)
    keep(tmp_path, [FATHER])
    keep_questions(tmp_path, "capital", STATIC)
    newest = keep_questions(tmp_path, "capital", TEMPORAL, seed=1)
    keep_questions(tmp_path, "Capital!", DISPUTED)  # of the same name as a file, and another part
    os.utime(old)  # a copied workspace has other modification times
    read = Dataset.of(tmp_path)
    assert (set(read.facts), set(read.questions)) == ({PERU, FATHER}, {TEMPORAL, DISPUTED})
    assert read.warnings == (
        f"{tmp_path}: capital has 2 files of facts; only the newest is read, {new.name}",
        f"{tmp_path}: disputable capital has 2 files of questions; only the newest is read, {newest.name}",
    )


def test_disputes_that_were_counted_again_give_their_numbers(tmp_path: Path) -> None:
    keep_questions(tmp_path, "Persian Gulf", DISPUTED, replace(DISPUTED, object="Iraq", question_id="other"))
    before = Dataset.of(tmp_path)
    keep_disputes(tmp_path, "Persian Gulf", a_dispute())
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
def test_another_dispute_s_numbers_are_not_taken(other: dict[str, str]) -> None:
    assert with_current_counts([DISPUTED], [replace(a_dispute(), **other)]) == [DISPUTED]


def nothing_in_qec(folder: Path) -> Path:
    predicate, entry = next(iter(published().items()))
    return write(folder, {predicate: entry | {key: [] for key, value in entry.items() if isinstance(value, list)}})


def malformed_questions(folder: Path) -> Path:
    (folder / "Static_final.csv").write_text("id,subj\n")
    return folder


def no_questions(folder: Path) -> Path:
    write_questions(folder, [])
    return folder


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (lambda folder: folder / "missing", "missing does not exist; name a workspace with fetched facts or"),
        (lambda folder: folder, " holds no facts and no questions; name a workspace"),
        (lambda folder: "x" * 5000, "does not exist"),
        (lambda folder: "nul\0byte", "does not exist"),
        (lambda folder: keep(folder, [NORWAY]), "parquet is not JSON in UTF-8"),
        (nothing_in_qec, "yago_qec.json holds no facts"),
        (no_questions, " holds no facts and no questions; name a workspace"),
        (malformed_questions, "/Static_final.csv, line 1: has no column"),
    ],
)
def test_what_is_no_dataset_is_refused_by_name(path: Callable[[Path], Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        Dataset.of(path(tmp_path))


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    for file in (
        keep(tmp_path, [NORWAY]),
        keep_questions(tmp_path, "a", TEMPORAL),
        keep_disputes(tmp_path, "b", a_dispute()),
    ):
        content = file.read_bytes()
        file.write_bytes(content[:-1])
        with pytest.raises(DamagedFile, match=f"^{file} holds other bytes than were written"):
            Dataset.of(tmp_path)
        file.write_bytes(content)


@pytest.mark.parametrize("made_from", [{}, {"subject": ["capital", ""]}, {"step": ["fetch"], "subject": 7}])
def test_a_file_that_names_no_part_is_refused(made_from: dict[str, object], tmp_path: Path) -> None:
    file = Workspace(tmp_path).table(("facts",), "facts", FACTS, made_from).write(FACTS.of([as_row(NORWAY)]))
    with pytest.raises(InputError, match=f"^{file} has no key in its metadata; remove the file, and run its study"):
        Dataset.of(tmp_path)


# ---- versions --------------------------------------------------------------------------------------------------------


def test_a_version_depends_on_neither_order_nor_keys(tmp_path: Path) -> None:
    norway = replace(NORWAY, other_objects=("Bergen", "Tromsø"))
    one = version(tmp_path / "a", norway, PERU, FATHER, STATIC, TEMPORAL)
    keep(tmp_path / "b", [PERU, replace(norway, other_objects=("Tromsø", "Bergen"))], seed=5)
    keep(tmp_path / "b", [FATHER], seed=6)
    keep_questions(tmp_path / "b", "capital", replace(TEMPORAL, answers=TEMPORAL.answers[::-1]), seed=5)
    keep_questions(tmp_path / "b", "other", STATIC, seed=6)
    assert Dataset.of(tmp_path / "b").version == one
    assert len(one) == 16
    assert int(one, 16) >= 0


def test_facts_and_questions_both_count(tmp_path: Path) -> None:
    contents = [(NORWAY,), (NORWAY, PERU), (NORWAY, TEMPORAL), (TEMPORAL,), (TEMPORAL, STATIC)]
    assert len({version(tmp_path / str(number), *records) for number, records in enumerate(contents)}) == 5


@pytest.mark.parametrize(
    ("record", "field", "in_digest"),
    [
        *((NORWAY, column.name, column.in_digest) for column in FACTS.columns),
        *((TEMPORAL, column.name, column.in_digest) for column in QUESTIONS.columns),
    ],
)
def test_what_counts_changes_the_version(record: Fact | Question, field: str, in_digest: bool, tmp_path: Path) -> None:
    kinds = {"DOUBLE": 0.25, "BIGINT": 977, "VARCHAR[]": ("x",), "BIGINT[]": (7,)}
    table = FACTS if isinstance(record, Fact) else QUESTIONS
    kind = next(column.type for column in table.columns if column.name == field)
    plain = (QuestionContext("none", "none"),) if field == "contexts" else "Q7" if field.endswith("_id") else "static"
    other = replace(record, **{field: kinds.get(kind, plain)})
    assert getattr(other, field) != getattr(record, field)
    assert (version(tmp_path / "a", record) != version(tmp_path / "b", other)) == in_digest
