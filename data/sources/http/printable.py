"""Text from the web, such as a reason or an address, in a form that can be displayed."""

from typing import Any


def printable(content: str | bytes, most: int = 80) -> str:
    """The first characters of a text, on one line and printable."""
    text = content[: 8 * most].decode("utf-8", "replace") if isinstance(content, bytes) else content[: 8 * most]
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:most]


def is_text(value: str) -> bool:
    """Whether UTF-8 can hold it: it has no lone surrogate."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(content: Any, most: int = 120) -> str:
    """The first characters of parsed JSON, which may be nested too deeply for `str`."""
    try:
        return printable(str(content), most)
    except RecursionError:
        return "nested too deep to be shown"
