"""What a MediaWiki answers: errors in its own codes, parts, pages and their versions, and nothing else in their place.

Where an answer is not what was asked for, reading it raises one of MISREAD.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from data.errors import ServiceBudget, ServiceError, ServiceTimeout
from data.sources.http.answer import ErrorOf, ServiceProblem

MISREAD = (LookupError, TypeError, ValueError, AttributeError)
Reads = Callable[[Any], object]
PATIENCE = 15
"""How often a wiki is asked that lags or finds us too fast, over about eight minutes."""
_WAIT_S = 5.0
_ONLY_WAITING_HELPS = ("maxlag", "ratelimited", "actionthrottledtext")
_NO_TITLE = re.compile(r"[\x00-\x1f\x7f#<>\[\]|{}\ud800-\udfff]")
_LONGEST_TITLE = 512
_TEMPORARY = re.compile(r"~[0-9]{4}-[0-9]+(-[0-9]+)*")


@dataclass(frozen=True, slots=True)
class Revision:
    """A version of a page, without what it says; user, sha1 and comment are None where nobody may see them.

    parent_id: 0 of a first version, and where the wiki does not know. timestamp: ISO 8601, UTC. registered: by an
    account that stays; False for anonymous and temporary ones, and where the user is hidden. sha1: hexadecimal, of the
    content in UTF-8. size: bytes. hidden: user, comment or content is; content_hidden: nobody may read what it says.
    """

    revision_id: int
    parent_id: int
    timestamp: str
    user: str | None
    registered: bool
    sha1: str | None
    size: int
    comment: str | None
    tags: tuple[str, ...]
    hidden: bool
    content_hidden: bool


def is_title(title: str) -> bool:
    """Whether a page can have this title, as far as can be said without asking: "A|B" would be taken for two."""
    return bool(title.strip(" _")) and not _NO_TITLE.search(title) and len(title.encode()) <= _LONGEST_TITLE


def error_of(content: Any) -> ServiceProblem | None:
    """The error inside an answer, in the wiki's code and words; it passes where the wiki lags, is busy or ill."""
    if not isinstance(content, dict):
        return ServiceProblem("JSON that is not a wiki's; is its address that of api.php?")
    said = content.get("errors") or ([content["error"]] if "error" in content else [])
    problems = [_problem(one) for one in (said if isinstance(said, list) else [said])]
    return next((problem for problem in problems if not problem.transient), next(iter(problems), None))


def pages_of(content: Any) -> list[Mapping[str, Any]]:
    """The pages of an answer; TypeError where it has something else in their place."""
    pages = content.get("query", {}).get("pages", [])
    if not isinstance(pages, list) or not all(isinstance(page, dict) for page in pages):
        raise TypeError("pages that are not a list of pages")
    return pages


def page_of(content: Any) -> Mapping[str, Any] | None:
    """The one page that was asked for, with `pageid` and `title`; None where it is missing or its title is none."""
    pages = pages_of(content)
    if len(pages) > 1:
        raise ValueError("more than one page")
    if not pages or pages[0].get("missing") or pages[0].get("invalid") or pages[0].get("special"):
        return None
    whole(pages[0]["pageid"])
    text(pages[0]["title"])
    return pages[0]


def text(value: Any) -> str:
    """The value; TypeError where it is no text."""
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:60]!r} is not text")
    return value


def whole(value: Any) -> int:
    """The value; TypeError where it is no whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{str(value)[:60]!r} is not a whole number")
    return value


def _problem(said: Any) -> ServiceProblem:
    if not isinstance(said, dict):
        return ServiceProblem(str(said))
    code = str(said.get("code"))
    words = next((said[key] for key in ("info", "text", "html", "*") if said.get(key)), "")
    message = f"{code}: {words}"
    if code in _ONLY_WAITING_HELPS:
        kind = ServiceError if code == "maxlag" else ServiceBudget
        return ServiceProblem(message, transient=True, kind=kind, wait_s=_WAIT_S, tries=PATIENCE)
    ill = code.startswith("internal_api_error_")
    kind = ServiceTimeout if ill and "timeout" in code.lower() else ServiceError
    return ServiceProblem(message, transient=ill or code == "readonly", kind=kind)


def error_or_misread(reads: Reads | None) -> ErrorOf:
    """Finds the error of an answer, and else whether it is not what was asked for, which `reads` finds by reading."""

    def either(content: Any) -> ServiceProblem | None:
        problem = error_of(content)
        if problem is None and reads is not None:
            try:
                reads(content)
            except MISREAD as error:
                return ServiceProblem(f"JSON that is not what a wiki was asked for ({type(error).__name__}: {error})")
        return problem

    return either


def read_part(content: Mapping[str, Any], form: Mapping[str, str], reads: Reads | None) -> None:
    """Reads a part of the answer to a query: `reads` the rest of it, here whether it is one and how it goes on."""
    if not {"query", "batchcomplete", "continue"} & content.keys():
        raise LookupError("neither query nor batchcomplete")
    if continued(content).keys() & form.keys():
        raise ValueError("it goes on with another question")
    if reads is not None:
        reads(content)


def continued(content: Mapping[str, Any]) -> dict[str, str]:
    """The fields that bring the next part; none after the last."""
    more = content.get("continue", {})
    if not all(isinstance(value, str | int) for value in more.values()):
        raise TypeError("continue is not a list of fields")
    return {str(name): str(value) for name, value in more.items()}


def read_revisions(content: Any) -> tuple[Revision, ...]:
    """The versions that an answer lists of the one page that was asked for."""
    page = page_of(content)
    return () if page is None else tuple(_revision(entry) for entry in page.get("revisions", []))


def _revision(entry: Mapping[str, Any]) -> Revision:
    main = entry.get("slots", {}).get("main", {})
    content_hidden = bool(entry.get("sha1hidden") or main.get("texthidden"))
    user = None if entry.get("userhidden") else text(entry["user"])
    passing = user is None or entry.get("anon") or entry.get("temp") or _TEMPORARY.match(user)
    return Revision(
        revision_id=whole(entry["revid"]),
        parent_id=whole(entry.get("parentid", 0)),
        timestamp=text(entry["timestamp"]),
        user=user,
        registered=not passing and entry.get("userid") != 0,
        sha1=None if content_hidden else text(entry.get("sha1", "")) or None,
        size=whole(entry["size"]),
        comment=None if entry.get("commenthidden") else text(entry["comment"]),
        tags=tuple(map(text, entry["tags"])),
        hidden=content_hidden or bool(entry.get("userhidden") or entry.get("commenthidden")),
        content_hidden=content_hidden,
    )


def read_contents(content: Any) -> dict[int, str]:
    """What the versions of an answer say, by their ids, as far as it may be read."""
    found = {}
    for entry in _entries(content):
        main = entry["slots"]["main"]
        if not isinstance(main, dict):
            raise TypeError("a version without a main slot")
        if "content" in main:
            found[whole(entry["revid"])] = text(main["content"])
    return found


def all_there(content: Any) -> bool:
    """Whether every version that was asked for could be read: then the answer is the same for ever."""
    return len(read_contents(content)) == len(_entries(content)) and not content.get("query", {}).get("badrevids")


def _entries(content: Any) -> list[Mapping[str, Any]]:
    return [entry for page in pages_of(content) for entry in page.get("revisions", [])]
