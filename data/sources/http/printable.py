"""Text from the web, such as a reason or an address, made fit to be shown."""


def printable(said: str | bytes, most: int = 80) -> str:
    """The first characters of what somebody said, on one line and printable."""
    text = said[: 8 * most].decode("utf-8", "replace") if isinstance(said, bytes) else said[: 8 * most]
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:most]
