"""A key that requests carry, taken out of what a service says, in whichever way it repeats it.

It is found as it is, with characters escaped as in JSON (also within a text of JSON within JSON), quoted as in
addresses, and in base64, alone or as part of more. Keys of fewer than 8 characters are taken out of messages only:
answers may well have such a text, as `EMPTY`, and stay as they came.
"""

import re
from base64 import b64encode

SHORTEST = 8
"""Characters of a key that is looked for in answers."""
INSTEAD = "[key]"


class Secret:
    """A key; "" for none."""

    def __init__(self, key: str) -> None:
        self._is_long = len(key) >= SHORTEST
        plain = key.encode()
        forms = ({plain} | ({*_in_base64(plain)} if self._is_long else set())) - {b""}
        self._forms = [re.compile(b"".join(map(_written, form))) for form in sorted(forms, key=len, reverse=True)]

    def out_of_answer(self, body: bytes) -> bytes:
        """The body of a response without the key."""
        return self._out_of(body) if self._is_long else body

    def out_of(self, message: str) -> str:
        """A message without the key."""
        return self._out_of(message.encode(errors="surrogateescape")).decode(errors="surrogateescape")

    def _out_of(self, text: bytes) -> bytes:
        for form in self._forms:
            text = form.sub(INSTEAD.encode(), text)
        return text


def _written(byte: int) -> bytes:
    """How a character of the key may be written: each way begins with one character, so that the search is fast."""
    letter, digits = bytes([byte]), b"".join(b"[%c%c]" % (one, other) for one, other in _hex(byte))
    backslashes = rb"\\(?:\\)*"
    escaped = backslashes + re.escape(letter) if letter in b'"/\\' else None
    ways = [re.escape(letter), backslashes + b"u00" + digits, b"%(?:25)*" + digits]
    return b"(?:" + b"|".join(ways + ([escaped] if escaped else [])) + b")"


def _hex(byte: int) -> list[tuple[int, int]]:
    return [(ord(digit), ord(digit.upper())) for digit in f"{byte:02x}"]


def _in_base64(key: bytes) -> list[bytes]:
    """What is the same of the key in base64 whatever stands before and behind it, in both alphabets."""
    whole = {skip: (b64encode(bytes(before) + key), before + len(key)) for before, skip in enumerate((0, 2, 3))}
    sure = (text[skip : length * 8 // 6] for skip, (text, length) in whole.items())
    return [form for text in sure for form in (text, text.replace(b"+", b"-").replace(b"/", b"_"))]
