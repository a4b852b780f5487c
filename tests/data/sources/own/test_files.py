"""Files from many programs: each form of a file gives the same questions, or an error that names the problem."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.records import Question
from swaymeter.data.sources.own.source import OwnQuestions, read_questions, unusable_message

REPORTS = Path(__file__).resolve().parents[3] / "oracle" / "reports"
"""Files of problem reports."""
FRAME = pd.DataFrame(
    {
        "question": ["What does it lift?", "Capital of Norway?"],
        "answer": ["8 kg", "Oslo"],
        "context": ["It lifts 8 kg.", "The capital, I think; is Oslo."],
        "kind": "supporting",
        "score": [0.5, None],
    }
)
CSV = FRAME.to_csv(index=False)


def read(file: Path, **columns: str) -> list[Question]:
    result = read_questions(OwnQuestions(file=str(file), columns=columns))
    assert not result.rejected
    return result.questions


def pandas_json(**form: Any) -> bytes:
    return str(FRAME.to_json(**form)).encode()


FORMS: dict[str, bytes] = {
    "parquet": FRAME.to_parquet(),
    "utf-8 with a byte order mark": CSV.encode("utf-8-sig"),
    "utf-16": CSV.encode("utf-16"),
    "utf-16 without a byte order mark": CSV.encode("utf-16-le"),
    "utf-32": CSV.encode("utf-32"),
    "cr": CSV.replace("\n", "\r").encode(),
    "sep": b"sep=;\r\n" + FRAME.to_csv(index=False, sep=";").encode(),
    "crlf": CSV.replace("\n", "\r\n").encode(),
    "semicolons": FRAME.to_csv(index=False, sep=";").encode(),
    "tabs": FRAME.to_csv(index=False, sep="\t").encode(),
    "empty lines": b"\n\n" + CSV.encode() + b",,,,\n,,,,,,\n",
    "array": pandas_json(orient="records"),
    "lines": pandas_json(orient="records", lines=True),
    "columns by index": pandas_json(),
    "rows by index": pandas_json(orient="index"),
    "split": pandas_json(orient="split"),
    "table": pandas_json(orient="table", index=False),
    "columns": json.dumps(FRAME.to_dict("list")).encode(),
    "a list under a key": json.dumps({"version": 1, "data": FRAME.to_dict("records")}, indent=1).encode(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ending", [".csv", ".json"])
def test_every_form_is_read_under_any_ending(form: str, ending: str, tmp_path: Path) -> None:
    (tmp_path / f"mine{ending}").write_bytes(FORMS[form])
    questions = read(tmp_path / f"mine{ending}")
    assert [(question.question, question.object, question.cases[1].text) for question in questions] == list(
        FRAME[["question", "answer", "context"]].itertuples(index=False, name=None)
    )
    first, second = (json.loads(question.other_columns or "null") for question in questions)
    assert first in ({"score": 0.5}, {"score": "0.5"})  # cells of CSV are texts
    assert second is None


def test_cells_of_cr_files_keep_line_breaks(tmp_path: Path) -> None:
    rows = CSV.replace("\n", "\r").replace("It lifts 8 kg.", '"It lifts\n8 kg."')
    (tmp_path / "mine.csv").write_bytes(rows.encode())
    questions = read(tmp_path / "mine.csv")
    assert [question.cases[1].text for question in questions] == ["It lifts\n8 kg.", FRAME["context"][1]]


def test_a_long_first_line_takes_little_memory(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_bytes(FORMS["array"].replace(b",", b"," + b" " * (1 << 20), 1) + b"\n")
    tracemalloc.start()
    read(tmp_path / "mine.json")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20


def test_files_of_problem_reports_are_read() -> None:
    for name in ("array.jsonl", "lines.json"):
        (question,) = read(REPORTS / "07-one-json-array" / name)
        assert (question.question_id, question.object, question.cases[1].condition) == ("q1", "Oslo", "supporting")
    file = REPORTS / "06-columns-with-other-names" / "facts.csv"
    with pytest.raises(InputError, match=rf"^{file} lacks the column answer; .*: --map answer=NAME \(in"):
        read(file)
    assert [question.object for question in read(file, answer="obj")] == ["lantern maker", "potter"]


def test_printed_langchain_documents_are_passages() -> None:
    file = REPORTS / "25-documents-printed-into-a-cell" / "retrieved.csv"
    with pytest.raises(InputError, match=r"has the columns answer and ground_truth; .*: --map answer=ground_truth"):
        read(file)
    library, payload = read(file, answer="ground_truth")
    assert [(case.context_id, case.text, case.condition) for case in library.cases[1:]] == [
        ("a-3", "The library closes at 6 p.m.", "supporting"),
        ("b-1", "The old leaflet has 8 p.m. as closing time.", "unknown"),
    ]
    assert [case.passages[0].source for case in payload.cases[1:]] == ["c.pdf", "d.pdf"]


@pytest.mark.parametrize(
    "cell",
    [
        "[Document(page_content='In Oslo.' * 9 ** 9)]",
        "[Document(page_content=open('/etc/passwd').read())]",
        "[Document(page_content='In Oslo.') Document(page_content='In Rome.')]",
        "[Document('In Oslo.')]",
        "[Document(page_content='In O...",
        "page_content='In Oslo.' metadata={}",
        "[D(x=" + "-" * 100_000 + "1)]",
        "[D(x=" + "+".join("1" * 50_000) + ")]",
        r"[Document(page_content='In \Oslo.\')]",
    ],
    ids=range(9),
)
def test_unreadable_printed_objects_are_refused(cell: str, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(json.dumps({"question": "Where?", "answer": "Oslo", "contexts": cell}))
    (rejected,) = read_questions(OwnQuestions(file=str(tmp_path / "mine.jsonl"))).rejected
    problems = ("contexts: is not a list that can be read; ", "context 1, text: is missing")
    assert str(rejected.detail).startswith(problems)


@pytest.mark.parametrize(
    "cell",
    [
        '["Oslo", "Kristiania"]',
        "['Oslo', 'Kristiania']",
        "('Oslo', 'Kristiania')",
        "Oslo|Kristiania",
        ["Oslo", "Kristiania"],
        {"text": ["Oslo", "Kristiania"], "answer_start": [1, 2]},
    ],
)
def test_a_list_of_answers_is_read_as_alternatives(cell: Any, tmp_path: Path) -> None:
    row = {"question": "Where?", "answer": cell, "context": "c", "aliases": "['Christiania']"}
    (tmp_path / "mine.jsonl").write_text(json.dumps(row))
    assert read(tmp_path / "mine.jsonl")[0].answers == ("Oslo", "Kristiania", "Christiania")


@pytest.mark.parametrize(
    "cell",
    [
        "['Oslo' 'Kristiania']",
        "[Oslo, Kristiania]",
        "['Oslo', 'Krist",
        "array(['Oslo'], dtype=object)",
        "{'Oslo', 'Kristiania'}",
        "['Oslo', ['Bergen']]",
    ],
)
@pytest.mark.parametrize("column", ["answer", "aliases", "context_answer"])
def test_broken_list_is_never_one_answer(cell: str, column: str, tmp_path: Path) -> None:
    row = {"question": "Where?", "answer": "Oslo", "context": "c", column: cell}
    (tmp_path / "mine.jsonl").write_text(json.dumps(row))
    (rejected,) = read_questions(OwnQuestions(file=str(tmp_path / "mine.jsonl"))).rejected
    name = {"context_answer": "context 1, answer"}.get(column, column)
    assert str(rejected.detail).startswith(f"{name}: is not a list that can be read; write texts with | between them")


@pytest.mark.parametrize(
    "cell",
    [
        ["a \\ 'one'\n", "two\xa0"],
        '["a \\\\ \'one\'\\n", "two\\u00a0"]',
        str(["a \\ 'one'\n", "two\xa0"]),
        [{"context": "a \\ 'one'\n"}, {"text": "two\xa0"}],
    ],
)
@pytest.mark.parametrize("column", ["context", "contexts"])
def test_passages_may_be_a_list_of_texts(cell: Any, column: str, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(json.dumps({"question": "Where?", "answer": "Oslo", column: cell}))
    (question,) = read(tmp_path / "mine.jsonl")
    assert [case.text for case in question.cases[1:]] == ["a \\ 'one'", "two"]


def test_unused_cells_reject_no_row(tmp_path: Path) -> None:
    row = {"question": "Where?", "answer": "Oslo", "context": "c", "kind": "NULL", "a": float("nan"), "b": "x\x1b"}
    context = {"text": "c", "context_id": "p1", "score": 0.5, "n": None}
    nested = {"question": "Who?", "answer": "I", "contexts": [context]}
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, (row, nested))))
    first, second = read(tmp_path / "mine.jsonl")
    assert (first.contexts[0].condition, json.loads(first.other_columns or "")) == ("unknown", {"b": "x\\u001b"})
    assert (second.contexts[0].context_id, json.loads(second.other_columns or "{}")) == ("p1", {})
    assert second.contexts[0].passages[0].score == 0.5


def test_equal_errors_are_reported_once(tmp_path: Path) -> None:
    lines = ["question,answer,context,kind", *["Where?,,c,"] * 38, "Who?,I,c,", "Which?,I,c,wrong"]
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    options = OwnQuestions(file=str(tmp_path / "mine.csv"))
    message = unusable_message(options.path, read_questions(options))
    assert message.startswith(
        f"{options.path}: 39 of 40 rows cannot be used: line 2, 3, 4 and 35 more: answer: is missing; add it; line 41: "
    )


@pytest.mark.parametrize(
    ("answer", "context", "cells", "kind"),
    [
        ("8 kg", "It lifts 8\nKG.", {}, "supporting"),
        ("8 kg", "It lifts 18 kg.", {}, "unknown"),
        ("林安", "是作家林安在海边", {}, "supporting"),
        ("no", "There is no sign.", {}, "unknown"),
        ("Oslo", "In Kristiania.", {"aliases": "Kristiania"}, "supporting"),
        ("red", "It is red.", {"question": "Is it red or blue?"}, "unknown"),
        ("8 kg", "It lifts five.", {"context_answer": "8 KG"}, "supporting"),
        ("8 kg", "It lifts 8 kg.", {"kind": "unknown"}, "unknown"),
        ("8 years", "It lasts eight years.", {}, "supporting"),
        ("eight years", "It lasts 8 years.", {}, "supporting"),
        ("8 years", "It lasts eighteen years.", {}, "unknown"),
        ("1", "One of them is blue.", {}, "unknown"),
        ("8 years", "Eight years.", {"question": "Is it eight years or nine?"}, "unknown"),
        ("8 kg", "Not 8 kg but 5 kg.", {"context_answer": "5 kg"}, "unknown"),
    ],
)
def test_a_missing_kind_follows_from_the_answer(
    answer: str, context: str, cells: dict[str, str], kind: str, tmp_path: Path
) -> None:
    row = {"question": "What is it?", "answer": answer, "context": context, **cells}
    (tmp_path / "mine.json").write_text(json.dumps(row))
    result = read_questions(OwnQuestions(file=str(tmp_path / "mine.json")))
    (question,) = result.questions
    assert [case.condition for case in question.contexts] == [kind]
    assert result.derived == (kind == "supporting")
    assert result.unknown == (kind == "unknown" and "kind" not in cells)
    # a further column has the ids of contexts whose kind is derived
    assert ("supporting" in str(question.other_columns)) == (kind == "supporting")
