"""Files of questions: usable rows give questions and contexts, and errors name the lines of other rows."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from swaymeter.data.digests import digest_of_named_file
from swaymeter.data.errors import InputError, MissingFile
from swaymeter.data.records import Passage, Question, QuestionContext, as_row
from swaymeter.data.records.tables import REJECTED
from swaymeter.data.sources.own import files
from swaymeter.data.sources.own.files import read_file
from swaymeter.data.sources.own.named_file import Origin
from swaymeter.data.sources.own.rows import FileQuestions, questions_of
from swaymeter.data.sources.own.source import OWN_QUESTIONS, OwnQuestions, read_questions

HEADER = "id,question,answer,aliases,context,kind,context_answer,chapter"
SUPPORTING = 'q1,What does it lift?,8 kg,eight kilograms|8 kilograms,It lifts 8 kg.,supporting,,"one, two"'
CONFLICTING = "q1,What does it lift?,8 kg,,It lifts 5 kg.,conflicting,5 kg,one"
ORIGIN = Origin("Handbook", "not stated")


def read(folder: Path, content: str | bytes, name: str = "mine.csv", **columns: str) -> FileQuestions:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return questions_of(read_file(file, columns.get("question", "question")), ORIGIN, columns)


def only_question(result: FileQuestions) -> Question:
    assert not result.rejected
    (question,) = result.questions
    return question


def reasons(result: FileQuestions) -> list[str]:
    return [f"{row.part}: {row.detail}" for row in result.rejected]


def csv_text(*rows: str) -> str:
    return "\n".join((HEADER, *rows, ""))


def test_rows_of_one_question_are_its_contexts(tmp_path: Path) -> None:
    question = only_question(read(tmp_path, csv_text(SUPPORTING, CONFLICTING)))
    right, wrong = ("8 kg", "eight kilograms", "8 kilograms"), ("5 kg",)
    assert (question.question_id, question.object, question.answers) == ("q1", "8 kg", right)
    assert question.cases[1:] == (
        QuestionContext("supporting", "supporting", (Passage("It lifts 8 kg.", "supporting", right),), right),
        QuestionContext("conflicting", "conflicting", (Passage("It lifts 5 kg.", "conflicting", wrong),), wrong),
    )
    assert json.loads(question.other_columns or "") == {"chapter": "one, two | one"}
    assert (question.source, question.licence) == ORIGIN


NUMBERS = pd.DataFrame({"question": ["When?", "Which day?", "How many?"], "answer": [1994, None, 7], "context": "So."})
"""Whole numbers with a gap, which pandas stores as decimals."""
DAYS = pd.DataFrame({"question": ["Which day?"], "answer": pd.to_datetime(["1994-05-01"]), "context": "So."})


@pytest.mark.parametrize(("frame", "expected"), [(NUMBERS, ["1994", "7"]), (DAYS, ["1994-05-01"])], ids=["int", "day"])
def test_numbers_and_days_survive_pandas(tmp_path: Path, frame: pd.DataFrame, expected: list[str]) -> None:
    files = [tmp_path / name for name in ("mine.csv", "mine.json", "mine.parquet")]
    frame.to_csv(files[0], index=False, date_format="%Y-%m-%d %H:%M:%S")
    frame.to_json(files[1], orient="records", date_format="iso")
    frame.to_parquet(files[2])
    for file in files:
        result = questions_of(read_file(file, "question"), ORIGIN, {})
        assert [question.object for question in result.questions if question.object] == expected, file.name


def test_decimals_stay_decimals(tmp_path: Path) -> None:
    rows = ("How many?,2.5,So.", "How long?,2.0,So.", "Who?,,So.")
    result = read(tmp_path, "\n".join(("question,answer,context", *rows, "")))
    assert [question.object for question in result.questions if question.object] == ["2.5", "2.0"]


def test_neutral_adds_a_context_without_content(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    irrelevant = "q1,What does it lift?,8 kg,,It is grey.,irrelevant,,"
    file.write_text(csv_text(SUPPORTING, irrelevant, "q2,Who?,I,,It is I.,supporting,,"))
    sources = (OwnQuestions(file=str(file), neutral=neutral) for neutral in (False, True))
    arranged = (source.arrange(read_questions(source).questions) for source in sources)
    plain, added = ({question.question_id: question.cases for question in questions} for questions in arranged)
    neutral = QuestionContext("neutral", "neutral", (Passage("..."),))
    assert added == {"q1": (*plain["q1"], neutral), "q2": plain["q2"]}


def test_jsonl_and_parquet_have_lists_of_contexts(tmp_path: Path) -> None:
    contexts = [
        {"text": "It lifts 8 kg.", "kind": "supporting", "answer": "8 kg"},
        {"text": "It rains.", "kind": "irrelevant"},
        {"text": "It hums.", "kind": "irrelevant"},
    ]
    row: dict[str, Any] = {"question": "What does it lift?", "answer": 8, "aliases": ["8 kg"], "contexts": contexts}
    table = pa.Table.from_pylist([row])
    pq.write_table(table, tmp_path / "mine.parquet")
    parquet = questions_of(read_file(tmp_path / "mine.parquet", "question"), ORIGIN, {})
    jsonl = read(tmp_path, json.dumps(row) + "\n\n", "mine.jsonl")
    assert only_question(parquet) == only_question(jsonl)
    assert [case.context_id for case in only_question(jsonl).cases] == [
        "none",
        "supporting",
        "irrelevant",
        "irrelevant 2",
    ]
    assert only_question(jsonl).object == "8"


GROUPS = ("products", "safety Manual", "safety, Manual", "static", "Käse", "産品", "2nd", "<b>x</b>", "")


def test_groups_become_relations(tmp_path: Path) -> None:
    rows = [f'{number},"{group}",Q{number}?,a,c a,unknown' for number, group in enumerate(GROUPS)]
    result = read(tmp_path, "\n".join(["id,group,question,answer,context,kind", *rows]))
    names = [question.relation for question in result.questions]
    assert [question.partition for question in result.questions] == [*GROUPS[:-1], "questions"]
    assert names[:2] == ["products", "safetyManual"]
    assert names[-1] == "questions"
    assert len({name.lower() for name in names}) == len(GROUPS)
    assert "static" not in names


def test_group_named_all_is_refused(tmp_path: Path) -> None:
    rows = ["id,group,question,answer,context", "q1,All,Who?,Oslo,c", "q2,overall,Where?,Oslo,c"]
    result = read(tmp_path, "\n".join(rows))
    assert [question.partition for question in result.questions] == ["overall"]
    assert reasons(result) == ["line 2: group: 'all' is reserved for all groups together; choose another name"]


def test_hostile_texts_stay_unchanged(tmp_path: Path) -> None:
    texts = ["<script>alert(1)</script>", "=HYPERLINK(1)", "\u202eمرحبا", "'; DROP TABLE questions; --", "__proto__"]
    rows = [json.dumps({"question": text, "answer": text, "context": text, text: text}) for text in texts]
    result = read(tmp_path, "\n".join(rows), "mine.jsonl")
    assert not result.rejected
    questions = [(question.question, question.object, question.cases[1].text) for question in result.questions]
    assert questions == [(text,) * 3 for text in texts]


@pytest.mark.parametrize(
    ("row", "start"),
    [
        ("q2,Who?,,,c,unknown,,", "line 3: answer: "),
        ("q2,,Oslo,,c,unknown,,", "line 3: question: "),
        ("q2,Who?,Oslo,,,unknown,,", "line 3: context: is missing"),
        ("q2,Who?,Oslo,,c,conflicting,,", "line 3: context 1, answer: is missing"),
        ("q2,Who?,Oslo,,c,irrelevant,Bergen,", "line 3: context 1, answer: irrelevant contexts state no answer"),
        ("q2,Who?,Oslo,,c,wrong,,", "line 3: context 1, kind: expected supporting (for a passage with the right"),
        ("q2,Who?,Oslo,,c", "line 3: has 5 cells, and the header 8"),
        ('q2,Who?,Oslo,,"c"x,unknown,,', "line 3: is not CSV"),
        ("q1,Who?,Oslo,,c,unknown,,", "line 3: id: q1 is also the id of the question in line 2"),
        ("q1,What does it lift?,8 kg,,It lifts 8 kg.,supporting,,", "line 3: context: occurs already"),
        ("q2,Who?,Oslo,,Oslo!,conflicting,oslo,", "line 3: kind: conflicting, but the context states the right"),
        ("q2,Who?,🙂,,c,unknown,,", "line 3: answer: '🙂' has no letter"),
        ("q2,Who\x07?,Oslo,,c,unknown,,", "line 3: question: has the control character U+0007"),
        (f"q2,Who?,Oslo,,{'c' * 1_000_001},unknown,,", "line 3: context 1, text: "),
    ],
)
def test_unusable_row_is_named_and_others_are_read(row: str, start: str, tmp_path: Path) -> None:
    result = read(tmp_path, csv_text(SUPPORTING, row, "q9,Where?,Oslo,,In Oslo.,supporting,,"))
    assert [question.question_id for question in result.questions] == ["q1", "q9"]
    (reason,) = reasons(result)
    assert reason.startswith(start)
    assert len(reason) < 400  # a long text is shortened


@pytest.mark.parametrize("lines", [("wrong", "alias"), ("alias", "wrong")])
def test_an_answer_cannot_be_right_and_wrong(lines: tuple[str, str], tmp_path: Path) -> None:
    rows = {
        "wrong": "q1,Who?,Ada,,Ivo did.,conflicting,Ivo,",
        "alias": "q1,Who?,Ada,Ada Quill|ivo,Ada and Ivo did.,supporting,,",
    }
    result = read(tmp_path, csv_text(*(rows[name] for name in lines)))
    assert [len(question.contexts) for question in result.questions] == [1]
    (reason,) = reasons(result)
    problem = "ivo is the right answer and the answer of a conflicting context; correct one of the two answers"
    assert reason == f"line 3: answer: {problem}"


def test_a_broken_line_of_json_is_named(tmp_path: Path) -> None:
    good = json.dumps({"question": "Who?", "answer": "Oslo", "context": "c"})
    lines = [good, good[:-4], "[1]", good.replace('"Oslo"', "NaN"), "[" * 100_000, good.replace("Who", "Where")]
    result = read(tmp_path, "\n".join(lines), "mine.jsonl")
    assert len(result.questions) == 2
    assert [reason.split(":")[0] for reason in reasons(result)] == ["line 2", "line 3", "line 4", "line 5"]
    assert reasons(result)[0].startswith("line 2: is not JSON: Expecting value: column 51 (char")


@pytest.fixture
def low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limits of rows and values to a hundredth."""
    monkeypatch.setattr(files, "MAX_ROWS", files.MAX_ROWS // 100)
    monkeypatch.setattr(files, "MAX_VALUES", files.MAX_VALUES // 100)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("mine.csv", b"", "is empty"),
        ("mine.csv", "frage,answer\nx,y\n", r"has no column question; the file has frage, answer"),
        ("mine.csv", "question,question\nx,y\n", "has the column question twice"),
        ("mine.csv", "question,answer\nä,y\n".encode("latin-1"), r"line 2: is not UTF-8 \(byte 0xe4\)"),
        ("mine.csv", b"\xff\xfeq\0\0\xd8x\0", r"looks like UTF-16, but byte 5 is invalid; save the file as UTF-8"),
        ("mine.csv", b"PK\x03\x04", "is an Excel workbook or another ZIP archive; save its sheet as CSV UTF-8"),
        ("mine.json", "[\n{},\n{", r"is not JSON: Expecting .*: line 3 .*; write an object on each line, or one list"),
        (
            "mine.json",
            '{"a": [{"x": 1}], "b": [{"x": 1}]}',
            "has several lists: a, b; keep only the list with the rows",
        ),
        ("mine.json", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "is a pointer of Git LFS and not"),
        ("mine.json", b"<!doctype html>\n<html>{}</html>", "is a web page and not the data; download the file itself"),
        ("mine.parquet", b"PAR1", "is not a Parquet file that can be read: .*; write or download the file again"),
        (
            "mine.csv",
            csv_text("," * 80_001),
            "has more than 80,000 cells; split the file, and run a study for each part",
        ),
        ("mine.jsonl", f'{{"x": [{"{}," * 40_001}{{}}]}}', "has more than 80,000 values"),
        ("mine.csv", csv_text("Who?\n" * 5_001), "has more than 5,000 rows"),
        ("mine.csv", csv_text("\n" * 80_001), "has more than 80,000 lines"),
    ],
    ids=range(15),
)
@pytest.mark.usefixtures("low_limits")
def test_unreadable_file_is_refused(name: str, content: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, content, name)


