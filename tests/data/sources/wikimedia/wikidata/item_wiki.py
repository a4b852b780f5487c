"""A wiki that holds one item, told edit by edit, on a real HTTP server; and a way to tell the edits in one line each.

    edit("/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q585]]", {"P36": {"a": "Q585"}})

is an edit with this summary, after which the item states Q585 under P36, in a statement whose id ends in "a".
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.data.sources.servers.faults import Asked, Say, says

ITEM = "Q20"
FIRST = 100
"""The number of the first revision; each one after it is one higher."""
UNKNOWN_VALUE, NO_VALUE = "?", "-"
Stated = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Edit:
    """An edit and what it made of the item: property -> letter of the statement -> value.

    beside: anything of the item that is no value; qualifier, reference, rank: of every statement. hidden: which of
    "user", "comment" and "content" nobody may read. deleted: the revision is in no history any more. written: what is
    stored, in place of an item that states this.
    """

    summary: str
    stated: Stated
    beside: str = ""
    qualifier: str = ""
    reference: str = ""
    rank: str = "normal"
    hidden: tuple[str, ...] = ()
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
        said = {
            "value": {"entity-type": "item", "numeric-id": int(value[1:]), "id": value},
            "type": "wikibase-entityid",
        }
    return {"snaktype": "value", "property": name, "hash": "0", "datavalue": said}


def holding(edits: Sequence[Edit]) -> Callable[[Asked], Say]:
    listed = {FIRST + place: one for place, one in enumerate(edits)}
    metadata = [_metadata(number, one) for number, one in listed.items() if not one.deleted]
    contents = {number: one.content for number, one in listed.items() if not (one.deleted or "content" in one.hidden)}
    return playing(ITEM, metadata, contents)


def playing(title: str, metadata: Sequence[Mapping[str, Any]], contents: Mapping[int, str]) -> Callable[[Asked], Say]:
    """Plays a wiki with one page: its history, and the contents of revisions; the others are hidden or unknown."""
    page = {"pageid": 9, "ns": 0, "title": title}

    def play(asked: Asked) -> Say:
        form = asked.form
        if "titles" in form:
            if form["titles"] != title:
                pages = [{"ns": 0, "title": form["titles"], "missing": True}]
                return says({"batchcomplete": True, "query": {"pages": pages}})
            return says({"batchcomplete": True, "query": {"pages": [page | {"revisions": list(metadata)}]}})
        wanted = [int(one) for one in form["revids"].split("|")]
        known = {entry["revid"] for entry in metadata}
        query: dict[str, Any] = {"pages": [page | {"revisions": [_content(one, contents) for one in wanted]}]}
        if unknown := [one for one in wanted if one not in known]:
            query["badrevids"] = {str(one): {"revid": one, "missing": True} for one in unknown}
        return says({"batchcomplete": True, "query": query})

    return play


def contents_asked(asked: Sequence[Asked]) -> list[int]:
    return [int(one) for request in asked for one in request.form.get("revids", "").split("|") if one]


def _metadata(number: int, one: Edit) -> dict[str, Any]:
    said: dict[str, Any] = {
        "revid": number,
        "parentid": number - 1 if number > FIRST else 0,
        "timestamp": f"2020-01-01T00:00:{number % 60:02}Z",
        "size": len(one.content.encode()),
        "tags": list(one.tags),
    }
    said |= {"userhidden": True} if "user" in one.hidden else {"user": "Example", "userid": 7}
    said |= {"commenthidden": True} if "comment" in one.hidden else {"comment": one.summary}
    if "content" in one.hidden:
        return said | {"sha1hidden": True}
    return said | {"sha1": hashlib.sha1(one.content.encode()).hexdigest()}


def _content(number: int, contents: Mapping[int, str]) -> dict[str, Any]:
    main: dict[str, Any] = {"contentmodel": "wikibase-item", "contentformat": "application/json"}
    main |= {"content": contents[number]} if number in contents else {"texthidden": True}
    return {"revid": number, "parentid": number - 1, "slots": {"main": main}}
