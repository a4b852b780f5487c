import threading
from contextlib import closing

import pytest

from tasks.scoring.next_token import Prefetch


def test_the_next_one_is_made_while_one_is_used() -> None:
    begun: dict[str, threading.Event] = {"a": threading.Event(), "b": threading.Event(), "c": threading.Event()}

    def make(thing: str) -> str:
        begun[thing].set()
        return thing.upper()

    with closing(Prefetch(make, ["a", "b", "c"])) as ahead:
        assert ahead.take("a") == "A"
        assert begun["b"].wait(5)
        assert not begun["c"].is_set()
        assert ahead.take("b") == "B"
        assert ahead.take("c") == "C"


def test_things_may_be_left_out() -> None:
    with closing(Prefetch(str.upper, ["a", "b", "c"])) as ahead:
        assert ahead.take("b") == "B"
        assert ahead.take("c") == "C"


def test_an_error_comes_with_its_own_thing() -> None:
    def make(thing: int) -> float:
        return 1 / thing

    with closing(Prefetch(make, [1, 0])) as ahead:
        assert ahead.take(1) == 1
        with pytest.raises(ZeroDivisionError):
            ahead.take(0)
