"""Recorded replies: each reply of a file belongs to a question and its passages."""

import json
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.records.replies import replies_digest
from swaymeter.data.sources.own.rows import FileQuestions
from swaymeter.data.sources.own.source import OwnQuestions, read_questions

CLOSES, GARDEN = "The library closes at 6 p.m.", "It has a garden."
ROW: dict[str, Any] = {"id": "q", "question": "When does the library close?", "answer": "6 p.m."}


def read(file: Path, content: Any, *columns: str) -> FileQuestions:
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    options = OwnQuestions(file=str(file))
    options.set_reply_columns(columns or ("said",))
    return read_questions(options)


@pytest.mark.parametrize(
    ("row", "recorded"),
    [
        ({"context": CLOSES, "said": " 6 p.m. "}, {(CLOSES,): " 6 p.m. "}),
        ({"context": CLOSES, "said": ""}, {(CLOSES,): ""}),
        ({"context": CLOSES, "said": None}, {(CLOSES,): None}),
        ({"context": CLOSES}, {(CLOSES,): None}),
        ({"contexts": [CLOSES, GARDEN], "said": "6"}, {(CLOSES, GARDEN): "6"}),
        (
            {"contexts": [{"text": CLOSES, "said": "6"}, {"text": GARDEN, "said": "7"}]},
            {(CLOSES,): "6", (GARDEN,): "7"},
        ),
        ({"context": CLOSES, "said": 6}, {(CLOSES,): "6"}),
    ],
)
def test_a_reply_belongs_to_its_passages(row: Any, recorded: Any, tmp_path: Path) -> None:
    other = {**ROW, "id": "other", "context": GARDEN, "kind": "irrelevant", "said": "No."}
    result = read(tmp_path / "log.json", [{**ROW, **row}, other])
    assert result.rejected == []
    assert {texts: reply for (question, texts), reply in result.replies["said"].items() if question == "q"} == recorded


def test_row_without_passage_has_the_closed_book_reply(tmp_path: Path) -> None:
    lines = ["question,answer,context,kind,said", f"When?,6 p.m.,{CLOSES},supporting,6 p.m.", "When?,6 p.m.,,,No."]
    result = read(tmp_path / "log.csv", "\n".join([*lines, f"When?,6 p.m.,{GARDEN},irrelevant,"]))
    (question,) = result.questions
    assert [context.condition for context in question.contexts] == ["supporting", "irrelevant"]
    assert [*result.replies["said"].values()] == ["6 p.m.", "No.", None]
    assert question.other_columns is None


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        (
            [{**ROW, "context": CLOSES, "said": "6"}],
            ("sayd",),
            "has no column sayd of replies; the file has id, question, answer, context, said; .* --replies said",
        ),
        ([{**ROW, "context": CLOSES, "said": None}], (), "no reply in the column said"),
    ],
)
def test_a_column_without_replies_is_refused(rows: Any, columns: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path / "log.json", rows, *columns)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({**ROW, "context": CLOSES, "said": {"text": "6"}}, "name the path of the text, such as said.text"),
        ({**ROW, "context": CLOSES, "said": "7"}, "context: occurs already"),
        ({**ROW, "said": "again"}, "an earlier row of this question has a reply to the same passages"),
        ({**ROW, "id": "alone", "said": "6"}, "no row of this question has a context"),
    ],
)
def test_unusable_rows_are_rejected(row: Any, reason: str, tmp_path: Path) -> None:
    result = read(tmp_path / "log.json", [{**ROW, "context": CLOSES, "said": "6"}, {**ROW, "said": "No."}, row])
    (rejected,) = result.rejected
    assert reason in (rejected.detail or "")
    assert [*result.replies["said"].values()] == ["6", "No."]


def test_digest_depends_only_on_replies(tmp_path: Path) -> None:
    row = {**ROW, "context": CLOSES, "said": "6"}
    digests = [
        replies_digest(read(tmp_path / f"{number}.json", [changed]).replies["said"])
        for number, changed in enumerate([row, {**row, "note": "new"}, {**row, "said": "7"}])
    ]
    assert digests[0] == digests[1] != digests[2]
