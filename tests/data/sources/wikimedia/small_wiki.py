"""Wikis with one page: the page "Ada Example" and an item from recorded responses, and items from a list of edits.

    Edit("/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q585]]", {"P36": {"a": "Q585"}})

The first argument is the summary of the edit, the second has the statements after it: here, the value Q585 of P36 in
the statement whose id ends in "a".
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.data.sources.servers.faults import ANSWERS, ServedRequest, ServedResponse, json_response, recorded_response
from tests.data.sources.servers.wiki_world.action_api import query
from tests.data.sources.servers.wiki_world.items import item_content
from tests.data.sources.servers.wiki_world.pages import Page, Part, Revision, Wiki

ITEM = "Q20"
FIRST = 100
"""The number of the first revision; the next revision is 101."""
Values = Mapping[str, Mapping[str, str]]
Play = Callable[[ServedRequest], ServedResponse]


def page_in(name: str) -> dict[str, Any]:
    """Return the page in a recorded response."""
    page: dict[str, Any] = json.loads((ANSWERS / name).read_text())["query"]["pages"][0]
    return page


def playing(wiki: Wiki) -> Play:
    return lambda request: json_response(query(wiki, request.form, limit=500))


def recorded_wiki(metadata: str, contents: str, comment: Callable[[str], str] = str) -> Wiki:
    """Return the wiki with the page of two recorded responses; `comment` changes the summaries."""
    texts = {entry["revid"]: entry["slots"]["main"].get("content", "") for entry in page_in(contents)["revisions"]}
    recorded = page_in(metadata)
    wiki, page = Wiki(), Page(recorded["pageid"], recorded["title"])
    wiki.pages[page.title] = page
    hides: Mapping[Part, str] = {"user": "userhidden", "comment": "commenthidden", "content": "sha1hidden"}
    for entry in sorted(recorded["revisions"], key=lambda entry: entry["revid"]):
        page.revisions.append(
            Revision(
                entry["revid"],
                entry["parentid"],
                texts[entry["revid"]],
                entry.get("user", ""),
                comment(entry.get("comment", "")),
                tuple(entry["tags"]),
                entry["timestamp"],
                tuple(part for part, key in hides.items() if key in entry),
            )
        )
    return wiki


PARTS = [f"wikipedia/revisions_newer_limit3_part{part}.json" for part in (1, 2, 3, 4)]
ADA = recorded_wiki("wikipedia/revisions_all.json", "wikipedia/revisions_all.json")
REVISIONS: dict[int, Any] = {entry["revid"]: entry for entry in page_in("wikipedia/revisions_all.json")["revisions"]}
TEXTS = {
    revision.revision_id: revision.content for revision in ADA.pages["Ada Example"].revisions if not revision.hidden
}
play_ada = playing(ADA)


def play_parts(request: ServedRequest) -> ServedResponse:
    """Return the recorded part of the page's history that a request continues with."""
    continuations = [None, "20261120180852|10", "20261120180856|13", "20261120180859|16"]
    return recorded_response(PARTS[continuations.index(request.form.get("rvcontinue"))])


def page_response(continuation: Mapping[str, Any] | None = None, **fields: Any) -> ServedResponse:
    """Return a response with fields of the page "Ada Example"."""
    end = {"continue": continuation} if continuation else {"batchcomplete": True}
    return json_response({**end, "query": {"pages": [{"pageid": 3, "ns": 0, "title": "Ada Example", **fields}]}})


@dataclass(frozen=True)
class Edit:
    """An edit of the item.

    Attributes:
        summary: The summary.
        values: The values after the edit, by property and by the last letter of the statement's id.
        label: The English label after the edit.
        qualifier: The qualifier of every statement.
        reference: The reference of every statement.
        hidden: The hidden parts of the revision: "user", "comment" or "content".
        tags: The tags of the revision.
        deleted: True if the history lacks the revision.
        raw_content: The stored content, in place of an item with these values.
    """

    summary: str
    values: Values = field(default_factory=dict)
    label: str = ""
    qualifier: str = ""
    reference: str = ""
    hidden: tuple[Any, ...] = ()
    tags: tuple[str, ...] = ()
    deleted: bool = False
    raw_content: str | None = None

    @property
    def content(self) -> str:
        if self.raw_content is not None:
            return self.raw_content
        parts = {"label": self.label, "qualifier": self.qualifier, "reference": self.reference}
        return item_content(ITEM, values=self.values, **parts)


OSLO: Values = {"P36": {"a": "Q585"}}
BERGEN: Values = {"P36": {"a": "Q26793"}}
BOTH: Values = {"P36": {"a": "Q585", "b": "Q26793"}}
CREATE = Edit("/* wbeditentity-create-item:0| */")
ADD = Edit("/* wbcreateclaim-create:1| */ [[Property:P36]]: [[Q585]]", OSLO)
SET = Edit("/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q26793]]", BERGEN)
"""Edits that create the item, add the capital Oslo, and set the capital to Bergen."""


def play_edits(edits: Sequence[Edit]) -> Play:
    """Play a wiki with the item after these edits."""
    wiki = Wiki(FIRST)
    for each in edits:
        wiki.save(ITEM, each.content, comment=each.summary, tags=each.tags, hidden=each.hidden)
    revisions = wiki.pages[ITEM].revisions
    revisions[:] = [revision for revision, each in zip(revisions, edits, strict=True) if not each.deleted]
    return playing(wiki)
