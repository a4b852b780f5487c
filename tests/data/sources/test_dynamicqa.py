import csv
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from data.errors import InputError, WorkspaceError
from data.records import PARTITIONS, SLOT, Partition, as_row
from data.sources import dynamicqa, slots
from data.sources.fetch import fetch_questions
from data.tables import QUESTIONS
from data.workspace import Workspace

ROW = {
    "": "0", "id": "0", "subj": "Norway", "prop": "capital city", "obj": "Oslo", "replace_name": "Lima",
    "question": "What is the seat of Norway?", "context": "The seat of Norway is [ENTITY].", "subj_id": "Q20",
    "prop_id": "P36", "obj_id": "Q585", "num_edits": "1", "s_pop": "1500.5", "o_pop": "99",
    "possible_answers": '["Oslo", "Christiania"]',
}  # fmt: skip
DISPUTED = {
    "": "0", "id": "7", "subj": "Persian Gulf", "question": "What is it called?", "obj": "Iran", "replace_name": "Peru",
    "context": "Iran and its Iranian coast, says IRAN.", "num_edits": "12", "s_pop": "",
}  # fmt: skip

Handle = Callable[[BaseHTTPRequestHandler], None]


def write(folder: Path, partition: Partition, *rows: dict[str, str], columns: list[str] | None = None) -> Path:
    file = folder / dynamicqa.FILES[partition]
    with file.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, columns or list(rows[0]), extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return file


@contextmanager
def server(answer: Handle) -> Iterator[tuple[str, list[str]]]:
    """A server on 127.0.0.1: its address, and the paths it was asked for."""
    asked: list[str] = []

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            answer(self)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answers) as served:
        thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{served.server_port}/Data", asked
        finally:
            served.shutdown()
            thread.join()


def say(content: bytes, *, status: int = 200, promised: int | None = None) -> Handle:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Length", str(len(content) if promised is None else promised))
        request.end_headers()
        request.wfile.write(content)

    return answer


def test_a_row_becomes_a_question_with_its_two_contexts(tmp_path: Path) -> None:
    write(tmp_path, "static", ROW)
    (question,) = dynamicqa.questions(tmp_path, "static")
    assert question.original_context == "The seat of Norway is Oslo."
    assert question.counter_memory_context == "The seat of Norway is Lima."
    assert question.answers == ("Oslo", "Christiania")
    assert (question.subject_id, question.property_id, question.object_id) == ("Q20", "P36", "Q585")
    assert (question.edits, question.subject_popularity, question.object_popularity) == (1, 1500.5, 99.0)
    assert question.flags == ()


def test_a_property_of_the_catalog_gives_the_relation_its_name_there(tmp_path: Path) -> None:
    write(tmp_path, "static", ROW, {**ROW, "id": "1", "prop_id": "P999999", "prop": "Twinned town of"})
    relations = [question.relation for question in dynamicqa.questions(tmp_path, "static")]
    assert relations == ["capital", "twinnedTownOf"]


def test_a_disputable_context_is_changed_in_whole_words_only(tmp_path: Path) -> None:
    write(tmp_path, "disputable", DISPUTED)
    (question,) = dynamicqa.questions(tmp_path, "disputable")
    assert question.original_context == DISPUTED["context"]
    assert question.counter_memory_context == "Peru and its Iranian coast, says Peru."
    assert (question.relation, question.subject_id, question.id_source) == ("disputable", None, None)
    assert (question.edits, question.subject_popularity) == (12, None)


@pytest.mark.parametrize(
    ("changed", "flag"),
    [
        ({"obj": "", "possible_answers": ""}, slots.EMPTY_ANSWER),
        ({"replace_name": "  "}, slots.EMPTY_REPLACEMENT),
        ({"question": ""}, slots.EMPTY_QUESTION),
        ({"context": "The seat of Norway is Oslo."}, slots.NO_SLOT),
        ({"replace_name": "christiania"}, slots.REPLACEMENT_IS_ANSWER),
        ({"question": "Is Oslo the seat of Norway?"}, slots.QUESTION_CONTAINS_ANSWER),
    ],
)
def test_a_row_that_breaks_a_rule_is_flagged_and_not_lost(changed: dict[str, str], flag: str, tmp_path: Path) -> None:
    write(tmp_path, "temporal", {**ROW, **changed}, {**ROW, "id": "1"})
    broken, sound = dynamicqa.questions(tmp_path, "temporal")
    assert broken.flags == (flag,)
    assert sound.flags == ()


