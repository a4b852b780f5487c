"""The page "Ada Example", and wikis with one page, from recorded responses."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.data.sources.servers.faults import ANSWERS, ServedRequest, ServedResponse, json_response, recorded_response
from tests.data.sources.servers.wiki_world.action_api import query
from tests.data.sources.servers.wiki_world.pages import Page, Wiki

Play = Callable[[ServedRequest], ServedResponse]


def page_in(name: str) -> dict[str, Any]:
    """Return the page in a recorded response."""
    page: dict[str, Any] = json.loads((ANSWERS / name).read_text())["query"]["pages"][0]
    return page


def playing(wiki: Wiki) -> Play:
    return lambda request: json_response(query(wiki, request.form, limit=500))


def recorded_wiki(metadata: str, contents: str) -> Wiki:
    """Return the wiki with the page of two recorded responses."""
    recorded, wiki = page_in(metadata), Wiki()
    slots = {entry["revid"]: {"slots": entry["slots"]} for entry in page_in(contents)["revisions"]}
    revisions = [entry | slots[entry["revid"]] for entry in recorded["revisions"]]
    revisions.sort(key=lambda entry: entry["revid"])
    wiki.pages[recorded["title"]] = Page(recorded["pageid"], recorded["title"], revisions)
    return wiki


_ADA = recorded_wiki("wikipedia/revisions_all.json", "wikipedia/revisions_all.json")
REVISIONS = {revision["revid"]: revision for revision in _ADA.pages["Ada Example"].revisions}
TEXTS = {
    number: revision["slots"]["main"]["content"]
    for number, revision in REVISIONS.items()
    if "texthidden" not in revision["slots"]["main"]
}
play_ada = playing(_ADA)


def play_parts(request: ServedRequest) -> ServedResponse:
    """Return the recorded part of the page's history at which a request continues."""
    continuations = [None, "20261120180852|10", "20261120180856|13", "20261120180859|16"]
    part = continuations.index(request.form.get("rvcontinue")) + 1
    return recorded_response(f"wikipedia/revisions_newer_limit3_part{part}.json")


def page_response(continuation: Mapping[str, Any] | None = None, **fields: Any) -> ServedResponse:
    """Return a response with fields of the page "Ada Example"."""
    end = {"continue": continuation} if continuation else {"batchcomplete": True}
    return json_response({**end, "query": {"pages": [{"pageid": 3, "ns": 0, "title": "Ada Example", **fields}]}})
