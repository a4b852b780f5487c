from collections import Counter
from pathlib import Path

import pytest

from swaymeter.data.errors import InputError, ServiceBudget, ServiceError
from swaymeter.data.records import SLOT, Partition, Question, as_row
from swaymeter.data.records.tables import QUESTIONS
from swaymeter.data.sources import slots
from swaymeter.data.sources.dynamicqa import published as dynamicqa
from swaymeter.data.sources.dynamicqa.published import downloaded, questions
from tests.data.sources.dynamicqa.small_dynamicqa import (
    DISPUTED,
    NORWAY,
    PERU,
    PUBLISHED_FOLDER,
    temporal,
    with_published,
    write_rows,
)
from tests.data.sources.servers.faults import ServedResponse, gzipped
from tests.data.sources.sessions import session_at, session_with_server


def question_of(folder: Path, partition: Partition, row: dict[str, str]) -> Question:
    """Write a file with one row, and return its question."""
    write_rows(folder, partition, row)
    (question,) = dynamicqa.questions(folder, partition)
    return question


def test_row_becomes_question_with_its_two_contexts(tmp_path: Path) -> None:
    question = question_of(tmp_path, "static", NORWAY)
    assert question.original_context == "The seat of Norway is Oslo."
    assert question.counter_memory_context == "The seat of Norway is Lima."
    assert question.answers == ("Oslo", "Christiania")
    assert (question.subject_id, question.property_id, question.object_id) == ("Q20", "P36", "Q585")
    assert (question.edits, question.subject_popularity, question.object_popularity) == (1, 1500.5, 99.0)
    assert (question.property, question.replacement_quality, question.list_id) == ("capital city", 0.75, "0")
    assert question.flags == ()


def test_disputable_context_is_changed_in_whole_words_only(tmp_path: Path) -> None:
    question = question_of(tmp_path, "disputable", DISPUTED)
    assert question.original_context == DISPUTED["context"]
    assert question.counter_memory_context == "Peru and its Iranian coast, says Peru."
    assert (question.relation, question.subject_id, question.id_source) == ("disputable", None, None)
    assert (question.edits, question.subject_popularity, question.flags) == (12, None, ())


@pytest.mark.parametrize(
    ("cell", "page", "revision"),
    [
        ("./result/Persian Gulf-310/84205503", "Persian Gulf", 84205503),
        ("./result/Boeing 747-400-12/7", "Boeing 747-400", 7),
        ("./result/../../etc-1/2", "../../etc", 2),
        ("./result/Persian Gulf-310/0", "Persian Gulf", None),
        ("./result/Persian Gulf", None, None),
        ("", None, None),
    ],
)
def test_page_of_dispute_comes_from_dir_info(cell: str, page: str | None, revision: int | None, tmp_path: Path) -> None:
    question = question_of(tmp_path, "disputable", {**DISPUTED, "subj": page or "Persian Gulf", "dir_info": cell})
    assert (question.page, question.page_revision, question.flags) == (page, revision, ())


@pytest.mark.parametrize(
    ("cells", "flag"),
    [
        ({"subj": " "}, slots.EMPTY_SUBJECT),
        ({"obj": "", "possible_answers": ""}, slots.EMPTY_ANSWER),
        ({"question": ""}, slots.EMPTY_QUESTION),
        ({"context": "Christiania is [ENTITY]."}, slots.ANSWER_LEFT_IN_CONTEXT),
        ({"replace_name": "christiania"}, slots.REPLACEMENT_IS_ANSWER),
        ({"question": "What is the seat of Noreg?"}, slots.SUBJECT_NOT_IN_QUESTION),
        ({"possible_answers": '["Christiania"]'}, slots.OBJECT_NOT_AMONG_ANSWERS),
        ({"num_edits": "1"}, slots.EDITS_CONTRADICT_PARTITION),
        ({"num_edits": "nan"}, slots.NUMBER_UNKNOWN),
        ({"subj_id": "q20"}, slots.MALFORMED_ID),
        ({"obj_id": "Q1٣"}, slots.MALFORMED_ID),
        ({"obj_id": "Q" + "9" * 40}, slots.MALFORMED_ID),
    ],
)
def test_a_row_that_breaks_a_rule_is_flagged(cells: dict[str, str], flag: str, tmp_path: Path) -> None:
    write_rows(tmp_path, "temporal", {**temporal(NORWAY), **cells}, temporal(PERU))
    broken, sound = dynamicqa.questions(tmp_path, "temporal")
    assert broken.flags == (flag,)
    assert flag in slots.RULES
    assert sound.flags == ()


