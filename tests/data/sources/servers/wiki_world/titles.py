"""Titles as a wiki reads them: written in its own way, or refused."""

import html
import re
import unicodedata
from urllib.parse import quote

_LONGEST = 255
_UNREADABLE = re.compile(r"[<>\[\]{}|\x00-\x1f\x7f\ufffd]|%[0-9A-Fa-f]{2}|~~~")
_RELATIVE = re.compile(r"(^|/)\.\.?(/|$)")


def title_of(asked: str) -> str:
    """The title that is meant: composed characters, no underscores, no anchor, its first letter large."""
    title = re.sub(r"[ _]+", " ", html.unescape(unicodedata.normalize("NFC", asked))).strip()
    title = title.removeprefix(":").split("#")[0].strip()
    return title[:1].upper() + title[1:]


def invalid(title: str) -> str | None:
    """Why no page can have the title; None where one can."""
    if not title:
        return "The requested page title is empty or contains only a namespace prefix."
    if len(title.encode()) > _LONGEST:
        return f"The requested page title is too long. It must be no longer than {_LONGEST} bytes in UTF-8 encoding."
    if bad := _UNREADABLE.search(title):
        return f'The requested page title contains invalid characters: "{bad[0]}".'
    if _RELATIVE.search(title):
        return "Title has relative path. Relative page titles (./, ../) are invalid."
    return None


def normalized(asked: str, title: str) -> dict[str, object]:
    """How the API says that it reads a title in its own way."""
    composed = unicodedata.is_normalized("NFC", asked)
    return {"fromencoded": not composed, "from": asked if composed else quote(asked, safe=""), "to": title}
