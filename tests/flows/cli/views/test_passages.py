"""The command `annotate passages`: each reply is stored at once, and no text controls the terminal."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from swaymeter.data.errors import UsageError
from swaymeter.data.sources.judgements import read_judgements
from swaymeter.data.sources.own.source import OwnQuestions, read_questions
from swaymeter.flows.cli.views import passages
from swaymeter.tasks.contexts.judged_questions import with_kinds
from tests.flows.conftest import Command

ROWS = (
    {
        "id": "q1",
        "question": "What does it lift?",
        "gold": "8 kg|eight kilos",
        "contexts": [{"text": "It lifts 8 kg."}, {"text": "It lifts 5 kg."}, {"text": "It hums."}],
    },
    {
        "id": "q2",
        "question": "Where?",
        "gold": "Oslo",
        "contexts": [{"text": "In Bergen.", "kind": "unknown"}, "It rains."],
    },
)
MAP = {"answer": "gold"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "mine.json").write_text(json.dumps(ROWS))
    return tmp_path / "mine.json"


def annotate(file: Path, replies: Iterable[str], *, everything: bool = False) -> tuple[passages.Annotation, list[str]]:
    """Return the annotation after these replies, and the printed texts; the input ends after the replies.

    s, c, i, n and u are kinds by their first letter, b goes back, and q quits.
    """
    printed: list[str] = []
    remaining = iter(replies)

    def read(prompt: str) -> str:
        try:
            return next(remaining)
        except StopIteration:
            raise EOFError from None

    annotation = passages.annotation_of(file, None, MAP, "ada", everything=everything)
    passages.ask(annotation, printed.append, read)
    assert list(remaining) == []
    return annotation, printed


def kinds(file: Path) -> list[tuple[str, ...]]:
    judgements = read_judgements([file.with_name("mine-judgements.csv")])
    questions = with_kinds(read_questions(OwnQuestions(file=str(file), columns=MAP)).questions, judgements)[0]
    return [tuple(context.condition for context in question.contexts) for question in questions]


def test_replies_are_stored_and_later_calls_continue(file: Path) -> None:
    annotation, printed = annotate(file, ["conflicting", "5 kg", "skip"])
    # The input ends at the third of four passages without a kind.
    assert sum(text.startswith("passage") for text in printed) == 3
    assert kinds(file) == [("supporting", "conflicting", "unknown"), ("unknown", "unknown")]
    assert {(row.annotator, row.question_id, row.judged) for row in read_judgements([annotation.target])} == {
        ("ada", "q1", "It lifts 5 kg.")
    }
    _, printed = annotate(file, ["what?", "i", "b", "u", "i", "n"])
    assert [text for text in printed if text.startswith("passage")] == [
        f"passage   {text}" for text in ("It hums.", "It hums.", "In Bergen.", "It hums.", "In Bergen.", "It rains.")
    ]
    assert kinds(file) == [("supporting", "conflicting", "unknown"), ("irrelevant", "neutral")]


def test_impossible_kinds_are_asked_again(file: Path) -> None:
    _, printed = annotate(file, ["c", "", "c", "8 KG", "c", "5 kg", "q"])
    wrong = [text for text in printed if text.startswith("not stored")]
    assert ["add a row with the field answer" in wrong[0], "8 KG is the right answer" in wrong[1]] == [True, True]
    assert kinds(file)[0] == ("supporting", "conflicting", "unknown")


def test_a_later_kind_replaces_the_first(file: Path) -> None:
    annotation, _ = annotate(file, ["s", "s", "s", "c", "Rome", "b", "i", "q"], everything=True)
    assert kinds(file) == [("supporting", "supporting", "supporting"), ("irrelevant", "unknown")]
    assert [row.field for row in read_judgements([annotation.target])] == ["kind"] * 4


def test_files_without_usable_rows_are_refused(file: Path) -> None:
    file.write_text(json.dumps({"question": "Who\x1b?", "gold": "I", "context": "c"}))
    with pytest.raises(UsageError, match="1 of 1 rows cannot be used: line 1: question: has the control character"):
        passages.annotation_of(file, None, MAP, "ada", everything=False)


def test_the_command_reads_standard_input(swaymeter: Command, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replies = iter(["i", "q"])
    file.write_text(file.read_text().replace("lift?", "lift?\\u202e[bold]"))
    monkeypatch.setattr("builtins.input", lambda prompt: next(replies))
    result = swaymeter("annotate", "passages", str(file), "--map", "answer=gold", "--all", "--annotator", "ada")
    assert result.code == 0
    assert "1 of 5 · q1, supporting\nquestion  What does it lift?\\u202e[bold]\n" in result.out
    assert "answer    8 kg; eight kilos\n" in result.out
    assert "passage   It lifts 8 kg.\nso far    supporting; 8 kg\n" in result.out
    assert "next: swaymeter audit" in result.out
    assert f"--judgements {file.with_name('mine-judgements.csv')}" in result.out


def test_a_second_person_judges_the_same_contexts(file: Path) -> None:
    annotate(file, ["i", "q"])
    # Names are compared without case: Ada is the first person.
    annotations = [passages.annotation_of(file, None, MAP, name, everything=False) for name in ("Ada", "ben")]
    assert [len(annotation.contexts) for annotation in annotations] == [3, 4]