@pytest.mark.timeout(20)
def test_file_of_open_quotes_is_refused_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_REREAD", 1 << 20)
    with pytest.raises(InputError, match=r"of the first .* lines are not CSV; save the file as CSV"):
        read(tmp_path, csv_text(*['a","x'] * 900, *["w" * 60] * 10_000))


PACKED: dict[str, tuple[list[str], int, str]] = {
    "rows": (["Who?"], 500_001, "has more than 500,000 rows"),
    "long texts": (["Who?" * 2**18], 200, "has more than 128 MiB"),
}


@pytest.mark.parametrize("name", PACKED)
def test_packed_parquet_file_does_not_fill_memory(name: str, tmp_path: Path) -> None:
    texts, rows, message = PACKED[name]
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(texts))
    pq.write_table(pa.table({"question": column}), tmp_path / "mine.parquet", compression="zstd")
    assert (tmp_path / "mine.parquet").stat().st_size < 100_000
    with pytest.raises(InputError, match=message):
        read_file(tmp_path / "mine.parquet", "question")


@pytest.mark.usefixtures("low_limits")
def test_numbers_and_long_texts_are_read(tmp_path: Path) -> None:
    numbers = pa.array([[0.1234567890123] * 384] * 300)  # 115,200 numbers in 300 cells
    pq.write_table(pa.table({"question": ["Who?"] * 300, "embedding": numbers}), tmp_path / "mine.parquet")
    assert len(read_file(tmp_path / "mine.parquet", "question")) == 300
    passages = "question,context\n" + ('Who?,"' + "a line\n" * 20 + '"\n') * 300  # 6,300 lines in 300 rows
    (tmp_path / "mine.csv").write_text(passages)
    assert len(read_file(tmp_path / "mine.csv", "question")) == 300


