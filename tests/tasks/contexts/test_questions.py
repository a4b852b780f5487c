import logging
from collections.abc import Sequence
from dataclasses import replace

import pytest

from data.errors import InputError
from data.reasons import REASONS
from data.records import Question
from data.sources import sample
from data.sources.slots import EMPTY_ANSWER, NO_SLOT, QUESTION_CONTAINS_ANSWER, UNASKABLE
from tasks.contexts.questions import choose_questions

STATIC = sample.questions("static")


def chosen(questions: Sequence[Question], *, count: int | None, seed: int = 0) -> list[Question]:
    return list(choose_questions(questions, count=count, seed=seed).questions)


def ids(questions: Sequence[Question]) -> list[str]:
    return [question.question_id for question in questions]


def test_the_number_and_choice_of_questions_ignore_order() -> None:
    four = chosen(STATIC, count=4)
    assert len(set(ids(four))) == 4
    assert chosen(STATIC[::-1], count=4) == four
    assert ids(chosen(STATIC, count=4, seed=1)) != ids(four)


def test_more_questions_begin_with_those_that_were_asked() -> None:
    assert chosen(STATIC, count=6)[:4] == chosen(STATIC, count=4)


def test_no_number_means_all_of_them() -> None:
    assert sorted(ids(chosen(STATIC, count=None))) == sorted(ids(STATIC))


@pytest.mark.parametrize("flag", sorted(UNASKABLE))
def test_what_cannot_be_asked_is_left_out_and_said(flag: str, caplog: pytest.LogCaptureFixture) -> None:
    broken = replace(STATIC[0], flags=(flag,))
    with caplog.at_level(logging.WARNING):
        found = choose_questions([broken, *STATIC[1:]], count=None, seed=0)
    assert sorted(ids(found.questions)) == sorted(ids(STATIC[1:]))
    (left_out,) = found.rejected
    assert (left_out.reason, left_out.partition, left_out.object) == (flag, "static", broken.object)
    assert left_out.reason in REASONS
    assert caplog.messages == [f"partition static: rows that cannot be asked: {{'{flag}': 1}}"]


def test_what_only_looks_odd_is_asked_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    odd = replace(STATIC[0], flags=(QUESTION_CONTAINS_ANSWER,))
    with caplog.at_level(logging.WARNING):
        assert odd in chosen([odd, *STATIC[1:]], count=None)
    assert not caplog.messages


def test_what_is_there_twice_is_asked_once_and_said() -> None:
    found = choose_questions([*STATIC, STATIC[3]], count=None, seed=0)
    assert sorted(ids(found.questions)) == sorted(ids(STATIC))
    assert [(one.reason, one.subject) for one in found.rejected] == [("doubled", STATIC[3].subject)]


def test_too_few_are_refused_with_both_numbers() -> None:
    three = [STATIC[0], replace(STATIC[1], flags=(EMPTY_ANSWER,)), replace(STATIC[2], flags=(NO_SLOT,))]
    with pytest.raises(InputError, match="partition static: 2 questions are requested, 1 can be asked"):
        choose_questions(three, count=2, seed=0)


def test_nothing_to_choose_from_is_refused() -> None:
    with pytest.raises(InputError, match="no questions"):
        choose_questions([], count=None, seed=0)
