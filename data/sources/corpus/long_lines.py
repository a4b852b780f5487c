"""A line of JSON that is too long to be parsed at once: the text under one of its keys, piece by piece."""

import codecs
import json
import re
from collections.abc import Iterator

_MARK = re.compile(r'[{}\[\]:,"]')
_WITHIN_STRING = re.compile(r'(?:[^"\\]+|\\.)*+', re.DOTALL)
_LONGEST_KEY = 1000
_LONGEST_ESCAPE = 12
"""Characters of the longest escape, a pair of surrogates."""


class LongLine:
    """A line of JSON whose end is not read yet.

    Attributes:
        rest: what stands behind the line, once it is read.
        problem: what is wrong with the line, once it is read; text before that was given.
    """

    def __init__(self, start: bytes, blocks: Iterator[bytes], column: str) -> None:
        """A line that begins with `start` and goes on in `blocks`; column: the key of the text."""
        self.rest, self.problem = b"", ""
        self._column = column
        self._pieces = self._decoded(start, blocks)
        self._text, self._at = "", 0

    def texts(self) -> Iterator[str]:
        """The text under the key; `problem` and `rest` hold once it is read to its end."""
        try:
            yield from self._walk()
        except ValueError:
            self.problem = self.problem or "is not JSON"
        for _ in self._pieces:
            pass

    def _decoded(self, start: bytes, blocks: Iterator[bytes]) -> Iterator[str]:
        """The line in pieces, up to the first problem."""
        decoder, block, is_end = codecs.getincrementaldecoder("utf-8-sig")(), start, b""
        while block and not is_end:
            line, is_end, self.rest = block.partition(b"\n")
            if not self.problem:
                try:
                    text = decoder.decode(line, final=bool(is_end))
                except UnicodeDecodeError:
                    self.problem = "is not UTF-8"
                else:
                    yield text
            block = b"" if is_end else next(blocks, b"")

    def _walk(self) -> Iterator[str]:
        """The text; ValueError where the line is not JSON."""
        depth, key, is_value, is_found, is_over = 0, "", False, False, False
        while mark := self._next_mark(is_outside=not depth):
            if not depth and (is_over or mark in ":,]}"):
                raise ValueError
            is_over = True
            if mark == '"':
                if depth == 1 and is_value and key == self._column:
                    if is_found:
                        self.problem = f"has more than one text under {self._column!r}"
                        return
                    is_found = True
                    yield from self._string()
                else:
                    string = ""
                    for piece in self._string():
                        string = (string + piece)[:_LONGEST_KEY]
                    key = key if is_value else string
            elif mark == ":":
                is_value = is_value or depth == 1
            elif mark == ",":
                is_value = is_value and depth > 1
            else:
                depth += 1 if mark in "{[" else -1
        if depth or self.problem:
            raise ValueError
        if not is_found:
            self.problem = f"has no text under {self._column!r}"

    def _next_mark(self, *, is_outside: bool) -> str:
        """The next character with a meaning outside of strings; empty at the end of the line.

        ValueError where something else stands outside of the object.
        """
        while True:
            found = _MARK.search(self._text, self._at)
            if is_outside and self._text[self._at : found.start() if found else None].strip():
                raise ValueError
            if found:
                self._at = found.end()
                return found[0]
            piece = next(self._pieces, None)
            if piece is None:
                return ""
            self._text, self._at = piece, 0

    def _string(self) -> Iterator[str]:
        """The string that has begun, in pieces; ValueError where it does not end."""
        while True:
            end = _WITHIN_STRING.match(self._text, self._at).end()  # type: ignore[union-attr]  # also nothing matches
            content, is_end = self._text[self._at : end], self._text[end : end + 1] == '"'
            text, held = (json.loads(f'"{content}"'), "") if is_end else _cut(content)
            yield text
            if is_end:
                self._at = end + 1
                return
            piece = next(self._pieces, None)
            if piece is None:
                raise ValueError
            self._text, self._at = held + self._text[end:] + piece, 0


def _cut(content: str) -> tuple[str, str]:
    """A part of a string's content as text, and what is left of an escape that goes on behind it; ValueError."""
    for held in range(min(_LONGEST_ESCAPE, len(content)) + 1):
        end = len(content) - held
        try:
            text: str = json.loads(f'"{content[:end]}"')
        except ValueError:
            continue
        if not "\ud800" <= text[-1:] <= "\udbff":
            return text, content[end:]
    raise ValueError