def test_keys_and_columns_that_occur_twice_are_refused(tmp_path: Path) -> None:
    row = json.dumps({"question": "Who?", "answer": "Oslo", "context": "c"})
    result = read(tmp_path, "\n".join([row[:-1] + f', "{name}": "Lima"}}' for name in ("answer", "Answer")]), "a.jsonl")
    assert result.questions == []
    assert reasons(result) == [
        "line 1: is not JSON: an object has the key 'answer' twice; remove one of the two entries",
        "line 2: answer: the column occurs twice, with different capitals; rename one of the two columns",
    ]
    columns = pa.Table.from_arrays([pa.array(["Who?"]), *[pa.array(["Oslo"])] * 2], ["question", "answer", "answer"])
    pq.write_table(columns, tmp_path / "mine.parquet")
    with pytest.raises(InputError, match="has the column answer twice"):
        read_file(tmp_path / "mine.parquet", "question")


def test_an_undecodable_parquet_text_is_named(tmp_path: Path) -> None:
    text = pa.Array.from_buffers(pa.string(), 1, pa.array([b"Wh\xffo"]).buffers())
    pq.write_table(pa.table({"question": text}), tmp_path / "mine.parquet")
    with pytest.raises(InputError, match=r"mine\.parquet is not a Parquet file that can be read: 'utf-8' codec"):
        read_file(tmp_path / "mine.parquet", "question")


