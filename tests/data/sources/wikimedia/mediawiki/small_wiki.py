"""A page of a real wiki, Ada Example, played again: its recorded versions, whole and in parts."""

import json
from typing import Any

from tests.data.sources.servers.faults import ANSWERS, Asked, Say, recorded, says

PARTS = [f"wikipedia/revisions_newer_limit3_part{part}.json" for part in (1, 2, 3, 4)]
PAGE = json.loads((ANSWERS / "wikipedia/revisions_all.json").read_text())["query"]["pages"][0]
REVISIONS: dict[int, Any] = {revision["revid"]: revision for revision in reversed(PAGE["revisions"])}
TEXTS = {
    number: revision["slots"]["main"]["content"]
    for number, revision in REVISIONS.items()
    if "content" in revision["slots"]["main"]
}


def in_parts(asked: Asked) -> Say:
    """The recorded parts of the page's history, each to whoever sends back what the one before it said."""
    said = [None, "20261120180852|10", "20261120180856|13", "20261120180859|16"]
    return recorded(PARTS[said.index(asked.form.get("rvcontinue"))])


def contents(asked: Asked, *, most: int = 50) -> Say:
    """What versions say, so many in one part; those that never were are bad ones."""
    wanted = [int(number) for number in asked.form["revids"].split("|")]
    left = [number for number in wanted if number >= int(asked.form.get("rvcontinue", 0))]
    here, later = left[:most], left[most:]
    entries = [
        {"revid": number, "parentid": 0, "slots": REVISIONS[number]["slots"]} for number in here if number in REVISIONS
    ]
    query: dict[str, Any] = {"pages": [{"pageid": 3, "ns": 0, "title": "Ada Example", "revisions": entries}]}
    bad = {str(number): {"revid": number, "missing": True} for number in here if number not in REVISIONS}
    more = {"continue": {"rvcontinue": str(later[0]), "continue": "||"}} if later else {"batchcomplete": True}
    return says({**more, "query": query | ({"badrevids": bad} if bad else {})})


def answers(asked: Asked) -> Say:
    if "revids" in asked.form:
        return contents(asked)
    if asked.form["prop"] == "links":
        return page(links=[{"ns": 0, "title": "Chemist"}])
    if asked.form["prop"] == "revisions":
        return recorded("wikipedia/revisions_all.json")
    return recorded("wikipedia/extracts_info_redirect.json")


def page(**said: Any) -> Say:
    return says({"batchcomplete": True, "query": {"pages": [{"pageid": 3, "ns": 0, "title": "Ada Example", **said}]}})
