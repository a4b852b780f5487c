import threading

import pytest

from swaymeter.tasks.measures.persuasion import computed_ahead


def test_the_next_result_is_computed_while_one_is_used() -> None:
    begun = {item: threading.Event() for item in "abc"}

    def make(item: str) -> str:
        begun[item].set()
        return item.upper()

    results = computed_ahead(make, "abc")
    assert next(results) == "A"
    assert begun["b"].wait(5)
    assert not begun["c"].is_set()
    assert list(results) == ["B", "C"]
    assert list(computed_ahead(make, "")) == []


def test_an_error_comes_in_place_of_its_result() -> None:
    results = computed_ahead(lambda item: 1 / item, [1, 0])
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)
