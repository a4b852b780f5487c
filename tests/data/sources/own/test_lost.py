"""A file that loses a whole kind says which column is missing, and which of its own may be meant."""

from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.sources.own.lost import Lost, lost_in
from swaymeter.data.sources.own.source import OwnQuestions, not_usable, read_questions

MISSING = "column context_answer is missing"


def row(kind: str, **cells: Any) -> dict[str, Any]:
    return {"id": "q", "question": "Who?", "answer": "I", "context": "It is I.", "kind": kind, **cells}


def nested(kind: str, **cells: Any) -> dict[str, Any]:
    return {"question": "Who?", "answer": "I", "contexts": [{"kind": kind, "text": "It is I.", **cells}]}


@pytest.mark.parametrize(
    ("rows", "rejected", "lost"),
    [
        ([row("supporting"), row("supporting")], {"1"}, Lost()),
        ([row("supporting"), row("Conflicting ")], {"1"}, Lost(("conflicting",), MISSING)),
        (
            [row("supporting", note=1, old_answer=""), row("conflicting", old_answer="we")], {"1"},
            Lost(("conflicting",), f"{MISSING}; the file has note, old_answer: --map context_answer=old_answer"),
        ),
        ([row("a", note=1), row("a"), row("")], {"0", "1", "2"}, Lost()),
        ([row("supporting", context_answer=""), row("conflicting")], {"1"}, Lost(("conflicting",))),
        ([nested("supporting"), nested("conflicting", old="we")], {"1"},
         Lost(("conflicting",), f"{MISSING}; the file has old: --map context_answer=NAME")),
        ([nested("supporting", answer="I"), nested("conflicting")], {"1"}, Lost(("conflicting",))),
    ],
)  # fmt: skip
def test_what_is_lost_of_a_file(rows: list[dict[str, Any]], rejected: set[str], lost: Lost) -> None:
    assert lost_in({str(place): cells for place, cells in enumerate(rows)}, rejected) == lost


def test_a_file_that_loses_a_kind_says_how_to_map_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    rows = ("question,answer,context,kind,old_answer", "Who?,I,It is I.,supporting,", "Who?,I,You.,conflicting,you")
    file.write_text("\n".join(rows))
    said = not_usable(file, read_questions(OwnQuestions(file=str(file))))
    assert said.startswith(
        f"{MISSING}; the file has old_answer: --map context_answer=old_answer; no context of kind conflicting can be "
        f"used; {file}: 1 of 2 rows cannot be used: line 3: "
    )
    mapped = read_questions(OwnQuestions(file=str(file), columns={"context_answer": "old_answer"}))
    assert (not_usable(file, mapped), len(mapped.questions)) == ("", 1)
