"""Texts from anywhere, with nothing in them that acts where they are shown."""

import re

_ACTS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal would obey, or what turns the text round, in place of being shown; line breaks and tabs do not."""


def plain(text: str) -> str:
    r"""The text, where a character that acts stands as its code, such as \x1b."""
    return _ACTS.sub(lambda character: character[0].encode("unicode_escape").decode(), text)
