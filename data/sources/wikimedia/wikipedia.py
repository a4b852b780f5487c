"""Pages of Wikipedia: their plain text, and their links. Texts are under CC BY-SA 4.0."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from swaymeter.data.errors import InputError
from swaymeter.data.records import WikidataId
from swaymeter.data.sources.wikimedia.mediawiki import History, Wiki, integer, is_title, page_of, text

SOURCE = "Wikipedia"
LICENCE = "CC BY-SA 4.0"
_ITEM_ID = re.compile(r"Q[1-9][0-9]*")
_WEB = re.compile(r"https?://[!-~]+")


@dataclass(frozen=True, slots=True)
class Page:
    """The current state of a page.

    Attributes:
        title: The title of the page; after a redirect, of its target.
        revision: The id of the newest revision.
        text: Paragraphs on separate lines, without markup but with headings such as "== Life =="; "" without a text.
        address: The address for readers.
        item_id: The page's item of Wikidata; None without an item.
        retrieved_at: The time of the response, UTC.
    """

    title: str
    revision: int
    text: str
    address: str
    item_id: WikidataId | None
    retrieved_at: datetime


class Wikipedia:
    """A Wikipedia; with `reuse_pages`, a cached page with a text never expires."""

    def __init__(self, wiki: Wiki, *, reuse_pages: bool = False) -> None:
        self.wiki, self._reuse_pages = wiki, reuse_pages

    def page(self, title: str) -> Page | None:
        """Return the page of this name, or the target of a redirect; None for a missing page or an invalid title."""
        if not is_title(title):
            return None
        form = {
            "prop": "extracts|info|pageprops|revisions",
            "titles": title,
            "redirects": "1",
            "explaintext": "1",
            "inprop": "url",
            "ppprop": "wikibase_item",
            "rvprop": "ids",
        }
        fields: dict[str, Any] = {}

        def is_whole_page(content: Any) -> bool:
            """Return True for a page with a text in one response. Parts of a page may be cached on different days."""
            is_single = not fields and "continue" not in content
            return is_single and bool((page_of(content) or {}).get("extract"))

        caching = {"immutable": self._reuse_pages and is_whole_page}
        for response in self.wiki.query(form, check=partial(_check_page, earlier_fields=fields), **caching):
            fields.update(page_of(response.content) or {})
            retrieved_at = response.retrieved_at
        return _page(fields, self.wiki.session.service.address, retrieved_at) if fields else None

    def history(self, title: str) -> History | None:
        """Return all revisions of the page of this name, or of the target of a redirect; None for a missing page."""
        return self.wiki.revisions(title, redirects=True)

    def linked(self, title: str) -> tuple[str, ...]:
        """Return the articles that a page links to, also redirects and missing articles.

        Args:
            title: The title of the page with the links.

        Raises:
            InputError: The page is missing, or its title is invalid.
        """
        form = {"prop": "links", "titles": title, "redirects": "1", "plnamespace": "0", "pllimit": "max"}
        responses = (
            self.wiki.query(form, check=lambda content: _links(page_of(content) or {})) if is_title(title) else ()
        )
        parts = [page_of(response.content) for response in responses]
        if not any(parts):
            raise InputError(
                f"{self.wiki.session.service.name} has no page named {title[:200]!r}; set `list_page` to "
                "the title of a page with links"
            )
        return tuple(dict.fromkeys(link for part in parts for link in _links(part or {})))


def _page(fields: Mapping[str, Any], address: str, retrieved_at: datetime) -> Page:
    item = fields.get("pageprops", {}).get("wikibase_item", "")
    addresses = (text(fields.get(name, "")) for name in ("canonicalurl", "fullurl"))
    return Page(
        title=text(fields["title"]),
        revision=integer(fields["revisions"][0]["revid"]),
        text=text(fields.get("extract", "")),
        address=next((candidate for candidate in addresses if _WEB.fullmatch(candidate)), address),
        item_id=WikidataId(item) if _ITEM_ID.fullmatch(text(item)) else None,
        retrieved_at=retrieved_at,
    )


def _check_page(content: Any, earlier_fields: Mapping[str, Any]) -> None:
    """Check that a part of a page and the earlier parts can be read; the revision may be in a later part."""
    part = page_of(content)
    if part is not None:
        placeholder = {"revisions": [{"revid": 0}]} if "continue" in content else {}
        _page({**placeholder, **earlier_fields, **part}, address="", retrieved_at=datetime.min)


def _links(page: Mapping[str, Any]) -> list[str]:
    return [text(link["title"]) for link in page.get("links", []) if integer(link["ns"]) == 0]
