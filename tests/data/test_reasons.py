import re

from swaymeter.data import reasons
from swaymeter.data.reasons import REASONS
from swaymeter.data.sources.slots import UNASKABLE


def test_codes_are_different_short_words_with_whole_sentences() -> None:
    codes = [value for name, value in vars(reasons).items() if name.isupper() and isinstance(value, str)]
    assert len(set(codes)) == len(codes)
    assert REASONS.keys() >= UNASKABLE | {*codes}
    for code, sentence in REASONS.items():
        assert re.fullmatch(r"[a-z]+(_[a-z]+){0,4}", code)
        assert re.fullmatch(r"[A-Z][^\n]*\.", sentence)
