import logging
from dataclasses import replace

import pytest

from data.errors import InputError
from data.records import Question
from data.sources import sample
from data.sources.slots import EMPTY_ANSWER, NO_SLOT, QUESTION_CONTAINS_ANSWER, UNASKABLE
from tasks.contexts.questions import choose_questions

STATIC = sample.questions("static")


def ids(questions: list[Question]) -> list[str]:
    return [question.question_id for question in questions]


def test_as_many_questions_as_asked_for_in_whatever_order_they_come() -> None:
    chosen = choose_questions(STATIC, count=4, seed=0)
    assert len(set(ids(chosen))) == 4
    assert choose_questions(STATIC[::-1], count=4, seed=0) == chosen
    assert ids(choose_questions(STATIC, count=4, seed=1)) != ids(chosen)


def test_more_questions_begin_with_those_that_were_asked() -> None:
    assert choose_questions(STATIC, count=6, seed=0)[:4] == choose_questions(STATIC, count=4, seed=0)


def test_no_number_means_all_of_them() -> None:
    assert sorted(ids(choose_questions(STATIC, count=None, seed=0))) == sorted(ids(STATIC))


@pytest.mark.parametrize("flag", sorted(UNASKABLE))
def test_what_cannot_be_asked_is_left_out_and_said(flag: str, caplog: pytest.LogCaptureFixture) -> None:
    broken = replace(STATIC[0], flags=(flag,))
    with caplog.at_level(logging.WARNING):
        chosen = choose_questions([broken, *STATIC[1:]], count=None, seed=0)
    assert sorted(ids(chosen)) == sorted(ids(STATIC[1:]))
    assert caplog.messages == [f"partition static: rows that cannot be asked: {{'{flag}': 1}}"]


def test_what_only_looks_odd_is_asked_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    odd = replace(STATIC[0], flags=(QUESTION_CONTAINS_ANSWER,))
    with caplog.at_level(logging.WARNING):
        assert odd in choose_questions([odd, *STATIC[1:]], count=None, seed=0)
    assert not caplog.messages


def test_too_few_are_refused_with_both_numbers() -> None:
    three = [STATIC[0], replace(STATIC[1], flags=(EMPTY_ANSWER,)), replace(STATIC[2], flags=(NO_SLOT,))]
    with pytest.raises(InputError, match="partition static: 2 questions are asked for, 1 can be asked"):
        choose_questions(three, count=2, seed=0)


def test_nothing_to_choose_from_is_refused() -> None:
    with pytest.raises(InputError, match="no questions"):
        choose_questions([], count=None, seed=0)
