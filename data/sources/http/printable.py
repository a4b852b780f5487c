"""Text from the web, such as a reason or an address, made fit to be shown."""

from typing import Any


def printable(said: str | bytes, most: int = 80) -> str:
    """The first characters of what somebody said, on one line and printable."""
    text = said[: 8 * most].decode("utf-8", "replace") if isinstance(said, bytes) else said[: 8 * most]
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:most]


def shown(content: Any) -> str:
    """The first characters of parsed JSON, which may be too deep to be shown though it could just be read."""
    try:
        return printable(str(content), 120)
    except RecursionError:
        return "nested too deep to be shown"