def test_two_rows_with_one_question_are_flagged(tmp_path: Path) -> None:
    other_capital = {**PERU, "subj": "Norway", "subj_id": "Q20", "question": "what is  the seat of Norway?"}
    write_rows(tmp_path, "temporal", temporal(NORWAY), temporal(other_capital))
    first, second = dynamicqa.questions(tmp_path, "temporal")
    assert first.flags == second.flags == (slots.REPLACEMENT_IS_OTHER_ANSWER, slots.DUPLICATE_QUESTION)


def test_repeats_of_a_row_are_flagged(tmp_path: Path) -> None:
    write_rows(tmp_path, "static", NORWAY, NORWAY, NORWAY)
    first, *others = dynamicqa.questions(tmp_path, "static")
    assert slots.DUPLICATE_ID not in first.flags
    assert all(slots.DUPLICATE_ID in other.flags for other in others)
    assert len({question.question_id for question in (first, *others)}) == 3
    assert slots.DUPLICATE_ID in slots.UNASKABLE


@pytest.mark.parametrize("context", ["Its coast is long.", "The Iranian coast."])
def test_a_disputable_context_without_its_object_is_flagged(context: str, tmp_path: Path) -> None:
    question = question_of(tmp_path, "disputable", {**DISPUTED, "context": context})
    assert question.flags == (slots.OBJECT_NOT_IN_CONTEXT,)
    assert question.counter_memory_context == ""


@pytest.mark.parametrize(
    ("column", "cell", "problem"),
    [
        ("possible_answers", "['Oslo']", "is not a JSON list"),
        ("possible_answers", '["Oslo", "Chris', "is not a JSON list"),
        ("possible_answers", "[" * 5000, "is not a JSON list"),
        ("possible_answers", '["Oslo", null]', "has an entry that is empty or not text, None"),
        ("possible_answers", '["Oslo", " "]', "has an entry that is empty or not text, ' '"),
        ("possible_answers", '["Oslo", "\\ud800"]', "has an entry that is empty or not text"),
        ("num_edits", "inf", "is not a number: 'inf'"),
        ("num_edits", "٣", "is not a number"),
        ("num_edits", "1.7", "is not a whole number: '1.7'"),
        ("num_edits", "-1", "is negative or too large: '-1'"),
        ("num_edits", "1e300", "is negative or too large: '1e300'"),
        ("s_pop", "1,500", "is not a number"),
        ("o_pop", "1e999", "is not a number"),
        ("o_pop_new", "-3.0", "is negative or too large"),
    ],
)
def test_a_malformed_value_is_named_with_its_position(column: str, cell: str, problem: str, tmp_path: Path) -> None:
    file = write_rows(tmp_path, "static", {**NORWAY, "context": "two\nlines [ENTITY]"}, {**PERU, column: cell})
    with pytest.raises(InputError) as raised:
        dynamicqa.questions(tmp_path, "static")
    assert str(raised.value).startswith(f"{file}, line 4, column {column}: {problem}")
    assert str(raised.value).endswith("; correct the file, or remove it and fetch it again")


def test_every_rule_has_a_sentence() -> None:
    rules = {value for name, value in vars(slots).items() if name.isupper() and isinstance(value, str)} - {SLOT}
    assert rules == set(slots.RULES)
    assert set(slots.RULES) > slots.UNASKABLE
    assert all(sentence.endswith(".") for sentence in slots.RULES.values())


