from dataclasses import replace
from pathlib import Path

import pytest

from swaymeter.data.errors import WorkspaceError
from swaymeter.data.records import PARTITIONS, Question, WikidataId
from swaymeter.data.sources import sample
from swaymeter.data.sources.dynamicqa import published as dynamicqa
from swaymeter.data.sources.dynamicqa.export import from_questions, write_questions
from swaymeter.data.sources.dynamicqa.layout import COLUMNS, FILES
from tests.data.dataset_samples import changed as changed_question
from tests.data.dataset_samples import disputed, question
from tests.data.sources.dynamicqa.small_dynamicqa import (
    DISPUTED,
    NORWAY,
    PERU,
    PUBLISHED_FOLDER,
    temporal,
    with_published,
    write_rows,
)

NOT_IN_LAYOUT = {
    "question_id": "",
    "id_source": None,
    "source": "",
    "licence": "",
    "flags": (),
    "replacement_id": None,
    "replacement_by": None,
    "item_revision": None,
    "edit_revisions": (),
    "hidden_edits": None,
    "address": None,
    "retrieved_at": None,
    "published_row": None,
}


def written_and_read(folder: Path, *questions: Question) -> list[Question]:
    assert write_questions(folder, questions) == []
    return [question for partition in PARTITIONS for question in dynamicqa.questions(folder, partition)]


def in_layout(full: Question) -> Question:
    """Return a question without the fields that the layout lacks."""
    return replace(full, **NOT_IN_LAYOUT)


def test_exported_questions_are_read_back(tmp_path: Path) -> None:
    questions = [question(partition="static", edits=1), question(), disputed()]
    assert list(map(in_layout, written_and_read(tmp_path, *questions))) == list(map(in_layout, questions))


def test_files_have_published_columns_and_line_ends(tmp_path: Path) -> None:
    written_and_read(tmp_path, question(), disputed())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES.values())
    for partition, name in FILES.items():
        content = (tmp_path / name).read_bytes()
        assert content.startswith(",".join(COLUMNS[partition]).encode() + b"\r\n")
    assert (tmp_path / FILES["static"]).read_bytes().count(b"\r\n") == 1
    assert (tmp_path / FILES["temporal"]).read_text(encoding="utf-8").splitlines()[1] == (
        "0,77,Norway,capital,Oslo,Q20,P36,Q585,1500.5,99,What is the capital of Norway?,"
        '"[""Oslo"", ""Christiania""]",3.0,"[ENTITY] is the seat of Norway, [ENTITY].",0.75,Lima,1500.5,99.0'
    )
    assert (tmp_path / FILES["disputable"]).read_text(encoding="utf-8").splitlines()[1] == (
        "0,77,Persian Gulf,What is it called?,Iran and its Iranian coast.,Iran,Peru,3,./result/Persian Gulf-0/31,1500.5"
    )


def exported(folder: Path, questions: list[Question]) -> dict[str, bytes]:
    """Export questions in reverse order, and return the contents of their files."""
    assert write_questions(folder, questions[::-1]) == []
    return {name: (folder / name).read_bytes() for name in FILES.values()}


def test_unchanged_rows_are_exported_byte_for_byte(tmp_path: Path) -> None:
    # the column without a name has the row number
    rows = [{**NORWAY, "": "31", "possible_answers": '["Christiania",  "Oslo"]'}, {**PERU, "": "4"}]
    write_rows(tmp_path, "static", *rows)
    write_rows(tmp_path, "temporal", *([{**temporal(row), "s_pop_new": ""} for row in rows]))
    disputed_row = {column: cell for column, cell in DISPUTED.items() if column != "dir_info"}
    file = write_rows(tmp_path, "disputable", {**disputed_row, "num_edits": "12.0"})
    file.write_bytes(file.read_bytes().replace(b"\r\n", b"\n"))
    before = {name: (tmp_path / name).read_bytes() for name in FILES.values()}
    questions = [question for partition in PARTITIONS for question in dynamicqa.questions(tmp_path, partition)]
    assert exported(tmp_path / "out", questions) == before


