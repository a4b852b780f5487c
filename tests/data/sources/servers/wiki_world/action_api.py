"""The queries of the project to the Action API, answered as MediaWiki 1.39 does, and the plain text of wikitext."""

import html
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests.data.sources.servers.wiki_world.pages import Page, Revision, Wiki

_LEFT_OUT = (r"<!--.*?-->", r"<ref[^>/]*/>", r"<ref.*?</ref>", r"\{\|.*?\n\|\}", r"\[\[Category:[^\]]*\]\]")
_TAG = re.compile(r"</?(?:b|i|small|sub|sup|span|div|u)\b[^>]*>")
_TEMPLATE = re.compile(r"\{\{[^{}]*\}\}")
_LINK = re.compile(r"\[\[([^|\]]*)\|?([^\]]*)\]\]")
_HEADING = re.compile(r"\n*^(=+) *(.*?) *\1$\n*", re.MULTILINE)
_ENTRY = re.compile(r"^[*#:;]+ *", re.MULTILINE)
NAMESPACES = {"Talk": 1, "User": 2, "User talk": 3, "Wikipedia": 4, "Wikipedia talk": 5, "Template": 10, "Category": 14}


def plain(wikitext: str) -> str:
    """Return the running text: each paragraph on a line, and headings between equals signs after two empty lines."""
    text = wikitext
    for pattern in _LEFT_OUT:
        text = re.sub(pattern, "", text, flags=re.DOTALL)
    while _TEMPLATE.search(text):
        text = _TEMPLATE.sub("", text)
    text = _LINK.sub(lambda link: link[2] or link[1].removeprefix(":"), text).replace("'''", "").replace("''", "")
    text = re.sub(r"\n{2,}(?!=)", "\n", text.strip())
    text = re.sub(r"^([^*#:;\n].*)\n(?=[*#:;])", r"\1\n\n", text, flags=re.MULTILINE)
    text = _HEADING.sub(lambda heading: f"\n\n\n{heading[1]} {heading[2]} {heading[1]}\n", _ENTRY.sub("", text))
    return html.unescape(_TAG.sub("", text)).strip()


def escaped(text: str) -> str:
    """Return the wikitext of a line of text, with its markup characters escaped."""
    return re.sub(r"[&<>\[\]{}|'*#:;=~_-]", lambda sign: f"&#{ord(sign[0])};", text)


def links(wikitext: str) -> Iterator[tuple[int, str]]:
    """Yield the namespace and title of each linked page once, in the order of a wiki's list."""
    titles = {link[1].removeprefix(":").split("#")[0].replace("_", " ").strip() for link in _LINK.finditer(wikitext)}
    yield from sorted((namespace_of(title), title[:1].upper() + title[1:]) for title in titles if title)


def namespace_of(title: str) -> int:
    """Return the number of the namespace in the prefix of a title; 0, of articles, without a known prefix."""
    return NAMESPACES.get(title.split(":", 1)[0], 0) if ":" in title else 0


Form = Mapping[str, str]
_UNREADABLE = re.compile(r"[<>\[\]{}|\x00-\x1f\x7f\ufffd]|%[0-9A-Fa-f]{2}|~~~|(^|/)\.\.?(/|$)")


@dataclass(frozen=True)
class Limits:
    """Limits of the entries of a response; the client gets further entries by a continuation."""

    revisions: int = 4
    contents: int = 3
    links: int = 3


def query(wiki: Wiki, form: Form, limits: Limits, site: str) -> dict[str, Any]:
    content, continuation = (_by_revision if "revids" in form else _by_title)(wiki, form, limits, site)
    end = {"continue": {**continuation, "continue": "||"}} if continuation else {"batchcomplete": True}
    return {**end, "query": content}


def entities(wiki: Wiki, form: Form) -> dict[str, Any]:
    """Return the response to action=wbgetentities: the stored entities, with empty maps in place of empty lists."""
    return {"entities": {entity_id: _entity(wiki, entity_id) for entity_id in form["ids"].split("|")}, "success": 1}


def _entity(wiki: Wiki, entity_id: str) -> dict[str, Any]:
    target = wiki.redirects.get(entity_id, entity_id)
    page = wiki.pages.get(f"Property:{target}" if target.startswith("P") else target)
    if page is None:
        return {"id": entity_id, "missing": ""}
    stored = {key: value if value != [] else {} for key, value in json.loads(page.latest.content).items()}
    return {"pageid": page.page_id, "title": page.title, "lastrevid": page.latest.revision_id, **stored}


def _by_revision(wiki: Wiki, form: Form, limits: Limits, site: str) -> tuple[dict[str, Any], dict[str, str]]:
    numbers = sorted({int(number) for number in form["revids"].split("|")})
    bad = {str(number): {"revid": number, "missing": True} for number in numbers if wiki.revision(number) is None}
    first = int(form.get("rvcontinue", "0"))
    existing = [pair for number in numbers if number >= first and (pair := wiki.revision(number)) is not None]
    pages: dict[str, dict[str, Any]] = {}
    for page, revision in existing[: limits.contents]:
        entry = pages.setdefault(page.title, _page_entry(page) | {"revisions": []})
        entry["revisions"].append(_revision_entry(wiki, revision, form))
    rest = existing[limits.contents :]
    answer = {"pages": list(pages.values()), **({"badrevids": bad} if bad else {})}
    return answer, {"rvcontinue": str(rest[0][1].revision_id)} if rest else {}


