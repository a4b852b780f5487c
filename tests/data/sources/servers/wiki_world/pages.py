"""Pages and their revisions, as a wiki keeps them; what is saved gets its number and hour from the wiki's own clock."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

Part = Literal["user", "comment", "content"]
EVERYTHING: frozenset[Part] = frozenset({"user", "comment", "content"})
_BEGAN = datetime(2025, 1, 1, tzinfo=UTC)
_ADDRESS = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}")


@dataclass
class Revision:
    """One saved state of a page; `hidden` are the parts that an administrator has hidden."""

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
    """A page; item_id: the item that is about it."""

    page_id: int
    namespace: int
    title: str
    revisions: list[Revision] = field(default_factory=list)
    item_id: str | None = None

    @property
    def latest(self) -> Revision:
        return self.revisions[-1]


class Wiki:
    """A wiki's pages by title, and redirects from title to title; `users` numbers whoever has an account.

    first: the number of its first revision.
    """

    def __init__(self, model: str, content_format: str, first: int = 1001) -> None:
        self.model, self.content_format = model, content_format
        self.pages: dict[str, Page] = {}
        self.redirects: dict[str, str] = {}
        self.users: dict[str, int] = {}
        self._first, self._saved = first, 0

    def save(
        self, title: str, content: str, *, user: str, comment: str = "", tags: Iterable[str] = (), namespace: int = 0
    ) -> Revision:
        """A new revision of a page, an hour after the last of the wiki; the page's first one makes the page."""
        page = self.pages.setdefault(title, Page(len(self.pages) + 1, namespace, title))
        number = self._first + self._saved
        self._saved += 1
        timestamp = f"{_BEGAN + timedelta(hours=self._saved):%Y-%m-%dT%H:%M:%SZ}"
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
        """A revision and its page; None where there is none, or no more."""
        for page in self.pages.values():
            for revision in page.revisions:
                if revision.revision_id == revision_id:
                    return page, revision
        return None

    def numbers(self, title: str, places: Iterable[int]) -> tuple[int, ...]:
        return tuple(self.pages[title].revisions[place - 1].revision_id for place in places)


@dataclass(frozen=True)
class Views:
    """How often a page is read: so often in a month, and in only one of so many months."""

    a_month: int
    one_in: int = 1
