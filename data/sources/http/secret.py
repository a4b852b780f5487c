"""Removal of a key from responses and messages, in every written form in which a service repeats it.

The forms are plain text, characters escaped as in JSON (also JSON within JSON), characters quoted as in addresses, and
base64, alone or within a longer text. Keys of fewer than 8 characters are removed from messages alone: responses may
well have a text such as `EMPTY`.
"""

import re
from base64 import b64encode

SHORTEST = 8
"""Length of the shortest key that is removed from responses."""
REPLACEMENT = "[key]"


class Secret:
    """A key; "" for none."""

    def __init__(self, key: str) -> None:
        self._is_long = len(key) >= SHORTEST
        plain = key.encode()
        forms = ({plain} | ({*_in_base64(plain)} if self._is_long else set())) - {b""}
        self._forms = [re.compile(b"".join(map(_written, form))) for form in sorted(forms, key=len, reverse=True)]

    def out_of_answer(self, body: bytes) -> bytes:
        """Return the body of a response without the key."""
        return self._out_of(body) if self._is_long else body

    def out_of(self, message: str) -> str:
        """Return a message without the key."""
        return self._out_of(message.encode(errors="surrogateescape")).decode(errors="surrogateescape")

    def _out_of(self, text: bytes) -> bytes:
        for form in self._forms:
            text = form.sub(REPLACEMENT.encode(), text)
        return text


def _written(byte: int) -> bytes:
    """Return the pattern of a character in all its forms; a search is fast because each begins with one character."""
    letter, digits = bytes([byte]), b"".join(b"[%c%c]" % (lower, upper) for lower, upper in _hex(byte))
    backslashes = rb"\\(?:\\)*"
    escaped = backslashes + re.escape(letter) if letter in b'"/\\' else None
    ways = [re.escape(letter), backslashes + b"u00" + digits, b"%(?:25)*" + digits]
    return b"(?:" + b"|".join(ways + ([escaped] if escaped else [])) + b")"


def _hex(byte: int) -> list[tuple[int, int]]:
    return [(ord(digit), ord(digit.upper())) for digit in f"{byte:02x}"]


def _in_base64(key: bytes) -> list[bytes]:
    """Return the parts of the key's base64 that no text around it changes, in both alphabets."""
    whole = {skip: (b64encode(bytes(before) + key), before + len(key)) for before, skip in enumerate((0, 2, 3))}
    sure = (text[skip : length * 8 // 6] for skip, (text, length) in whole.items())
    return [form for text in sure for form in (text, text.replace(b"+", b"-").replace(b"/", b"_"))]