@pytest.mark.parametrize(("context", "answer"), [("Its coast is long.", "Iran"), ("The Iranian coast.", "Iran")])
def test_a_disputable_context_without_its_object_is_flagged(context: str, answer: str, tmp_path: Path) -> None:
    write(tmp_path, "disputable", {**DISPUTED, "context": context, "obj": answer})
    (question,) = dynamicqa.questions(tmp_path, "disputable")
    assert question.flags == (slots.OBJECT_NOT_IN_CONTEXT,)
    assert question.counter_memory_context == ""


HOSTILE = [
    'He said "no", then left',
    "two\nlines",
    "=cmd|'/C calc'!A0",
    "{entity} {answer}",
    "Ωμέγα 模型 🙂",
    "\\1 $& %s",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_kept_as_they_are(text: str, tmp_path: Path) -> None:
    write(tmp_path, "static", {**ROW, "obj": text, "possible_answers": "", "subj": text})
    (question,) = dynamicqa.questions(tmp_path, "static")
    assert question.answers == (text,)
    assert question.original_context == f"The seat of Norway is {text}."
    assert QUESTIONS.of([as_row(question)]).to_pylist()[0]["subject"] == text


@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("column", ["question", "context", "obj", "replace_name", "num_edits"])
def test_a_missing_column_is_named_with_its_file(partition: Partition, column: str, tmp_path: Path) -> None:
    row = DISPUTED if partition == "disputable" else ROW
    file = write(tmp_path, partition, row, columns=[name for name in row if name != column])
    with pytest.raises(InputError, match=f"{file.name} has no column {column}; expected"):
        dynamicqa.questions(tmp_path, partition)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"possible_answers": "['Oslo']"}, "possible_answers is no JSON list"),
        ({"possible_answers": '{"a": 1}'}, "possible_answers is no JSON list"),
        ({"possible_answers": "["}, "possible_answers is no JSON list"),
        ({"num_edits": "often"}, "num_edits is no number: 'often'"),
        ({"num_edits": "inf"}, "num_edits is no number: 'inf'"),
        ({"s_pop": "1,500"}, "s_pop is no number: '1,500'"),
        ({"o_pop": "1e999"}, "o_pop is no number"),
        ({"prop_id": "", "prop": "..."}, "prop makes no relation name"),
        ({"prop_id": "", "prop": "1st place"}, "prop makes no relation name: '1st place'"),
    ],
)
def test_a_malformed_value_is_named_with_file_and_line(changed: dict[str, str], said: str, tmp_path: Path) -> None:
    file = write(tmp_path, "static", ROW, {**ROW, "id": "1", **changed})
    with pytest.raises(InputError) as raised:
        dynamicqa.questions(tmp_path, "static")
    assert str(raised.value).startswith(f"{file}, line 3: {said}")


def test_what_is_no_wikidata_id_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "static", {**ROW, "subj_id": "nan", "obj_id": "Q1٣"})
    (question,) = dynamicqa.questions(tmp_path, "static")
    assert (question.subject_id, question.object_id, question.id_source) == (None, None, None)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00garbage", b"just,one,line\n", b"<html>log in</html>"])
