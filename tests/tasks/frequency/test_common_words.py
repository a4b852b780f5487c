"""Which names are mostly common words, by hand."""

import pytest

from swaymeter.data.records import CountedPair
from swaymeter.data.sources.corpus import Piece
from swaymeter.tasks.frequency.common_words import CommonWords
from swaymeter.tasks.frequency.counting import count
from swaymeter.tasks.frequency.names import Names

RULE = CommonWords(50, 0.75)


@pytest.mark.parametrize(
    ("name", "capitals", "lower_case", "reason"),
    [
        ("It", 12, 39, "mostly written in small letters"),
        ("It", 12, 38, None),  # 50 occurrences
        ("It", 25, 75, None),  # three quarters, not more
        ("The Who", 0, 0, None),
        ("apple", 0, 51, "mostly written in small letters"),
        ("apple", 0, 50, None),
        ("C++", 5, 0, "a single letter or digit, signs removed"),
        ("É!", 5, 0, "a single letter or digit, signs removed"),
        ("!!!", 0, 0, "a name without letters or digits"),
    ],
)
def test_a_name_mostly_in_small_letters_is_a_word(
    name: str, capitals: int, lower_case: int, reason: str | None
) -> None:
    assert RULE.excluded((name,), capitals, lower_case) == reason


@pytest.mark.parametrize(
    ("names", "text", "is_excluded"),
    [
        (("Apple", "apple"), "Apple " * 10 + "apple " * 90, True),
        (("Apple", "apple"), "Apple " * 30 + "apple " * 70, False),
        (("apple", "apple tree"), "apple " * 60, True),
        (("The Who",), "The Who " * 15 + "the who " * 1000, False),
        (("The Who", "Who"), "The Who " * 15 + "who " * 1000, True),
        (("Big Apple", "Apple"), "Big Apple " * 15 + "New York " * 1000, False),
        (("1984", "北京"), "1984 北京 " * 100, False),
        (("Twitter", "X"), "Twitter X ", True),
        (("New York", "It"), "New York " * 1000 + "It " * 20 + "it " * 100, True),
    ],
)
def test_small_letters_are_held_against_names_of_one_word(names: tuple[str, ...], text: str, is_excluded: bool) -> None:
    found = count([Piece(text, begins=True)], Names([CountedPair("entity", "answer", names, ("answer",))]), 5)
    assert (RULE.excluded(names, int(found.capitals[0]), int(found.lower_case[0])) is not None) == is_excluded
