import re

from swaymeter.data import reasons
from swaymeter.data.reasons import REASONS
from swaymeter.data.sources.slots import UNASKABLE


def codes() -> list[str]:
    return [value for name, value in vars(reasons).items() if name.isupper() and isinstance(value, str)]


def test_every_code_has_a_sentence() -> None:
    assert set(codes()) <= REASONS.keys()
    assert REASONS.keys() >= UNASKABLE


def test_no_two_codes_are_the_same() -> None:
    assert len(set(codes())) == len(codes())


def test_codes_are_short_words_and_sentences_are_whole() -> None:
    for code, sentence in REASONS.items():
        assert re.fullmatch(r"[a-z]+(_[a-z]+){0,4}", code)
        assert re.fullmatch(r"[A-Z][^\n]*\.", sentence)
