"""Client for the Action API of MediaWiki: all parts of a response, errors, and the history of a page.

The content is untrusted: a response without the expected fields or types raises one of the exceptions
`http.response.MISREAD`, such as KeyError, when the response is read.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from swaymeter.data.errors import ServiceBudget, ServiceError, ServiceTimeout
from swaymeter.data.sources.http.response import Response, TransientError, reading_check

if TYPE_CHECKING:
    from swaymeter.data.sources.http.session import Session

CONTENTS_AT_ONCE = 20
"""Limit of the revisions whose contents are requested at once."""
MAXLAG_S = 5
"""Replication lag (s) of a wiki above which requests wait."""
_PARAMETERS = {"format": "json", "formatversion": "2", "maxlag": str(MAXLAG_S)}
_METADATA = "ids|timestamp|user|userid|flags|sha1|size|comment|tags"
ContentCheck = Callable[[Any], object]
"""A function that reads a response; it raises an exception of `http.response.MISREAD` for an invalid response."""
PATIENCE = 15
"""Limit of the tries of a request while a wiki lags or limits the rate; all tries take about eight minutes."""
_WAIT_S = 5.0
"""Least seconds before another try while a wiki lags or limits the rate."""
_BUSY_CODES = ("maxlag", "ratelimited", "actionthrottledtext")
"""Codes of the errors of a wiki that lags or limits the rate."""
_NOT_IN_TITLES = re.compile(r"[\x00-\x1f\x7f#<>\[\]|{}\ud800-\udfff]")
_LONGEST_TITLE = 512
"""Limit of the bytes of a title."""
_TEMPORARY_ACCOUNT = re.compile(r"~[0-9]{4}-[0-9]+(-[0-9]+)*")  # ~2025-12345-67


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision of a page, without its content; hidden values of user, sha1 and comment are None.

    Attributes:
        parent_id: The id of the revision before; 0 for the first revision, or if the id is unknown.
        timestamp: ISO 8601, UTC.
        registered: True for a permanent account; False for anonymous, temporary and hidden users.
        sha1: Digest of the content in UTF-8, hexadecimal.
        size: Bytes of the content.
        hidden: True if user, comment or content is hidden.
        content_hidden: True if the content cannot be read.
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


@dataclass(frozen=True, slots=True)
class History:
    """The revisions of a page, oldest first.

    Attributes:
        title: The title in the wiki's spelling.
        retrieved_at: The time of the newest response, UTC.
        address: The address of the wiki's API.
    """

    title: str
    page_id: int
    revisions: tuple[Revision, ...]
    retrieved_at: datetime
    address: str


class Wiki:
    """A wiki, for all threads of a run; every method raises ServiceError if a request fails."""

    def __init__(self, session: "Session") -> None:
        self.session = session

    def ask(self, form: Mapping[str, str], *, check: ContentCheck | None = None, **caching: Any) -> Response:
        """Return the response to a form; of a long response, only the first part.

        Args:
            form: The fields.
            check: Raises one of MISREAD for an invalid response, which is then an error and is not cached.
            caching: `immutable` and `bypass_cache` of `Session.ask`.
        """
        error_check = reading_check(check or (lambda content: None))
        return self.session.ask(
            {**_PARAMETERS, **form}, error_of=lambda content: error_of(content) or error_check(content), **caching
        )

    def query(
        self, form: Mapping[str, str], *, check: ContentCheck | None = None, **caching: Any
    ) -> Iterator[Response]:
        """Yield all parts of the response to a form of action=query; arguments as in `ask`."""
        form = {"action": "query", **form}
        check_part = partial(check_part_of_response, form=form, check=check)
        requested: list[Mapping[str, str]] = []
        next_part: Mapping[str, str] = {}
        while next_part or not requested:
            if next_part in requested:
                raise ServiceError(
                    f"{self._service_name} sends the same part of its response again ({str(next_part)[:200]}); "
                    "run again later"
                )
            requested.append(next_part)
            response = self.ask({**form, **next_part}, check=check_part, **caching)
            yield response
            next_part = continuation(response.content)

    def revisions(self, title: str, *, redirects: bool = False) -> History | None:
        """Return all revisions of a page; None for a missing page or an invalid title.

        With `redirects`, a redirect gives the revisions of its target.
        """
        if not is_title(title):
            return None
        form = {"prop": "revisions", "titles": title, "rvprop": _METADATA, "rvlimit": "max", "rvdir": "newer"}
        form |= {"redirects": "1"} if redirects else {}
        for bypass_cache in (False, True):  # again if another page took the title during the requests
            responses = list(self.query(form, check=read_revisions, bypass_cache=bypass_cache))
            pages = [page for response in responses if (page := page_of(response.content)) is not None]
            if not pages:
                return None
            is_same_page = len(pages) == len(responses) and len({page["pageid"] for page in pages}) == 1
            if is_same_page:
                revisions = tuple(revision for response in responses for revision in read_revisions(response.content))
                title, page_id, retrieved_at = pages[-1]["title"], pages[-1]["pageid"], responses[-1].retrieved_at
                return History(title, page_id, revisions, retrieved_at, self.session.service.address)
        raise ServiceError(
            f"{self._service_name}: {title!r} became the title of another page while the history of the page was read; "
            f"run again{' with a network' if self.session.offline else ''}"
        )

    def contents(self, revision_ids: Sequence[int]) -> dict[int, str]:
        """Return the contents of revisions by id, without hidden, deleted and unknown revisions."""
        ids = sorted({revision_id for revision_id in revision_ids if revision_id > 0})
        contents: dict[int, str] = {}
        for first in range(0, len(ids), CONTENTS_AT_ONCE):
            contents |= self._contents(ids[first : first + CONTENTS_AT_ONCE])
        return contents

    def _contents(self, ids: Sequence[int]) -> dict[int, str]:
        """Return the contents, requested together; a request that takes too long is split into two halves."""
        form = {"prop": "revisions", "revids": "|".join(map(str, ids)), "rvprop": "ids|content", "rvslots": "main"}
        contents: dict[int, str] = {}
        try:
            for response in self.query(form, immutable=is_complete, check=read_contents):
                contents |= read_contents(response.content)
        except ServiceTimeout:
            if len(ids) == 1:
                raise
            middle = len(ids) // 2
            return self._contents(ids[:middle]) | self._contents(ids[middle:])
        return {revision_id: contents[revision_id] for revision_id in ids if revision_id in contents}

    @property
    def _service_name(self) -> str:
        return f"{self.session.service.name} ({self.session.service.address})"


def is_title(title: str) -> bool:
    """Return True if a page can have this title; a request with "A|B" would ask for two pages."""
    return bool(title.strip(" _")) and not _NOT_IN_TITLES.search(title) and len(title.encode()) <= _LONGEST_TITLE


def error_of(content: Any) -> ServiceError | TransientError | None:
    """Return the error inside a response, with the wiki's code and message; transient if the wiki lags or fails."""
    if not isinstance(content, dict):
        return ServiceError("JSON that is not from a MediaWiki; give the address of the wiki's api.php")
    errors = content.get("errors") or ([content["error"]] if "error" in content else [])
    problems = [_problem(error) for error in (errors if isinstance(errors, list) else [errors])]
    lasting_problems = [problem for problem in problems if isinstance(problem, ServiceError)]
    return next(iter([*lasting_problems, *problems]), None)


