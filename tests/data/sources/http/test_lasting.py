"""What never changes is asked for once, whatever the age of the answer."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from data.errors import ServiceError
from tests.data.sources.http.asking import Open, maxlag
from tests.data.sources.servers.faults import Say, says, serving, unused_address

SOON = datetime.now(UTC) + timedelta(days=1)


@pytest.mark.parametrize("other", [{"age_days": 0}, {"not_before": SOON}, {"offline": True, "age_days": 0}])
def test_a_lasting_answer_never_grows_old(other: Any, opened: Open) -> None:
    with serving(says([1]), says([2])) as server:
        opened(server).ask({}, lasting=True)
        answer = opened(server, **other).ask({}, lasting=True)
        assert (answer.content, answer.from_cache) == ([1], True)
    assert len(server.asked) == 1


def test_the_same_answer_grows_old_for_who_does_not_call_it_lasting(opened: Open) -> None:
    with serving(says([1]), says([2])) as server:
        opened(server).ask({}, lasting=True)
        assert opened(server, age_days=0).ask({}).content == [2]
        assert opened(server, age_days=0).ask({}, lasting=True).content == [2]


def test_an_answer_may_say_itself_whether_it_lasts(opened: Open) -> None:
    with serving(play=lambda asked: says({"whole": asked.form["q"] == "1"})) as server:
        for _ in range(2):
            session = opened(server, age_days=0)
            session.ask({"q": "1"}, lasting=lambda content: content["whole"])
            session.ask({"q": "2"}, lasting=lambda content: content["whole"])
    assert [asked.form["q"] for asked in server.asked] == ["1", "2", "2"]


def test_a_young_answer_that_does_not_last_is_not_asked_for_again(opened: Open) -> None:
    with serving(says([1]), says([2])) as server:
        opened(server).ask({}, lasting=lambda content: False)
        assert opened(server).ask({}, lasting=lambda content: False).content == [1]


def test_a_lasting_answer_that_is_now_known_as_an_error_is_asked_for_anew(opened: Open) -> None:
    with serving(says({"error": {"code": "other", "info": "no"}}), says([1])) as server:
        opened(server).ask({}, lasting=True)
        assert opened(server).ask({}, lasting=True, error_of=maxlag).content == [1]


def test_bad_answers_do_not_last(opened: Open) -> None:
    with serving(Say(b"<html>"), says([1])) as server:
        with pytest.raises(ServiceError):
            opened(server).ask({}, lasting=True)
        assert opened(server).ask({}, lasting=True).content == [1]
    with pytest.raises(ServiceError, match="offline"):
        opened(unused_address(), offline=True).ask({}, lasting=True)