def test_only_changed_cells_of_a_row_differ(tmp_path: Path) -> None:
    file = write_rows(tmp_path, "static", NORWAY, PERU)
    oslo, lima = dynamicqa.questions(tmp_path, "static")
    changed = replace(oslo, question="Where is it?", subject_popularity=8.0, edits=2)
    expected = {**NORWAY, "question": "Where is it?", "s_pop": "8", "s_pop_new": "8.0", "num_edits": "2.0"}
    write_rows(file.parent, "static", expected, PERU)
    assert exported(tmp_path / "out", [changed, lima])[file.name] == file.read_bytes()
    with_other_contexts = changed_question(oslo, original_context="It is Oslo.", counter_memory_context="It is Lima.")
    write_rows(file.parent, "static", {**NORWAY, "context": "It is [ENTITY]."}, PERU)
    assert exported(tmp_path / "out", [with_other_contexts, lima])[file.name] == file.read_bytes()


@with_published
def test_published_files_are_exported_byte_for_byte(tmp_path: Path) -> None:
    questions = [question for partition in PARTITIONS for question in dynamicqa.questions(PUBLISHED_FOLDER, partition)]
    assert exported(tmp_path, questions) == {name: (PUBLISHED_FOLDER / name).read_bytes() for name in FILES.values()}


@pytest.mark.parametrize("text", ['say "no", a', "two\nlines", "=1+1", "\u202eabc é", "\ufeffx", "{0} %s", "x" * 5000])
def test_hostile_texts_are_read_back_unchanged(text: str, tmp_path: Path) -> None:
    hostile = question(
        subject=text,
        object=text,
        answers=(text,),
        question=f"{text}?",
        property=text,
        property_id=WikidataId("P36"),
        original_context=f"It is {text}.",
        counter_memory_context="It is Lima.",
        list_id=text,
    )
    hostile_dispute = disputed(subject=text, page=text, question=f"{text}?")
    assert list(map(in_layout, written_and_read(tmp_path, hostile, hostile_dispute))) == [
        in_layout(hostile),
        in_layout(hostile_dispute),
    ]


@pytest.mark.parametrize(
    ("unwritable", "reason"),
    [
        (question(subject="a\0b"), "a CSV cell cannot hold its value for 'subj'"),
        (question(question="one\rtwo"), "a CSV cell cannot hold its value for 'question'"),
        (question(answers=("Oslo", "\ud800")), "a CSV cell cannot hold its value for 'possible_answers'"),
        (question(subject="x" * 140_000), "a CSV cell cannot hold its value for 'subj'"),
        (question(counter_memory_context="Lima, of course."), "its two contexts do not come from one snippet"),
        (question(original_context=""), "its two contexts do not come from one snippet"),
        (question(original_context="[ENTITY]: Oslo", counter_memory_context="[ENTITY]: Lima"), "its two contexts"),
        (disputed(counter_memory_context="Peru and its Peruvian coast."), "its two contexts do not come from one"),
    ],
)
def test_a_question_unfit_for_layout_is_omitted(unwritable: Question, reason: str, tmp_path: Path) -> None:
    ((omitted, message),) = write_questions(tmp_path, [question(), unwritable, disputed()])
    assert omitted == unwritable
    assert message.startswith(reason)
    assert len(dynamicqa.questions(tmp_path, "temporal")) == len(dynamicqa.questions(tmp_path, "disputable")) == 1


def test_an_unwritable_folder_changes_no_file(tmp_path: Path) -> None:
    written_and_read(tmp_path, question())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match="cannot be written"):
        write_questions(tmp_path / "file" / "x", [disputed()])
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before | {"file": b""}


def test_the_bundled_questions_are_read_back() -> None:
    for partition in PARTITIONS:
        rows, omitted = from_questions(sample.questions(partition), partition)
        read = dynamicqa.questions_of(rows, partition, "questions.csv")
        assert omitted == []
        for bundled, again in zip(sample.questions(partition), read, strict=True):
            assert again == replace(
                bundled,
                question_id=again.question_id,
                id_source=again.id_source,
                source=again.source,
                licence=again.licence,
                flags=again.flags,
                property=again.property,
                list_id=again.list_id,
                published_row=again.published_row,
            )
