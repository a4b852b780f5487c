"""Which names are mostly common words, by hand."""

import pytest

from tasks.frequency.common_words import CommonWords

RULE = CommonWords(50, 0.75)


@pytest.mark.parametrize(
    ("name", "count", "lower_case", "reason"),
    [
        ("It", 12, 39, "mostly written in small letters"),
        ("It", 12, 38, None),  # 50 occurrences
        ("It", 25, 75, None),  # three quarters, not more
        ("The Who", 90, 10, None),
        ("apple", 51, 51, "mostly written in small letters"),
        ("apple", 50, 50, None),
        ("1984", 10_000, 10_000, None),
        ("北京", 10_000, 10_000, None),
        ("C", 5, 0, "a single letter"),
        ("É!", 5, 0, "a single letter"),
        ("!!!", 0, 0, "a name without letters or digits"),
    ],
)
def test_a_name_mostly_in_small_letters_is_a_word(name: str, count: int, lower_case: int, reason: str | None) -> None:
    assert RULE.excluded((name,), count, lower_case) == reason
