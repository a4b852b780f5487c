"""Keys that requests carry, removed from what a service sends back."""

import json
from urllib.parse import quote

SHORTEST = 8
"""Fewest characters of a key that is removed from response bodies: a short text such as EMPTY may belong there."""
INSTEAD = "[key]"


class Secret:
    """A key; "" for none. It is removed as it is, as JSON escapes it and as addresses quote it."""

    def __init__(self, key: str) -> None:
        forms = {key, json.dumps(key)[1:-1], json.dumps(key, ensure_ascii=False)[1:-1], quote(key, safe="")}
        self._forms = sorted(forms - {""}, key=len, reverse=True)
        self._is_long = len(key) >= SHORTEST

    def out_of_answer(self, body: bytes) -> bytes:
        """Return the body of a response without the key."""
        if not self._is_long:
            return body
        return self.out_of(body.decode(errors="surrogateescape")).encode(errors="surrogateescape")

    def out_of(self, message: str) -> str:
        """Return a message without the key."""
        for form in self._forms:
            message = message.replace(form, INSTEAD)
        return message
