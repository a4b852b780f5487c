"""The command `label`: each reply is kept at once, nothing is lost, and no text reaches the terminal as a code."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from swaymeter.data.errors import UsageError
from swaymeter.data.sources.own.source import OwnQuestions, read_questions
from swaymeter.flows.cli.views import label
from tests.flows.conftest import Command

ROWS = (
    {"id": "q1", "question": "What does it lift?", "gold": "8 kg|eight kilos", "chapter": "one",
     "contexts": [{"text": "It lifts 8 kg."}, {"text": "It lifts 5 kg.", "score": 0.5}, {"text": "It hums."}]},
    {"id": "q2", "question": "Where?", "gold": "Oslo",
     "contexts": [{"text": "In Bergen.", "kind": "unknown"}, "It rains."]},
)  # fmt: skip
MAP = {"answer": "gold"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "mine.json").write_text(json.dumps(ROWS))
    return tmp_path / "mine.json"


def labelled(file: Path, replies: Iterable[str], *, everything: bool = False) -> tuple[label.Labelling, list[str]]:
    """The work after these replies, and what was shown; then nothing more comes."""
    shown: list[str] = []
    left = iter(replies)

    def read(prompt: str) -> str:
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    work = label.labelling(file, None, MAP, everything=everything)
    label.ask(work, shown.append, read)
    assert list(left) == []
    return work, shown


def kinds(file: Path) -> list[tuple[str, ...]]:
    read = read_questions(OwnQuestions(file=str(file))).questions
    return [tuple(of.condition for of in one.contexts) for one in read]


def test_replies_are_kept_and_later_calls_go_on(file: Path) -> None:
    work, shown = labelled(file, ["conflicting", "5 kg", "skip"])
    assert sum(text.startswith("passage") for text in shown) == 3  # one of five has a kind, and one states the answer
    assert kinds(work.target) == [("supporting", "conflicting", "unknown"), ("unknown", "unknown")]
    work, shown = labelled(file, ["what?", "i", "b", "u", "i"])
    assert [text for text in shown if text.startswith("passage")] == [
        f"passage   {text}" for text in ("It hums.", "It hums.", "It rains.", "It hums.", "It rains.")
    ]
    assert kinds(work.target) == [("supporting", "conflicting", "unknown"), ("unknown", "irrelevant")]
    assert label.summary(work)[0] == f"{work.target}: 2 questions, 0 contexts without a kind"
    assert not label.labelling(work.target, None, {}, everything=False).open
    (question, _) = read_questions(OwnQuestions(file=str(work.target))).questions
    assert question.answers == ("8 kg", "eight kilos")
    assert json.loads(question.other_columns or "")["chapter"] == "one"
    assert [case.passages[0].score for case in question.contexts] == [None, 0.5, None]


def test_corrections_are_kept_by_later_calls(file: Path) -> None:
    labelled(file, ["s", "s", "s", "i"], everything=True)  # the fourth had a kind already
    later, _ = labelled(file, ["n"])
    assert kinds(later.target) == [("supporting", "supporting", "supporting"), ("irrelevant", "neutral")]


def test_a_file_of_other_questions_is_not_written_over(file: Path, tmp_path: Path) -> None:
    labelled(file, ["i", "q"])
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"question": "Who?", "answer": "I", "context": "c"}))
    with pytest.raises(UsageError, match=r"5 of its contexts are not in .*--to"):
        label.labelling(other, tmp_path / f"{file.stem}{label.ENDING}", {}, everything=False)


def test_what_cannot_be_a_kind_is_asked_again(file: Path) -> None:
    work, shown = labelled(file, ["c", "", "c", "8 KG", "c", "5 kg", "q"])
    wrong = [text for text in shown if text.startswith("not kept")]
    assert [text.partition(":")[2].strip()[:20] for text in wrong] == ["answer: is missing; ", "kind: conflicting, b"]
    assert kinds(work.target)[0] == ("supporting", "conflicting", "unknown")


def test_the_prompt_says_what_enter_does(file: Path) -> None:
    replies, prompts = iter(["c", "5 kg", "b", "c", "", "q"]), list[str]()
    label.ask(label.labelling(file, None, MAP, everything=False), print, lambda of: prompts.append(of) or next(replies))
    enter = [of.partition("Enter: ")[2] for of in prompts if of != label.KEYS]
    assert enter == ["back to the kind): ", "5 kg): "]


def test_another_kind_drops_what_a_conflicting_one_stated(file: Path) -> None:
    work, _ = labelled(file, ["c", "5 kg", "b", "s", "q"])
    assert read_questions(OwnQuestions(file=str(work.target))).questions[0].answers == ("8 kg", "eight kilos")


def test_an_answer_that_was_chosen_is_not_asked_for_again(file: Path) -> None:
    row = {"question": "Who?", "answer": "I", "ground_truth": "You", "context": "c"}
    file.write_text(json.dumps(row))
    work = label.labelling(file, None, {"answer": "answer"}, everything=False)
    label.ask(work, print, lambda prompt: "i")
    (question,) = read_questions(OwnQuestions(file=str(work.target))).questions
    assert (question.object, question.contexts[0].condition) == ("I", "irrelevant")
    assert json.loads(question.other_columns or "") == {"ground_truth of the file": "You"}


def test_the_command_asks_on_standard_input(swaymeter: Command, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replies = iter(["i", "q"])
    file.write_text(file.read_text().replace("lift?", "lift?\\u202e[bold]"))
    monkeypatch.setattr("builtins.input", lambda prompt: next(replies))
    ended = swaymeter("label", str(file), "--map", "answer=gold", "--all")
    assert ended.code == 0
    assert "1 of 5 · row 1\nquestion  What does it lift?\\u202e[bold]\nanswer    8 kg; eight kilos\n" in ended.out
    assert "passage   It lifts 8 kg.\nso far    supporting, by its text\n" in ended.out
    assert "next: swaymeter audit" in ended.out


def test_a_file_that_would_lose_rows_is_not_written_over(file: Path) -> None:
    bad = file.with_name("mine-labelled.jsonl")
    bad.write_text(json.dumps({"question": "Who\x1b?", "answer": "I", "context": "c"}))
    with pytest.raises(UsageError, match="1 of 1 rows cannot be used: line 1: question: holds the control character"):
        label.labelling(bad, None, {}, everything=False)
    bad.write_text(json.dumps({"question": "Who?", "answer": "I", "context": "c"}) + "\n{}\n")
    with pytest.raises(UsageError, match="rows that cannot be used would be lost"):
        label.labelling(bad, None, {}, everything=False)
    with pytest.raises(UsageError, match=r"name a file that ends in \.jsonl"):
        label.labelling(file, file, MAP, everything=False)
