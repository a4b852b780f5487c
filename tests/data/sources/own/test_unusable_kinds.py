"""Kinds of contexts without a usable row: the message names the missing column."""

from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.sources.own.rows import UnusableKinds, unusable_kinds
from swaymeter.data.sources.own.source import OwnQuestions, read_questions, unusable_message

MISSING, OPTION = "column context_answer is missing", "--map context_answer=old_answer"


def row(kind: str, **cells: Any) -> dict[str, Any]:
    return {"id": "q", "question": "Who?", "answer": "I", "context": "It is I.", "kind": kind, **cells}


def row_with_contexts(kind: str, **cells: Any) -> dict[str, Any]:
    return {"question": "Who?", "answer": "I", "contexts": [{"kind": kind, "text": "It is I.", **cells}]}


@pytest.mark.parametrize(
    ("rows", "rejected", "unusable"),
    [
        ([row("supporting"), row("supporting")], {"1"}, UnusableKinds()),
        ([row("supporting"), row("Conflicting ")], {"1"}, UnusableKinds(("conflicting",), MISSING)),
        (
            [row("supporting", note=1, old_answer=""), row("conflicting", old_answer="we")],
            {"1"},
            UnusableKinds(("conflicting",), f"{MISSING}; the file has note, old_answer; add {OPTION}"),
        ),
        # "a" is no kind
        ([row("a", note=1), row("a"), row("")], {"0", "1", "2"}, UnusableKinds()),
        ([row("supporting", context_answer=""), row("conflicting")], {"1"}, UnusableKinds(("conflicting",))),
        (
            [row_with_contexts("supporting"), row_with_contexts("conflicting", old="we")],
            {"1"},
            UnusableKinds(("conflicting",), f"{MISSING}; the file has old; add --map context_answer=NAME"),
        ),
        (
            [row_with_contexts("supporting", answer="I"), row_with_contexts("conflicting")],
            {"1"},
            UnusableKinds(("conflicting",)),
        ),
    ],
)
def test_a_kind_without_usable_rows_is_unusable(
    rows: list[dict[str, Any]], rejected: set[str], unusable: UnusableKinds
) -> None:
    assert unusable_kinds({str(number): cells for number, cells in enumerate(rows)}, rejected) == unusable


def test_a_missing_column_is_mapped(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    rows = ("question,answer,context,kind,old_answer", "Who?,I,It is I.,supporting,", "Who?,I,You.,conflicting,you")
    file.write_text("\n".join(rows))
    message = unusable_message(file, read_questions(OwnQuestions(file=str(file))))
    assert message.startswith(
        f"{MISSING}; the file has old_answer; add --map context_answer=old_answer; no context of kind conflicting can "
        f"be used; {file}: 1 of 2 rows cannot be used: line 3: "
    )
    mapped = read_questions(OwnQuestions(file=str(file), columns={"context_answer": "old_answer"}))
    assert (unusable_message(file, mapped), len(mapped.questions)) == ("", 1)