def pages_of(content: Any) -> list[Mapping[str, Any]]:
    """Return the pages of a response; TypeError if they are no list of pages."""
    pages = content.get("query", {}).get("pages", [])
    if not isinstance(pages, list) or not all(isinstance(page, dict) for page in pages):
        raise TypeError("`query.pages` is not a list of pages")
    return pages


def page_of(content: Any) -> Mapping[str, Any] | None:
    """Return the requested page in a response; None for a missing page or an invalid title."""
    pages = pages_of(content)
    if len(pages) > 1:
        raise ValueError("the response has more than one page")
    if not pages or pages[0].get("missing") or pages[0].get("invalid") or pages[0].get("special"):
        return None
    integer(pages[0]["pageid"])
    text(pages[0]["title"])
    return pages[0]


def text(value: Any) -> str:
    """Return the value; TypeError if it is no text."""
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:60]!r} is not text")
    return value


def integer(value: Any) -> int:
    """Return the value; TypeError if it is no integer."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{str(value)[:60]!r} is not a whole number")
    return value


def _problem(error: Any) -> ServiceError | TransientError:
    if not isinstance(error, dict):
        return ServiceError(str(error))
    code = str(error.get("code"))
    description = next((error[key] for key in ("info", "text", "html", "*") if error.get(key)), "")
    message = f"{code}: {description}"
    if code in _BUSY_CODES:
        kind = ServiceError if code == "maxlag" else ServiceBudget
        return TransientError(message, kind, wait_s=_WAIT_S, tries=PATIENCE)
    is_internal = code.startswith("internal_api_error_")
    kind = ServiceTimeout if is_internal and "timeout" in code.lower() else ServiceError
    return TransientError(message, kind) if is_internal or code == "readonly" else ServiceError(message)


def check_part_of_response(content: Mapping[str, Any], form: Mapping[str, str], check: ContentCheck | None) -> None:
    """Check a part of the response to a form, and its continuation; raise one of MISREAD for an invalid part."""
    if not {"query", "batchcomplete", "continue"} & content.keys():
        raise LookupError("the response has none of the keys `query`, `batchcomplete` and `continue`")
    if continuation(content).keys() & form.keys():
        raise ValueError("`continue` changes a field of the request")
    if check is not None:
        check(content)


def continuation(content: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields that request the next part; {} after the last part."""
    fields = content.get("continue", {})
    if not all(isinstance(value, str | int) for value in fields.values()):
        raise TypeError("`continue` has a value that is neither a text nor an integer")
    return {str(name): str(value) for name, value in fields.items()}