def _by_title(wiki: Wiki, form: Form, limits: Limits, site: str) -> tuple[dict[str, Any], dict[str, str]]:
    title, answer = _title_of(form["titles"]), {}
    if not title or len(title.encode()) > 255 or _UNREADABLE.search(title):
        return {"pages": [{"title": form["titles"], "invalidreason": "The title is invalid.", "invalid": True}]}, {}
    if "redirects" in form and title in wiki.redirects:
        answer["redirects"] = [{"from": title, "to": wiki.redirects[title]}]
        title = wiki.redirects[title]
    if title not in wiki.pages:
        return {**answer, "pages": [{"ns": namespace_of(title), "title": title, "missing": True}]}, {}
    page, continuation = wiki.pages[title], {}
    entry = _page_entry(page)
    for prop in form["prop"].split("|"):
        continuation |= _PROPS[prop](wiki, form, limits, page, entry, site)
    return {**answer, "pages": [entry]}, continuation


def _title_of(text: str) -> str:
    """Return the normalised title: composed characters, no underscores, no anchor, a capital first letter."""
    title = re.sub(r"[ _]+", " ", html.unescape(unicodedata.normalize("NFC", text))).strip()
    title = title.removeprefix(":").split("#")[0].strip()
    return title[:1].upper() + title[1:]


def _page_entry(page: Page) -> dict[str, Any]:
    return {"pageid": page.page_id, "ns": page.namespace, "title": page.title}


def _revisions(wiki: Wiki, form: Form, limits: Limits, page: Page, entry: dict[str, Any], site: str) -> dict[str, str]:
    if "rvlimit" not in form:
        entry["revisions"] = [_revision_entry(wiki, page.latest, form)]
        return {}
    first = int(form.get("rvcontinue", "|0").split("|")[1])
    newer = [revision for revision in page.revisions if revision.revision_id >= first]
    remaining = sorted(newer, key=lambda revision: revision.revision_id)
    entry["revisions"] = [_revision_entry(wiki, revision, form) for revision in remaining[: limits.revisions]]
    rest = remaining[limits.revisions :]
    return {"rvcontinue": f"{re.sub('[^0-9]', '', rest[0].timestamp)}|{rest[0].revision_id}"} if rest else {}


def _extracts(wiki: Wiki, form: Form, limits: Limits, page: Page, entry: dict[str, Any], site: str) -> dict[str, str]:
    entry["extract"] = plain(page.latest.content)
    return {}


def _pageprops(wiki: Wiki, form: Form, limits: Limits, page: Page, entry: dict[str, Any], site: str) -> dict[str, str]:
    entry |= {"pageprops": {"wikibase_item": page.item_id}} if page.item_id else {}
    return {}


def _info(wiki: Wiki, form: Form, limits: Limits, page: Page, entry: dict[str, Any], site: str) -> dict[str, str]:
    address = f"{site}/wiki/{quote(page.title.replace(' ', '_'), safe='/:,')}"
    entry |= {"lastrevid": page.latest.revision_id, "fullurl": address, "canonicalurl": address}
    return {}


def _links(wiki: Wiki, form: Form, limits: Limits, page: Page, entry: dict[str, Any], site: str) -> dict[str, str]:
    titles = [title for space, title in links(page.latest.content) if space == 0]
    begin = titles.index(form["plcontinue"]) if "plcontinue" in form else 0
    end = begin + limits.links
    entry["links"] = [{"ns": 0, "title": title} for title in titles[begin:end]]
    return {"plcontinue": titles[end]} if end < len(titles) else {}


_PROPS = {
    "revisions": _revisions,
    "extracts": _extracts,
    "pageprops": _pageprops,
    "info": _info,
    "links": _links,
}


def _revision_entry(wiki: Wiki, revision: Revision, form: Form) -> dict[str, Any]:
    user_id = wiki.users.get(revision.user, 0)
    editor = {"user": revision.user, "userid": user_id, **({"anon": True} if revision.anonymous else {})}
    content = {"contentmodel": wiki.model, "contentformat": wiki.content_format, "content": revision.content}
    is_hidden = "content" in revision.hidden
    parts: dict[str, dict[str, Any]] = {
        "ids": {"revid": revision.revision_id, "parentid": revision.parent_id},
        "user": {"userhidden": True} if "user" in revision.hidden else editor,
        "timestamp": {"timestamp": revision.timestamp},
        "size": {"size": len(revision.content.encode())},
        "sha1": {"sha1hidden": True} if is_hidden else {"sha1": revision.sha1},
        "content": {"slots": {"main": {"texthidden": True} if is_hidden else content}},
        "comment": {"commenthidden": True} if "comment" in revision.hidden else {"comment": revision.comment},
        "tags": {"tags": list(revision.tags)},
    }
    props = form["rvprop"].split("|")
    return {key: value for name, part in parts.items() if name in props for key, value in part.items()}