FLAGS: dict[Partition, dict[str, int]] = {
    "static": {
        slots.BROKEN_SLOT: 73,
        slots.ANSWER_LEFT_IN_CONTEXT: 67,
        slots.DUPLICATE_QUESTION: 31,
        slots.REPLACEMENT_IS_ANSWER: 16,
        slots.QUESTION_CONTAINS_ANSWER: 6,
    },
    "temporal": {
        slots.ANSWER_LEFT_IN_CONTEXT: 205,
        slots.DUPLICATE_QUESTION: 162,
        slots.BROKEN_SLOT: 75,
        slots.REPLACEMENT_IS_ANSWER: 60,
        slots.QUESTION_CONTAINS_ANSWER: 1,
    },
    "disputable": {slots.SUBJECT_IS_NOT_PAGE: 4, slots.DUPLICATE_QUESTION: 4, slots.QUESTION_CONTAINS_ANSWER: 2},
}


@with_published
@pytest.mark.parametrize(("partition", "count"), [("static", 1250), ("temporal", 1247), ("disputable", 347)])
def test_published_questions_are_read_and_flagged(partition: Partition, count: int) -> None:
    questions = dynamicqa.questions(PUBLISHED_FOLDER, partition)
    assert len(questions) == count
    assert len({question.question_id for question in questions}) == count
    assert Counter(flag for question in questions for flag in question.flags) == FLAGS[partition]
    for question in questions:
        assert SLOT not in question.original_context + question.counter_memory_context
        assert question.original_context != question.counter_memory_context or slots.REPLACEMENT_IS_ANSWER in (
            question.flags
        )
    assert not any(slots.UNASKABLE & set(question.flags) for question in questions)
    assert QUESTIONS.of([as_row(question) for question in questions]).num_rows == count


@pytest.fixture
def content(tmp_path: Path) -> bytes:
    (tmp_path / "published").mkdir()
    return write_rows(tmp_path / "published", "static", {**NORWAY, "subj": "Å, Norway"}).read_bytes()


def test_a_file_is_downloaded_once(tmp_path: Path, content: bytes) -> None:
    with session_with_server(tmp_path / "cache", gzipped(content)) as (first, server):
        with session_at(server.address, tmp_path / "cache") as second:
            for session in (first, second):
                assert downloaded("static", session) == questions(tmp_path / "published", "static")
        assert [request.path for request in server.received] == ["/ask/Static_final.csv"]


def test_changed_byte_of_download_is_never_read(tmp_path: Path, content: bytes) -> None:
    with session_with_server(tmp_path / "cache", ServedResponse(content)) as (first, server):
        sound = downloaded("static", first)
        (cache,) = (tmp_path / "cache").iterdir()
        stored = cache.read_bytes()
        assert stored.count(b"Norway")
        cache.write_bytes(stored.replace(b"Norway", b"Norwax"))
        with session_at(server.address, tmp_path / "cache") as second:
            assert downloaded("static", second) == sound
    assert len(server.received) == 2


@pytest.mark.parametrize("body", [b"<html>welcome</html>", b"", b"id,subj\r\n", b"\xff\xfe", b'{"message": 1}'])
def test_a_malformed_response_is_not_cached(body: bytes, tmp_path: Path, content: bytes) -> None:
    with session_with_server(tmp_path / "cache", ServedResponse(body), ServedResponse(content)) as (session, _):
        with pytest.raises(ServiceError, match=r"Static_final\.csv of the published DynamicQA could not be fetched"):
            downloaded("static", session)
        assert downloaded("static", session) == questions(tmp_path / "published", "static")


def test_a_failed_download_says_what_to_do(tmp_path: Path) -> None:
    with (
        session_with_server(tmp_path, ServedResponse(status=404)) as (session, server),
        pytest.raises(ServiceError) as raised,
    ):
        downloaded("static", session)
    assert str(raised.value).startswith("Static_final.csv of the published DynamicQA could not be fetched")
    assert server.address in str(raised.value)
    assert str(raised.value).endswith("with DynamicQA's CSV files under `questions`, or use `source: sample`")


def test_too_many_requests_raise_service_budget(tmp_path: Path) -> None:
    with session_with_server(tmp_path, ServedResponse(status=429)) as (session, _), pytest.raises(ServiceBudget):
        downloaded("static", session)
