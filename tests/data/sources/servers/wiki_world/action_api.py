"""The requests of the project to the Action API, answered as MediaWiki 1.39 does."""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from tests.data.sources.servers.wiki_world.pages import Page, Revision, Wiki

Form = Mapping[str, str]
_SITE = "https://wiki.example.org/wiki/"
"""The beginning of addresses of pages; unlike the server's address, it is the same in every process."""
_RELATIVE = re.compile(r"(^|/)\.\.?(/|$)")


def entities(wiki: Wiki, form: Form) -> dict[str, Any]:
    """Return the response to action=wbgetentities: the stored entities, with empty maps in place of empty lists."""
    return {"entities": {entity_id: _entity(wiki, entity_id) for entity_id in form["ids"].split("|")}, "success": 1}


def _entity(wiki: Wiki, entity_id: str) -> dict[str, Any]:
    target = wiki.redirects.get(entity_id, entity_id)
    page = wiki.pages.get(f"Property:{target}" if target.startswith("P") else target)
    if page is None:
        return {"id": entity_id, "missing": ""}
    stored = {key: value or {} for key, value in json.loads(page.latest.content).items()}
    return {"pageid": page.page_id, "title": page.title, "lastrevid": page.latest.revision_id, **stored}


def query(wiki: Wiki, form: Form, limit: int) -> dict[str, Any]:
    """Return the response to action=query; more revisions or links than the limit are in continuations."""
    if "revids" in form:
        return _contents(wiki, form, limit)
    title = form["titles"]
    if _RELATIVE.search(title):
        page = {"title": title, "invalidreason": "The title is invalid.", "invalid": True}
        return {"batchcomplete": True, "query": {"pages": [page]}}
    target = wiki.redirects.get(title, title) if "redirects" in form else title
    redirects = {"redirects": [{"from": title, "to": target}]} if target != title else {}
    if target not in wiki.pages:
        page = {"ns": 0, "title": target, "missing": True}
        return {"batchcomplete": True, "query": {**redirects, "pages": [page]}}
    entry = _page(wiki.pages[target])
    fields = {"revisions": _history, "links": _links}.get(form["prop"], _text)
    continuation = fields(wiki.pages[target], form, limit, entry)
    return _response({**redirects, "pages": [entry]}, continuation)


def _response(content: dict[str, Any], continuation: dict[str, str]) -> dict[str, Any]:
    end = {"continue": {**continuation, "continue": "||"}} if continuation else {"batchcomplete": True}
    return {**end, "query": content}


def _page(page: Page) -> dict[str, Any]:
    return {"pageid": page.page_id, "ns": 0, "title": page.title}


def _contents(wiki: Wiki, form: Form, limit: int) -> dict[str, Any]:
    numbers = set(map(int, form["revids"].split("|")))
    revisions = {
        revision.revision_id: (page, revision)
        for page in wiki.pages.values()
        for revision in page.revisions
        if revision.revision_id in numbers
    }
    first = int(form.get("rvcontinue", "0"))
    remaining = sorted(number for number in revisions if number >= first)
    pages: dict[str, dict[str, Any]] = {}
    for number in remaining[:limit]:
        page, revision = revisions[number]
        entry = pages.setdefault(page.title, {**_page(page), "revisions": []})
        entry["revisions"].append(_with_content(revision))
    bad = {str(number): {"revid": number, "missing": True} for number in sorted(numbers - revisions.keys())}
    content = {"pages": list(pages.values()), **({"badrevids": bad} if bad else {})}
    return _response(content, {"rvcontinue": str(remaining[limit])} if len(remaining) > limit else {})


def _with_content(revision: Revision) -> dict[str, Any]:
    slot = {"texthidden": True} if "content" in revision.hidden else {"content": revision.content}
    return {"revid": revision.revision_id, "parentid": revision.parent_id, "slots": {"main": slot}}


def _history(page: Page, form: Form, limit: int, entry: dict[str, Any]) -> dict[str, str]:
    """Add the revisions to a page's entry, oldest first, and return the continuation."""
    first = int(form.get("rvcontinue", "|0").split("|")[1])
    remaining = [revision for revision in page.revisions if revision.revision_id >= first]
    entry["revisions"] = [revision.metadata() for revision in remaining[:limit]]
    if len(remaining) <= limit:
        return {}
    following = remaining[limit]
    return {"rvcontinue": f"{re.sub('[^0-9]', '', following.timestamp)}|{following.revision_id}"}


def _links(page: Page, form: Form, limit: int, entry: dict[str, Any]) -> dict[str, str]:
    titles = list(page.links)
    begin = titles.index(form["plcontinue"]) if "plcontinue" in form else 0
    end = begin + limit
    entry["links"] = [{"ns": 0, "title": title} for title in titles[begin:end]]
    return {"plcontinue": titles[end]} if end < len(titles) else {}


def _text(page: Page, form: Form, limit: int, entry: dict[str, Any]) -> dict[str, str]:
    """Add the text, the address and the item to a page's entry; the continuation is empty."""
    address = _SITE + quote(page.title.replace(" ", "_"), safe="/:,")
    entry |= {"extract": page.latest.content, "fullurl": address, "canonicalurl": address}
    entry |= {"pageprops": {"wikibase_item": page.item_id}} if page.item_id else {}
    entry["revisions"] = [{"revid": page.latest.revision_id, "parentid": page.latest.parent_id}]
    return {}
