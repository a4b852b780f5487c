"""Wikis of one page: Ada Example and an item as real wikis recorded them, and an item that is told edit by edit.

    edit("/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q585]]", {"P36": {"a": "Q585"}})

is an edit with this summary, after which the item states Q585 under P36, in a statement whose id ends in "a".
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.data.sources.servers.faults import ANSWERS, Say, ServedRequest, recorded, says
from tests.data.sources.servers.wiki_world.action_api import Limits, query
from tests.data.sources.servers.wiki_world.pages import Page, Part, Revision, Wiki

ITEM = "Q20"
FIRST = 100
"""The number of the first revision; each one after it is one higher."""
UNKNOWN_VALUE, NO_VALUE = "?", "-"
Stated = Mapping[str, Mapping[str, str]]
Play = Callable[[ServedRequest], Say]


def page_in(name: str) -> dict[str, Any]:
    """The page of a recorded answer."""
    page: dict[str, Any] = json.loads((ANSWERS / name).read_text())["query"]["pages"][0]
    return page


def playing(wiki: Wiki) -> Play:
    return lambda asked: says(query(wiki, asked.form, Limits(revisions=500, contents=50), "https://wiki.example"))


def recorded_wiki(metadata: str, contents: str, comment: Callable[[str], str] = str) -> Wiki:
    """The wiki that gave two answers: the versions of its page, and what they say; comment: what summaries become."""
    texts = {entry["revid"]: entry["slots"]["main"].get("content", "") for entry in page_in(contents)["revisions"]}
    about = page_in(metadata)
    wiki, page = Wiki("wikitext", "text/x-wiki"), Page(about["pageid"], about["ns"], about["title"])
    wiki.pages[page.title] = page
    for entry in sorted(about["revisions"], key=lambda entry: entry["revid"]):
        hides: dict[Part, str] = {"user": "userhidden", "comment": "commenthidden", "content": "sha1hidden"}
        hidden = frozenset(what for what, key in hides.items() if key in entry)
        page.revisions.append(
            Revision(
                entry["revid"],
                entry["parentid"],
                texts[entry["revid"]],
                entry.get("user", ""),
                comment(entry.get("comment", "")),
                tuple(entry["tags"]),
                entry["timestamp"],
                hidden,
            )
        )
    return wiki


PARTS = [f"wikipedia/revisions_newer_limit3_part{part}.json" for part in (1, 2, 3, 4)]
ADA = recorded_wiki("wikipedia/revisions_all.json", "wikipedia/revisions_all.json")
REVISIONS: dict[int, Any] = {entry["revid"]: entry for entry in page_in("wikipedia/revisions_all.json")["revisions"]}
TEXTS = {one.revision_id: one.content for one in ADA.pages["Ada Example"].revisions if not one.hidden}
contents = playing(ADA)


def in_parts(asked: ServedRequest) -> Say:
    """The recorded parts of the page's history, each to whoever sends back what the one before it said."""
    said = [None, "20261120180852|10", "20261120180856|13", "20261120180859|16"]
    return recorded(PARTS[said.index(asked.form.get("rvcontinue"))])


def page(more: Mapping[str, Any] | None = None, **said: Any) -> Say:
    """An answer about Ada Example; more: what continues it."""
    end = {"continue": more} if more else {"batchcomplete": True}
    return says({**end, "query": {"pages": [{"pageid": 3, "ns": 0, "title": "Ada Example", **said}]}})


@dataclass(frozen=True)
class Edit:
    """An edit and what it made of the item: property -> letter of the statement -> value.

    beside: anything of the item that is no value; qualifier, reference, rank: of every statement. hidden: which of
    "user", "comment" and "content" nobody may read. deleted: no history has the revision any more. written: what is
    stored, in place of an item that states this.
    """

    summary: str
    stated: Stated
    beside: str = ""
    qualifier: str = ""
    reference: str = ""
    rank: str = "normal"
    hidden: tuple[Any, ...] = ()
    tags: tuple[str, ...] = ()
    deleted: bool = False
    written: str | None = None

    @property
    def content(self) -> str:
        if self.written is not None:
            return self.written
        claims = {name: [self._statement(name, *one) for one in stated.items()] for name, stated in self.stated.items()}
        labels = {"en": {"language": "en", "value": self.beside}} if self.beside else []
        item = {"type": "item", "id": ITEM, "labels": labels, "claims": claims or [], "sitelinks": []}
        return json.dumps(item, ensure_ascii=False)

    def _statement(self, name: str, letter: str, value: str) -> dict[str, Any]:
        said = {"mainsnak": snak(name, value), "type": "statement", "id": f"{ITEM}${letter}", "rank": self.rank}
        if self.qualifier:
            said["qualifiers"] = {"P585": [snak("P585", self.qualifier)]}
        if self.reference:
            said["references"] = [{"hash": "0", "snaks": {"P143": [snak("P143", self.reference)]}}]
        return said


def edit(summary: str, stated: Stated | None = None, **other: Any) -> Edit:
    return Edit(summary, stated or {}, **other)


OSLO: Stated = {"P36": {"a": "Q585"}}
BERGEN: Stated = {"P36": {"a": "Q26793"}}
BOTH: Stated = {"P36": {"a": "Q585", "b": "Q26793"}}
BEGUN = edit("/* wbeditentity-create-item:0| */")
MADE = edit("/* wbcreateclaim-create:1| */ [[Property:P36]]: [[Q585]]", OSLO)
SET = edit("/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q26793]]", BERGEN)
"""An item that is made, then a capital, then the same statement with another one."""


def snak(name: str, value: str) -> dict[str, Any]:
    """A snak: of an item (Q585), of an unknown value, of none, or of a text."""
    if value in (UNKNOWN_VALUE, NO_VALUE):
        return {"snaktype": "somevalue" if value == UNKNOWN_VALUE else "novalue", "property": name, "hash": "0"}
    said: dict[str, Any] = {"value": value, "type": "string"}
    if value.startswith("Q"):
        item = {"entity-type": "item", "numeric-id": int(value[1:]), "id": value}
        said = {"value": item, "type": "wikibase-entityid"}
    return {"snaktype": "value", "property": name, "hash": "0", "datavalue": said}


def holding(edits: Sequence[Edit]) -> Play:
    """Plays a wiki with the item after these edits."""
    wiki = Wiki("wikibase-item", "application/json", FIRST)
    for one in edits:
        wiki.save(ITEM, one.content, user="Example", comment=one.summary, tags=one.tags).hidden = frozenset(one.hidden)
    revisions = wiki.pages[ITEM].revisions
    revisions[:] = [revision for revision, one in zip(revisions, edits, strict=True) if not one.deleted]
    return playing(wiki)


def requested_contents(asked: Sequence[ServedRequest]) -> list[int]:
    return [int(one) for request in asked for one in request.form.get("revids", "").split("|") if one]