def read_revisions(content: Any) -> tuple[Revision, ...]:
    """Return the revisions of the requested page in a response."""
    page = page_of(content)
    return () if page is None else tuple(_revision(entry) for entry in page.get("revisions", []))


def _revision(entry: Mapping[str, Any]) -> Revision:
    main = entry.get("slots", {}).get("main", {})
    content_hidden = bool(entry.get("sha1hidden") or main.get("texthidden"))
    user = None if entry.get("userhidden") else text(entry["user"])
    is_unregistered = user is None or entry.get("anon") or entry.get("temp") or _TEMPORARY_ACCOUNT.match(user)
    return Revision(
        revision_id=integer(entry["revid"]),
        parent_id=integer(entry.get("parentid", 0)),
        timestamp=text(entry["timestamp"]),
        user=user,
        registered=not is_unregistered and entry.get("userid") != 0,
        sha1=None if content_hidden else text(entry.get("sha1", "")) or None,
        size=integer(entry["size"]),
        comment=None if entry.get("commenthidden") else text(entry["comment"]),
        tags=tuple(map(text, entry["tags"])),
        hidden=content_hidden or bool(entry.get("userhidden") or entry.get("commenthidden")),
        content_hidden=content_hidden,
    )


def read_contents(content: Any) -> dict[int, str]:
    """Return the readable contents of the revisions in a response, by the revisions' ids."""
    contents = {}
    for entry in _entries(content):
        main = entry["slots"]["main"]
        if not isinstance(main, dict):
            raise TypeError("a revision has no main slot")
        if "content" in main:
            contents[integer(entry["revid"])] = text(main["content"])
    return contents


def is_complete(content: Any) -> bool:
    """Return True if every requested revision is readable, so that the cached response never expires."""
    return len(read_contents(content)) == len(_entries(content)) and not content.get("query", {}).get("badrevids")


def _entries(content: Any) -> list[Mapping[str, Any]]:
    return [entry for page in pages_of(content) for entry in page.get("revisions", [])]
