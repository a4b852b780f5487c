from dataclasses import replace
from pathlib import Path

import pytest

from data.dataset.dataset import Dataset
from data.dataset.reading import with_current_counts
from data.errors import DamagedFile, InputError
from data.records import Question, as_row
from data.records.tables import DISPUTES, QUESTIONS
from data.sources.dynamicqa.export import write_questions
from tests.data.a_dataset import (
    NORWAY,
    PERU,
    a_dispute,
    disputed,
    keep_disputes,
    keep_questions,
    question,
    workspace,
)

STATIC = question(partition="static", edits=1, question_id="s", subject="Peru")
TEMPORAL, DISPUTED = question(), disputed()


def version(folder: Path, *questions: Question) -> str:
    keep_questions(folder, "capital", *questions)
    return Dataset.of(folder).version


def test_questions_of_all_parts_are_in_the_dataset(tmp_path: Path) -> None:
    keep_questions(tmp_path, "capital", STATIC, TEMPORAL)
    keep_questions(tmp_path, "Persian Gulf", DISPUTED)
    keep_questions(tmp_path, "static", replace(STATIC, subject="Kenya"))
    read = Dataset.of(tmp_path)
    assert set(read.questions) == {STATIC, TEMPORAL, DISPUTED, replace(STATIC, subject="Kenya")}
    assert (read.facts, read.relations, read.question_relations) == ((), (), ("capital", "disputable"))
    assert read.sources == ("Wikidata",)
    assert read.retrieved == ("2026-03-01T12:00:00+00:00", "2026-03-01T12:00:00+00:00")
    assert read.warnings == ()


def test_facts_and_questions_are_one_dataset(tmp_path: Path) -> None:
    facts = Dataset.of(workspace(tmp_path, NORWAY, PERU))
    keep_questions(tmp_path, "capital", TEMPORAL)
    both = Dataset.of(tmp_path)
    assert (set(both.facts), both.questions) == ({NORWAY, PERU}, (TEMPORAL,))
    assert both.sources == ("Wikidata", "YAGO")
    assert len({facts.version, both.version, replace(both, facts=()).version}) == 3


def test_a_folder_of_the_published_files_is_a_dataset(tmp_path: Path) -> None:
    write_questions(tmp_path, [STATIC, TEMPORAL, DISPUTED])
    read = Dataset.of(tmp_path)
    assert [one.partition for one in read.questions] == ["static", "temporal", "disputable"]
    assert (read.sources, read.retrieved, read.warnings) == (("DynamicQA (copenlu/dynamicqa)",), None, ())
    (tmp_path / "Temporal_final.csv").unlink()
    read = Dataset.of(tmp_path)
    assert [one.partition for one in read.questions] == ["static", "disputable"]
    assert read.warnings == (f"{tmp_path}: there is no Temporal_final.csv",)


def test_a_malformed_published_file_is_refused_by_name(tmp_path: Path) -> None:
    write_questions(tmp_path, [STATIC])
    (tmp_path / "Static_final.csv").write_text("id,subj\n")
    with pytest.raises(InputError, match=f"^{tmp_path}/Static_final.csv, line 1: has no column"):
        Dataset.of(tmp_path)


def test_files_without_a_row_are_no_dataset(tmp_path: Path) -> None:
    write_questions(tmp_path, [])
    with pytest.raises(InputError, match=f"^{tmp_path} holds no facts and no questions; name a workspace"):
        Dataset.of(tmp_path)


def test_the_newest_file_of_a_part_counts(tmp_path: Path) -> None:
    keep_questions(tmp_path, "capital", STATIC)
    newest = keep_questions(tmp_path, "capital", TEMPORAL, seed=1)
    keep_questions(tmp_path, "Capital!", DISPUTED)  # of the same name as a file, and another part
    read = Dataset.of(tmp_path)
    assert set(read.questions) == {TEMPORAL, DISPUTED}
    assert read.warnings == (
        f"{tmp_path}: disputable capital has 2 files of questions; the newest counts, {newest.name}",
    )


def test_disputes_that_were_counted_again_give_their_numbers(tmp_path: Path) -> None:
    keep_questions(tmp_path, "Persian Gulf", DISPUTED, replace(DISPUTED, object="Iraq", question_id="other"))
    before = Dataset.of(tmp_path)
    keep_disputes(tmp_path, "Persian Gulf", a_dispute())
    counted, other = Dataset.of(tmp_path).questions
    assert counted == replace(
        DISPUTED, edits=4, edit_revisions=(5, 9, 12, 35), hidden_edits=2, subject_popularity=1700.0, page_revision=40,
        retrieved_at="2026-04-01T12:00:00+00:00",
    )  # fmt: skip
    assert other == before.questions[1]
    assert Dataset.of(tmp_path).version == before.version


@pytest.mark.parametrize(
    "other", [{"page": "Gulf"}, {"object": "Iraq"}, {"replacement": "Iraq"}, {"context": "Iran and another coast."}]
)
def test_another_dispute_s_numbers_are_not_taken(other: dict[str, str]) -> None:
    assert with_current_counts([DISPUTED], [replace(a_dispute(), **other)]) == [DISPUTED]


def test_a_version_depends_on_neither_order_nor_keys(tmp_path: Path) -> None:
    one = version(tmp_path / "a", STATIC, TEMPORAL)
    keep_questions(tmp_path / "b", "capital", replace(TEMPORAL, answers=TEMPORAL.answers[::-1]), seed=5)
    keep_questions(tmp_path / "b", "other", STATIC, seed=6)
    assert Dataset.of(tmp_path / "b").version == one
    assert len(one) == 16
    assert int(one, 16) >= 0


UNCOUNTED = {
    "edits": 9, "subject_popularity": 1.0, "object_popularity": None, "replacement_by": "embeddings",
    "replacement_quality": 0.1, "item_revision": 99, "page_revision": 98, "edit_revisions": (1, 2), "hidden_edits": 7,
    "address": "elsewhere", "retrieved_at": "2027-01-01T00:00:00+00:00",
}  # fmt: skip


@pytest.mark.parametrize(("field", "value"), UNCOUNTED.items())
def test_counting_anew_and_provenance_change_no_version(field: str, value: object, tmp_path: Path) -> None:
    other = replace(TEMPORAL, **{field: value})
    assert version(tmp_path / "a", TEMPORAL) == version(tmp_path / "b", other)


@pytest.mark.parametrize("field", [column.name for column in QUESTIONS.columns if column.counts])
def test_whatever_else_a_question_says_changes_the_version(field: str, tmp_path: Path) -> None:
    value: object = ("x",) if isinstance(getattr(TEMPORAL, field), tuple) else "Q7" if field.endswith("id") else "x"
    other = replace(TEMPORAL, **{field: value})
    assert version(tmp_path / "a", TEMPORAL) != version(tmp_path / "b", other)


def test_a_damaged_file_of_questions_or_disputes_is_named(tmp_path: Path) -> None:
    for file in (keep_questions(tmp_path, "capital", TEMPORAL), keep_disputes(tmp_path, "Persian Gulf", a_dispute())):
        content = file.read_bytes()
        file.write_bytes(content[:100])
        with pytest.raises(DamagedFile, match=f"^{file} holds other bytes"):
            Dataset.of(tmp_path)
        file.write_bytes(content)


def test_the_records_fit_their_tables() -> None:
    assert QUESTIONS.of([as_row(TEMPORAL), as_row(DISPUTED)]).num_rows == 2
    assert DISPUTES.of([as_row(a_dispute())]).num_rows == 1
