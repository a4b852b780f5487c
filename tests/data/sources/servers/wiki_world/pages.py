"""Wikis of pages and revisions; the wiki gives each revision a number and a time."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Literal

Part = Literal["user", "comment", "content"]
_START = datetime(2025, 1, 1, tzinfo=UTC)
_ADDRESS = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}")


@dataclass
class Revision:
    """A revision of a page; `hidden` has the parts that an administrator has hidden."""

    revision_id: int
    parent_id: int
    content: str
    user: str
    comment: str
    tags: tuple[str, ...]
    timestamp: str
    hidden: tuple[Part, ...] = ()

    def metadata(self) -> dict[str, Any]:
        """Return the fields of the Action API, without the content."""
        content = self.content.encode()
        is_anonymous = _ADDRESS.fullmatch(self.user) is not None
        editor = {"user": self.user, "userid": 0, "anon": True} if is_anonymous else {"user": self.user, "userid": 1}
        sha1 = hashlib.sha1(content, usedforsecurity=False).hexdigest()
        return {
            "revid": self.revision_id,
            "parentid": self.parent_id,
            "timestamp": self.timestamp,
            "size": len(content),
            "tags": list(self.tags),
            **({"userhidden": True} if "user" in self.hidden else editor),
            **({"commenthidden": True} if "comment" in self.hidden else {"comment": self.comment}),
            **({"sha1hidden": True} if "content" in self.hidden else {"sha1": sha1}),
        }


@dataclass
class Page:
    """A page; `item_id` is the item about its subject, and `links` are the titles of articles."""

    page_id: int
    title: str
    revisions: list[Revision] = field(default_factory=list)
    item_id: str | None = None
    links: Iterable[str] = ()

    @property
    def latest(self) -> Revision:
        return self.revisions[-1]


class Wiki:
    """A wiki with its pages by their titles, and the targets of its redirects."""

    def __init__(self, first: int = 1001) -> None:
        """Begin a wiki without pages, whose first revision will have the number `first`."""
        self.pages: dict[str, Page] = {}
        self.redirects: dict[str, str] = {}
        self._revision_ids = count(first)

    def save(
        self,
        title: str,
        content: str,
        *,
        user: str = "Carol Claims",
        comment: str = "",
        tags: Iterable[str] = (),
        hidden: Iterable[Part] = (),
    ) -> Revision:
        """Save a revision, an hour after the wiki's last revision; the first revision of a title makes the page."""
        page = self.pages.setdefault(title, Page(len(self.pages) + 1, title))
        revision_id = next(self._revision_ids)
        timestamp = f"{_START + timedelta(hours=revision_id):%Y-%m-%dT%H:%M:%SZ}"
        parent_id = page.latest.revision_id if page.revisions else 0
        revision = Revision(revision_id, parent_id, content, user, comment, tuple(tags), timestamp, tuple(hidden))
        page.revisions.append(revision)
        return revision

    def numbers(self, title: str, places: Iterable[int]) -> tuple[int, ...]:
        """Return the numbers of revisions by their places in the history of their page, from 1."""
        return tuple(self.pages[title].revisions[place - 1].revision_id for place in places)
