"""Wikis of pages and revisions; the wiki gives each revision a number and a time."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

_START = datetime(2025, 1, 1, tzinfo=UTC)
Revision = dict[str, Any]
"""A revision in the form of the Action API, but with the content even if it is hidden."""


def hide(revision: Revision, parts: Iterable[str]) -> None:
    """Hide parts ("user", "comment" or "content") of a revision, as an administrator does."""
    fields = {"user": ("user", "userid", "anon"), "comment": ("comment",), "content": ("sha1",)}
    for part in parts:
        for name in fields[part]:
            revision.pop(name, None)
        revision[f"{fields[part][0]}hidden"] = True


@dataclass
class Page:
    """A page; `item_id` is the item about its subject, and `links` are the titles of linked articles."""

    page_id: int
    title: str
    revisions: list[Revision] = field(default_factory=list)
    item_id: str | None = None
    links: Iterable[str] = ()

    @property
    def latest(self) -> Revision:
        return self.revisions[-1]

    @property
    def content(self) -> str:
        return str(self.latest["slots"]["main"]["content"])


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
        hidden: Iterable[str] = (),
    ) -> None:
        """Save a revision, an hour after the wiki's last revision; the first revision of a title makes the page."""
        page = self.pages.setdefault(title, Page(len(self.pages) + 1, title))
        revision_id, stored = next(self._revision_ids), content.encode()
        is_anonymous = user[0].isdigit()
        revision = {
            "revid": revision_id,
            "parentid": page.latest["revid"] if page.revisions else 0,
            "user": user,
            **({"userid": 0, "anon": True} if is_anonymous else {"userid": 1}),
            "timestamp": f"{_START + timedelta(hours=revision_id):%Y-%m-%dT%H:%M:%SZ}",
            "size": len(stored),
            "sha1": hashlib.sha1(stored, usedforsecurity=False).hexdigest(),
            "comment": comment,
            "tags": list(tags),
            "slots": {"main": {"content": content}},
        }
        hide(revision, hidden)
        page.revisions.append(revision)

    def numbers(self, title: str, positions: Iterable[int]) -> tuple[int, ...]:
        """Return the numbers of revisions by their positions in the history of their page, from 1."""
        return tuple(self.pages[title].revisions[position - 1]["revid"] for position in positions)
