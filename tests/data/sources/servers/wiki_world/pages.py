"""Wikis of pages and revisions; the wiki gives each revision a number and a time."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

Part = Literal["user", "comment", "content"]
EVERYTHING: frozenset[Part] = frozenset({"user", "comment", "content"})
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
    hidden: frozenset[Part] = frozenset()

    @property
    def anonymous(self) -> bool:
        return _ADDRESS.fullmatch(self.user) is not None

    @property
    def sha1(self) -> str:
        return hashlib.sha1(self.content.encode(), usedforsecurity=False).hexdigest()


@dataclass
class Page:
    """A page; `item_id` is the item about its subject."""

    page_id: int
    namespace: int
    title: str
    revisions: list[Revision] = field(default_factory=list)
    item_id: str | None = None

    @property
    def latest(self) -> Revision:
        return self.revisions[-1]


class Wiki:
    """A wiki.

    Attributes:
        model: The content model of its pages.
        content_format: The format of its contents.
        pages: The pages by their titles.
        redirects: The target of each redirect, both by their titles.
        users: The numbers of the accounts by their names.
    """

    def __init__(self, model: str, content_format: str, first: int = 1001) -> None:
        """Begin a wiki without pages, whose first revision will have the number `first`."""
        self.model, self.content_format = model, content_format
        self.pages: dict[str, Page] = {}
        self.redirects: dict[str, str] = {}
        self.users: dict[str, int] = {}
        self._first, self._saved = first, 0

    def save(
        self, title: str, content: str, *, user: str, comment: str = "", tags: Iterable[str] = (), namespace: int = 0
    ) -> Revision:
        """Save a revision, an hour after the wiki's last revision; the first revision of a title makes the page."""
        page = self.pages.setdefault(title, Page(len(self.pages) + 1, namespace, title))
        number = self._first + self._saved
        self._saved += 1
        timestamp = f"{_START + timedelta(hours=self._saved):%Y-%m-%dT%H:%M:%SZ}"
        parent = page.latest.revision_id if page.revisions else 0
        revision = Revision(number, parent, content, user, comment, tuple(tags), timestamp)
        page.revisions.append(revision)
        if not revision.anonymous:
            self.users.setdefault(user, len(self.users) + 1)
        return revision

    def redirect(self, title: str, target: str, *, user: str) -> None:
        self.save(title, f"#REDIRECT [[{target}]]", user=user, comment=f"moved to [[{target}]]")
        self.redirects[title] = target

    def delete(self, title: str) -> None:
        del self.pages[title]

    def revision(self, revision_id: int) -> tuple[Page, Revision] | None:
        """Return a page and its revision with this number; None without such a revision."""
        for page in self.pages.values():
            for revision in page.revisions:
                if revision.revision_id == revision_id:
                    return page, revision
        return None

    def numbers(self, title: str, places: Iterable[int]) -> tuple[int, ...]:
        """Return the numbers of revisions by their places in the history of their page, from 1."""
        return tuple(self.pages[title].revisions[place - 1].revision_id for place in places)


@dataclass(frozen=True)
class Views:
    """Page views.

    Attributes:
        count: Number of views in each month that has views.
        interval: Number of months from one month with views to the next.
    """

    count: int
    interval: int = 1