def test_a_device_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").symlink_to("/dev/zero")
    with pytest.raises(InputError, match="is a device or a pipe; name a file"):
        read_file(tmp_path / "mine.csv", "question")
    with pytest.raises(MissingFile, match=r"questions\.file: .* is a device or a pipe"):
        digest_of_named_file(tmp_path / "mine.csv", "questions.file")


def test_rejected_rows_with_lone_surrogates_are_stored(tmp_path: Path) -> None:
    cells = {"question": "W\ud800", "answer": "Oslo", "contexts": [{"text": "c", "\udc00": 1}]}
    result = read(tmp_path, json.dumps(cells), "mine.jsonl")
    assert REJECTED.of([as_row(row) for row in result.rejected]).to_pylist()[0]["subject"] == "W\\ud800"


def test_a_file_without_a_usable_row_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(csv_text("q2,Who?,,,c,unknown,,"))
    assert OWN_QUESTIONS.fetch is not None
    with pytest.raises(InputError, match=r"mine\.csv: 1 of 1 rows cannot be used: line 2: answer"):
        OWN_QUESTIONS.fetch(OwnQuestions(file=str(file)), "own", None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("header", "columns", "message"),
    [
        (
            "id,query,gold,passage,note",
            {},
            "lacks the columns question, answer and context; the file has id, query, gold, passage, note; map columns: "
            "--map question=query --map answer=gold --map context=passage (in a study file, columns: {question: query, "
            "answer: gold, context: passage})",
        ),
        (
            "question,obj,Reference Contexts",
            {},
            "lacks the columns answer and context; the file has question, obj, Reference Contexts; map columns: --map "
            "answer=NAME --map 'context=Reference Contexts' (in",
        ),
        (
            "question,answer,context,ground_truth",
            {},
            "has the columns answer and ground_truth; if ground_truth has the right answers, map columns: --map "
            "answer=ground_truth (in a study file, columns: {answer: ground_truth}); if answer has the right "
            "answers, add --map answer=answer",
        ),
        (
            "Results \x1b]0",
            {},
            "has only one column, Results ]0; write the names of all columns into the first line, such as question,",
        ),
        (
            "question,answer,context",
            {"answer": "gold"},
            "has no column gold for answer; the file has question, answer, context; name one of these columns",
        ),
        (
            "qustion,answer,context,kind,context_answer",
            {},
            "lacks the column question; the file has qustion, answer, context, kind, context_answer; map columns: "
            "--map question=qustion (in a study file, columns: {question: qustion})",
        ),
    ],
)
def test_an_error_says_how_to_map_columns(header: str, columns: dict[str, str], message: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(f"{header}\n")
    with pytest.raises(InputError) as raised:
        read_questions(OwnQuestions(file=str(file), columns=columns))
    assert str(raised.value).startswith(f"{file} {message}")


def test_one_error_names_columns_and_replies(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("query,gold,passage,label,output\n")
    source = OwnQuestions(file=str(file))
    source.set_reply_columns(["response"])
    with pytest.raises(InputError) as raised:
        read_questions(source)
    assert str(raised.value) == (
        f"{file} lacks the columns question, answer and context, and has no column response of replies; the file has "
        "query, gold, passage, label, output; map columns: --map question=query --map answer=gold --map "
        "context=passage (in a study file, columns: {question: query, answer: gold, context: passage}), and likewise "
        "kind and context_answer if the file has these columns; name the replies: --replies output (in a study file, "
        "replies: output)"
    )


def test_keys_of_contexts_are_mapped_too(tmp_path: Path) -> None:
    passages = [{"snippet": "In Oslo.", "score": {"by": 0.5}}, {"snippet": "In Bergen.", "score": 0.25}]
    row = {"user_input": "Where?", "gold": ["Oslo", "Kristiania"], "chunks": passages}
    file = tmp_path / "mine.json"
    file.write_text(json.dumps([row]))
    columns = {"question": "user_input", "answer": "gold", "contexts": "chunks"}
    with pytest.raises(InputError, match=r"text of contexts, whose keys are snippet, score; .*map context=snip"):
        read_questions(OwnQuestions(file=str(file), columns=columns))
    result = read_questions(OwnQuestions(file=str(file), columns={**columns, "context": "snippet"}))
    assert [case.text for case in only_question(result).cases[1:]] == ["In Oslo.", "In Bergen."]
    assert json.loads(only_question(result).other_columns or "")["score of the context"] == {"by": 0.5}
    assert [case.passages[0].score for case in only_question(result).cases[1:]] == [None, 0.25]


def test_columns_are_mapped_to_nested_cells(tmp_path: Path) -> None:
    hits = {"hits": [{"body": {"raw": "In Oslo."}, "url": "a.example"}, {"body": {"raw": "In Bergen."}, "url": None}]}
    file = tmp_path / "mine.json"
    gold = {"gold": [{"form": "Oslo"}, {"form": "Kristiania"}]}
    file.write_text(json.dumps([{"ask": {"text": "Where?"}, **gold, **hits}]))
    columns = {"question": "ask.text", "answer": "gold[*].form"}
    plain = only_question(
        read_questions(OwnQuestions(file=str(file), columns={**columns, "context": "hits[*].body.raw"}))
    )
    keys = {**columns, "contexts": "hits", "context": "body.raw", "context_source": "url"}
    keyed = only_question(read_questions(OwnQuestions(file=str(file), columns=keys)))
    assert plain.answers == ("Oslo", "Kristiania")
    for question in (plain, keyed):
        assert [case.text for case in question.contexts] == ["In Oslo.", "In Bergen."]
    assert [case.passages[0].source for case in keyed.contexts] == ["a.example", None]


@pytest.mark.parametrize(
    ("row", "columns", "message"),
    [
        (
            {"question": "Where?", "answers": [{"value": "Oslo"}], "context": "c"},
            {},
            "lacks the column answer; the file has question, answers, context; map columns: "
            "--map 'answer=answers[*].value'",
        ),
        (
            {"question": "Where?", "answer": {"n": 1, "value": "Oslo"}, "context": "c"},
            {},
            "has JSON objects in the column answer; map columns: --map answer=answer.value (in",
        ),
        (
            {"question": "Where?", "answer": "Oslo", "context": {"title": ["a"], "passage": ["c"]}},
            {},
            "has JSON objects in the column context; map columns: --map 'context=context[*].passage' (in",
        ),
        (
            {"question": "Where?", "answer": "Oslo", "context": "c"},
            {"answer": "answer[*].value"},
            "has no column answer[*].value for answer; the file has question, answer, context; name one of these "
            "columns",
        ),
        (
            {"question": "Where?", "answer": "Oslo", "context": "c"},
            {"answer": "answers["},
            "has no column answers[ for answer; the file has question, answer, context; name one of these columns",
        ),
    ],
)
def test_an_error_says_how_to_map_nested_cells(
    row: dict[str, Any], columns: dict[str, str], message: str, tmp_path: Path
) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps([row]))
    with pytest.raises(InputError) as raised:
        read_questions(OwnQuestions(file=str(file), columns=columns))
    assert str(raised.value).startswith(f"{file} {message}")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"gold": "answer"}, "gold is not one of the columns"),
        ({"answer": "gold", "question": "gold"}, "answer and question are both mapped to gold; keep one mapping"),
    ],
)
def test_impossible_map_of_columns_is_refused(columns: dict[str, str], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        OwnQuestions(file="mine.csv", columns=columns)


def test_unused_column_group_is_kept_under_another_name(tmp_path: Path) -> None:
    header = "page,Question,answer,aliases,context,kind,context_answer,Group"
    question = only_question(read(tmp_path, f"{header}\n{SUPPORTING}\n", group="page"))
    assert question.partition == "q1"
    assert json.loads(question.other_columns or "") == {"Group of the file": "one, two"}


def test_lines_of_one_question_are_joined(tmp_path: Path) -> None:
    line = "q1,What does it lift?,8 kg,8000 g,So it lifts 8.0 kilos.,supporting,8.0 kilos,two"
    question = only_question(read(tmp_path, csv_text(SUPPORTING, line)))
    assert question.answers == ("8 kg", "eight kilograms", "8 kilograms", "8000 g", "8.0 kilos")
    assert json.loads(question.other_columns or "") == {"chapter": "one, two | two"}
    other = read(tmp_path, "id,group,question,answer,context\n1,a,Q?,x,x\n1,b,Q?,x,y\n")
    assert reasons(other) == [
        "line 3: group: is 'b', but 'a' for the same question in line 2; write the same group in both rows"
    ]


def test_unclosed_quote_rejects_only_its_line(tmp_path: Path) -> None:
    result = read(tmp_path, csv_text('q2,Who?,"Oslo,,c,unknown,,', SUPPORTING, CONFLICTING))
    assert [len(question.cases) for question in result.questions] == [3]
    (reason,) = reasons(result)
    assert reason.startswith("line 2: is not CSV:")


@pytest.mark.parametrize(
    ("cells", "start"),
    [
        ({"answer": float("nan")}, "line 1: answer: is missing"),
        ({"answer": 1e999}, "line 1: answer: is infinite"),
        ({"contexts": [1]}, "line 1: context 1: is neither a text nor an object"),
        ({"contexts": "[{1"}, "line 1: contexts: is not a list that can be read"),
        ({"contexts": [{"text": "a", "context": "b"}]}, "line 1: context 1, text: occurs twice"),
        ({"contexts": [{"id": "none", "text": "a"}]}, "line 1: context 1, id: 'none' is reserved for a question"),
        ({"contexts": ["In Oslo.", "In Oslo."]}, "line 1: context 2: occurs already as context 1;"),
        ({"context": ["In Oslo.", "In Rome."], "kind": ["supporting", "irrelevant"]}, "line 1: kind: is a list; write"),
    ],
)
def test_unusable_values_are_named(cells: dict[str, Any], start: str, tmp_path: Path) -> None:
    result = read(tmp_path, json.dumps({"question": "Who?", "answer": "Oslo", "context": "c", **cells}), "mine.jsonl")
    assert result.questions == []
    assert reasons(result)[0].startswith(start)


def test_equal_values_of_one_column_are_accepted(tmp_path: Path) -> None:
    row = {"question": "Who?", "answer": "Oslo", "contexts": [{"text": "In Oslo.", "context": "In Oslo."}]}
    (context,) = only_question(read(tmp_path, json.dumps(row), "mine.jsonl")).contexts
    assert context.text == "In Oslo."


def test_data_set_without_questions_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "squad.json"
    file.write_text(json.dumps({"version": "1.1", "data": [{"title": "Oslo", "paragraphs": []}]}))
    with pytest.raises(InputError, match=r"squad\.json has no questions; add questions to the file"):
        read_questions(OwnQuestions(file=str(file)))


def test_alias_without_words_is_ignored(tmp_path: Path) -> None:
    assert only_question(read(tmp_path, csv_text("q2,Who?,Norway,🇳🇴|Noreg,In Norway.,supporting,,"))).object == "Norway"