def test_what_is_no_such_csv_is_refused_with_its_name(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / dynamicqa.FILES["static"]
    file.write_bytes(content)
    with pytest.raises(InputError, match=f"{file.name} (has no column|is no CSV)"):
        dynamicqa.questions(tmp_path, "static")


def test_a_row_that_ends_too_early_is_flagged(tmp_path: Path) -> None:
    file = write(tmp_path, "disputable", DISPUTED)
    with file.open("a", encoding="utf-8") as handle:
        handle.write("1,8,Persian\r\n")
    assert slots.EMPTY_ANSWER in dynamicqa.questions(tmp_path, "disputable")[1].flags


@pytest.mark.parametrize("folder", ["missing", "file"])
def test_a_folder_that_is_none_is_named_with_what_belongs_in_it(folder: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"Static_final.csv cannot be read: .*; expected the folder of .*Disputable"):
        dynamicqa.questions(tmp_path / folder, "static")


def test_a_file_is_brought_whole_and_only_once(tmp_path: Path) -> None:
    source = write(tmp_path, "static", ROW)
    content = source.read_bytes()
    folder = tmp_path / "new" / "folder"
    with server(say(content)) as (address, asked):
        dynamicqa.download(folder, "static", address=address)
        dynamicqa.download(folder, "static", address=address)
    assert asked == ["/Data/Static_final.csv"]
    assert [path.name for path in folder.iterdir()] == ["Static_final.csv"]
    assert (folder / "Static_final.csv").read_bytes() == content


HEADER = b"id,subj,question,context,obj,replace_name,num_edits,s_pop\n"


def test_the_address_may_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with server(say(HEADER)) as (address, _):
        monkeypatch.setenv("SWAYMETER_DYNAMICQA_URL", address)
        dynamicqa.download(tmp_path, "temporal")
    assert (tmp_path / "Temporal_final.csv").read_bytes() == HEADER


def test_a_page_in_place_of_the_csv_is_refused(tmp_path: Path) -> None:
    with server(say(b"<html>welcome</html>")) as (address, _), pytest.raises(InputError, match="not the published CSV"):
        dynamicqa.download(tmp_path / "new", "static", address=address)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "answer",
    [say(b"not here", status=404), say(b"not today", status=500), say(b"half", promised=4000)],
    ids=["404", "500", "cut short"],
)
def test_a_download_that_fails_says_what_to_do_and_leaves_nothing(answer: Handle, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    with server(answer) as (address, asked), pytest.raises(InputError) as raised:
        dynamicqa.download(folder, "static", address=address)
    assert asked
    said = str(raised.value)
    assert "Static_final.csv" in said
    assert address in said
    assert "name a `folder` with its CSV files under `questions`, or use source: sample" in said
    assert "\n" not in said
    assert not folder.exists()


def test_a_closed_port_says_what_to_do(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/Data"
        with pytest.raises(InputError, match=r"could not be fetched from .*ConnectionError.*use source: sample"):
            dynamicqa.download(tmp_path / "new", "static", address=address)
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with server(say(HEADER)) as (address, _), pytest.raises(WorkspaceError, match="cannot be written"):
        dynamicqa.download(tmp_path / "file" / "new", "static", address=address)


PUBLISHED = os.environ.get("SWAYMETER_DYNAMICQA")


@pytest.mark.skipif(PUBLISHED is None, reason="SWAYMETER_DYNAMICQA does not name the folder of the published files")
@pytest.mark.parametrize(("partition", "count"), [("static", 1250), ("temporal", 1247), ("disputable", 347)])
def test_the_published_questions_are_all_read(partition: Partition, count: int) -> None:
    questions = dynamicqa.questions(Path(str(PUBLISHED)), partition)
    assert len(questions) == count
    assert len({question.question_id for question in questions}) == count
    for question in questions:
        if not slots.UNASKABLE & set(question.flags):
            assert SLOT not in question.original_context + question.counter_memory_context
            assert question.original_context != question.counter_memory_context or slots.REPLACEMENT_IS_ANSWER in (
                question.flags
            )
    assert sum(bool(slots.UNASKABLE & set(question.flags)) for question in questions) < count / 10
    assert QUESTIONS.of([as_row(question) for question in questions]).num_rows == count


def test_questions_of_no_rows_are_refused_when_fetched(tmp_path: Path) -> None:
    write(tmp_path, "static", ROW)
    file = tmp_path / dynamicqa.FILES["static"]
    file.write_text(file.read_text().splitlines()[0] + "\n")
    stored = Workspace(tmp_path / "w").facts("static", QUESTIONS, {})
    with pytest.raises(InputError, match="partition static: the source has no questions"):
        fetch_questions("static", tmp_path, stored)
    assert not stored.exists()
