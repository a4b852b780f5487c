"""The command `annotate passages`: each reply is stored at once, and no text reaches the terminal as a code."""

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


def labelled(file: Path, replies: Iterable[str], *, everything: bool = False) -> tuple[passages.Annotation, list[str]]:
    """Return the work after these replies, and what was shown; then the input ends."""
    shown: list[str] = []
    left = iter(replies)

    def read(prompt: str) -> str:
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    work = passages.annotation_of(file, None, MAP, "ada", everything=everything)
    passages.ask(work, shown.append, read)
    assert list(left) == []
    return work, shown


def kinds(file: Path) -> list[tuple[str, ...]]:
    judgements = read_judgements([file.with_name("mine-judgements.csv")])
    read = read_questions(OwnQuestions(file=str(file), columns=MAP)).questions
    return [tuple(of.condition for of in one.contexts) for one in with_kinds(read, judgements)[0]]


def test_replies_are_stored_and_later_calls_go_on(file: Path) -> None:
    work, shown = labelled(file, ["conflicting", "5 kg", "skip"])
    assert sum(text.startswith("passage") for text in shown) == 3  # of five, one states the answer
    assert kinds(file) == [("supporting", "conflicting", "unknown"), ("unknown", "unknown")]
    assert {(row.annotator, row.question_id, row.judged) for row in read_judgements([work.target])} == {
        ("ada", "q1", "It lifts 5 kg.")
    }
    _, shown = labelled(file, ["what?", "i", "b", "u", "i", "n"])
    assert [text for text in shown if text.startswith("passage")] == [
        f"passage   {text}" for text in ("It hums.", "It hums.", "In Bergen.", "It hums.", "In Bergen.", "It rains.")
    ]
    assert kinds(file) == [("supporting", "conflicting", "unknown"), ("irrelevant", "neutral")]


def test_impossible_kinds_are_asked_again(file: Path) -> None:
    _, shown = labelled(file, ["c", "", "c", "8 KG", "c", "5 kg", "q"])
    wrong = [text for text in shown if text.startswith("not stored")]
    assert ["needs a second row" in wrong[0], "8 KG is the right answer" in wrong[1]] == [True, True]
    assert kinds(file)[0] == ("supporting", "conflicting", "unknown")


def test_another_kind_takes_the_place_of_the_first(file: Path) -> None:
    work, _ = labelled(file, ["s", "s", "s", "c", "Rome", "b", "i", "q"], everything=True)
    assert kinds(file) == [("supporting", "supporting", "supporting"), ("irrelevant", "unknown")]
    assert [row.field for row in read_judgements([work.target])] == ["kind"] * 4


def test_files_without_usable_rows_are_refused(file: Path) -> None:
    file.write_text(json.dumps({"question": "Who\x1b?", "gold": "I", "context": "c"}))
    with pytest.raises(UsageError, match="1 of 1 rows cannot be used: line 1: question: has the control character"):
        passages.annotation_of(file, None, MAP, "ada", everything=False)


def test_the_command_asks_on_standard_input(swaymeter: Command, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replies = iter(["i", "q"])
    file.write_text(file.read_text().replace("lift?", "lift?\\u202e[bold]"))
    monkeypatch.setattr("builtins.input", lambda prompt: next(replies))
    ended = swaymeter("annotate", "passages", str(file), "--map", "answer=gold", "--all", "--annotator", "ada")
    assert ended.code == 0
    assert "1 of 5 · q1, supporting\nquestion  What does it lift?\\u202e[bold]\n" in ended.out
    assert "answer    8 kg; eight kilos\n" in ended.out
    assert "passage   It lifts 8 kg.\nso far    supporting; 8 kg\n" in ended.out
    assert "next: swaymeter audit" in ended.out
    assert f"--judgements {file.with_name('mine-judgements.csv')}" in ended.out


def test_a_second_person_judges_the_same_contexts(file: Path) -> None:
    labelled(file, ["i", "q"])
    work = [passages.annotation_of(file, None, MAP, name, everything=False) for name in ("Ada", "ben")]
    assert [len(one.contexts) for one in work] == [3, 4]
