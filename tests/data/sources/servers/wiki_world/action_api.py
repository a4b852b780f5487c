"""Responses to Swaymeter's requests to the Action API, as MediaWiki 1.39 gives them."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from tests.data.sources.servers.wiki_world.pages import Page, Wiki

Form = Mapping[str, str]
Content = dict[str, Any]
_SITE = "https://wiki.example.org/wiki/"
"""The beginning of addresses of pages; unlike the server's address, it is the same in every process."""
_RELATIVE = re.compile(r"(^|/)\.\.?(/|$)")
"""A part "." or ".." of a title, which MediaWiki refuses."""


def entities(wiki: Wiki, form: Form) -> Content:
    """Return the response to action=wbgetentities: the stored entities, with empty maps in place of empty lists."""
    return {"entities": {entity_id: _entity(wiki, entity_id) for entity_id in form["ids"].split("|")}, "success": 1}


def _entity(wiki: Wiki, entity_id: str) -> Content:
    target = wiki.redirects.get(entity_id, entity_id)
    page = wiki.pages.get(f"Property:{target}" if target.startswith("P") else target)
    if page is None:
        return {"id": entity_id, "missing": ""}
    stored = {key: value or {} for key, value in json.loads(page.content).items()}
    return {"pageid": page.page_id, "title": page.title, "lastrevid": page.latest["revid"], **stored}


def query(wiki: Wiki, form: Form, limit: int) -> Content:
    """Return the response to action=query; revisions or links beyond the limit follow in continuations."""
    content, continuation = _revisions(wiki, form, limit) if "revids" in form else _titled_page(wiki, form, limit)
    end = {"continue": {**continuation, "continue": "||"}} if continuation else {"batchcomplete": True}
    return {**end, "query": content}


def _revisions(wiki: Wiki, form: Form, limit: int) -> tuple[Content, Content]:
    numbers = set(map(int, form["revids"].split("|")))
    revisions = {
        revision["revid"]: (page, revision)
        for page in wiki.pages.values()
        for revision in page.revisions
        if revision["revid"] in numbers
    }
    limited, continuation = _limited(list(map(str, sorted(revisions))), "rvcontinue", form, limit)
    pages: dict[str, Content] = {}
    for page, revision in (revisions[int(number)] for number in limited):
        entry = pages.setdefault(page.title, {**_identity(page), "revisions": []})
        slots = {"main": {"texthidden": True}} if "sha1hidden" in revision else revision["slots"]
        entry["revisions"].append({"revid": revision["revid"], "parentid": revision["parentid"], "slots": slots})
    bad = {str(number): {"revid": number, "missing": True} for number in sorted(numbers - revisions.keys())}
    return {"pages": list(pages.values()), **({"badrevids": bad} if bad else {})}, continuation


def _titled_page(wiki: Wiki, form: Form, limit: int) -> tuple[Content, Content]:
    title = form["titles"]
    target = wiki.redirects.get(title, title) if "redirects" in form else title
    redirects = {"redirects": [{"from": title, "to": target}]} if target != title else {}
    page = wiki.pages.get(target)
    continuation: Content = {}
    if _RELATIVE.search(title):
        entry: Content = {"title": title, "invalidreason": "The title is invalid.", "invalid": True}
    elif page is None:
        entry = {"ns": 0, "title": target, "missing": True}
    elif form["prop"] == "revisions":
        history = {_history_key(revision): revision for revision in page.revisions}
        limited, continuation = _limited(list(history), "rvcontinue", form, limit)
        metadata = [{name: value for name, value in history[key].items() if name != "slots"} for key in limited]
        entry = {**_identity(page), "revisions": metadata}
    elif form["prop"] == "links":
        limited, continuation = _limited(list(page.links), "plcontinue", form, limit)
        entry = {**_identity(page), "links": [{"ns": 0, "title": linked} for linked in limited]}
    else:
        address = _SITE + quote(page.title.replace(" ", "_"), safe="/:,")
        entry = {**_identity(page), "extract": page.content, "fullurl": address, "canonicalurl": address}
        entry |= {"pageprops": {"wikibase_item": page.item_id}} if page.item_id else {}
        entry["revisions"] = [{key: page.latest[key] for key in ("revid", "parentid")}]
    return {**redirects, "pages": [entry]}, continuation


def _limited(keys: Sequence[str], parameter: str, form: Form, limit: int) -> tuple[Sequence[str], Content]:
    """Return the keys that this response has, and the continuation that leads to later keys."""
    first = keys.index(form[parameter]) if parameter in form else 0
    following = keys[first + limit :]
    return keys[first : first + limit], {parameter: following[0]} if following else {}


def _identity(page: Page) -> Content:
    return {"pageid": page.page_id, "ns": 0, "title": page.title}


def _history_key(revision: Content) -> str:
    return f"{re.sub('[^0-9]', '', revision['timestamp'])}|{revision['revid']}"
