import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.reasons import REASONS
from swaymeter.data.records import Question
from swaymeter.data.sources import sample
from swaymeter.data.sources.own.source import OwnQuestions, read_questions
from swaymeter.data.sources.slots import EMPTY_ANSWER, NO_SLOT, QUESTION_CONTAINS_ANSWER, UNASKABLE
from swaymeter.tasks.contexts.questions import choose_questions

STATIC = sample.questions("static")


def chosen(questions: Sequence[Question], *, count: int | None, seed: int = 0) -> list[Question]:
    return choose_questions(questions, count=count, seed=seed).questions


def ids(questions: Sequence[Question]) -> list[str]:
    return sorted(question.question_id for question in questions)


def test_choice_depends_only_on_the_seed() -> None:
    four = chosen(STATIC, count=4)
    assert len(set(ids(four))) == 4
    assert chosen(STATIC[::-1], count=4) == four
    assert ids(chosen(STATIC, count=4, seed=1)) != ids(four)
    assert chosen(STATIC, count=6)[:4] == four
    assert ids(chosen(STATIC, count=None)) == ids(STATIC)


@pytest.mark.parametrize("flag", sorted(UNASKABLE))
def test_unaskable_questions_are_rejected(flag: str, caplog: pytest.LogCaptureFixture) -> None:
    broken = replace(STATIC[0], flags=(flag,))
    with caplog.at_level(logging.WARNING):
        choice = choose_questions([broken, *STATIC[1:]], count=None, seed=0)
    assert ids(choice.questions) == ids(STATIC[1:])
    (rejected,) = choice.rejected
    assert (rejected.reason, rejected.partition, rejected.object) == (flag, "static", broken.object)
    assert rejected.reason in REASONS
    reason = REASONS[flag].removesuffix(".")
    assert caplog.messages == [f"partition static: questions that cannot be asked: {reason} (1)"]


def test_question_that_contains_its_answer_is_accepted(caplog: pytest.LogCaptureFixture) -> None:
    odd = replace(STATIC[0], flags=(QUESTION_CONTAINS_ANSWER,))
    with caplog.at_level(logging.WARNING):
        assert odd in chosen([odd, *STATIC[1:]], count=None)
    assert not caplog.messages


def own_questions(folder: Path, **answers: tuple[str, str]) -> list[Question]:
    """Return own questions; `answers` has the right answer and the conflicting context's answer, by question."""
    rows = [
        {
            "question": question,
            "answer": right,
            "contexts": [{"kind": "conflicting", "text": f"It is {conflicting}.", "answer": conflicting}],
        }
        for question, (right, conflicting) in answers.items()
    ]
    (folder / "own.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return read_questions(OwnQuestions(file=str(folder / "own.jsonl"))).questions


@pytest.mark.parametrize(
    ("right", "conflicting"), [("9 a.m.", "9:00 AM"), ("St. Louis", "Saint Louis"), ("1.5 million", "1,500,000")]
)
def test_conflicting_answer_in_another_spelling_is_rejected(
    right: str, conflicting: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    candidates = own_questions(tmp_path, alike=(right, conflicting), other=(right, "Oslo"))
    choice = choose_questions(candidates, count=None, seed=0)
    assert [question.question for question in choice.questions] == ["other"]
    assert [(row.reason, repr(conflicting) in str(row.detail)) for row in choice.rejected] == [("answers_alike", True)]
    assert (
        f"{candidates[0].question!r}, conflicting: {conflicting!r} is another spelling of the right answer"
        in caplog.text
    )


def test_warning_names_questions_with_long_answers(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    long = "They put all of the sheep into the old barn behind the house."
    candidates = own_questions(tmp_path, brief=("Bergen", "Oslo"), wordy=(long, "Oslo"))
    with caplog.at_level(logging.WARNING):
        choose_questions(candidates, count=None, seed=0)
    assert f"questions with answers of more than 8 words (1): {candidates[1].question!r}" in caplog.text


def test_duplicate_questions_are_rejected() -> None:
    choice = choose_questions([*STATIC, STATIC[3]], count=None, seed=0)
    assert ids(choice.questions) == ids(STATIC)
    assert [(row.reason, row.subject) for row in choice.rejected] == [("doubled", STATIC[3].subject)]


def test_too_few_questions_are_refused() -> None:
    three = [STATIC[0], replace(STATIC[1], flags=(EMPTY_ANSWER,)), replace(STATIC[2], flags=(NO_SLOT,))]
    with pytest.raises(InputError, match="partition static: 2 questions are requested, but only 1 can be asked"):
        choose_questions(three, count=2, seed=0)
    with pytest.raises(InputError, match="no questions"):
        choose_questions([], count=None, seed=0)


def test_warning_names_passages_with_both_answers(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    passages = [
        {"kind": "supporting", "text": "It opened at ten until May, and opens at nine now."},
        {"kind": "conflicting", "text": "It opens at ten.", "answer": "ten"},
    ]
    row = {"id": "q", "question": "When does it open?", "answer": "nine", "contexts": passages}
    (tmp_path / "mine.jsonl").write_text(json.dumps(row))
    read = read_questions(OwnQuestions(file=str(tmp_path / "mine.jsonl")))
    choose_questions(read.questions, count=None, seed=0)
    (warning,) = caplog.messages
    assert warning.startswith("passages with both the right answer and the answer of a conflicting passage (1): q")


def test_passage_with_one_answer_gives_no_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    passages = [
        {"kind": "supporting", "text": "Hall 7 shows the meteorites."},
        {"kind": "conflicting", "text": "Hall 2 shows the meteorites until spring.", "answer": "Hall 2"},
    ]
    row = {"id": "q", "question": "Where are the meteorites?", "answer": "Hall 7", "contexts": passages}
    (tmp_path / "mine.jsonl").write_text(json.dumps(row))
    read = read_questions(OwnQuestions(file=str(tmp_path / "mine.jsonl")))
    choose_questions(read.questions, count=None, seed=0)
    assert caplog.messages == []
