"""The Action API of a wiki, as far as the project asks it: what it does not play it refuses by name, and never guesses.

Shapes are those of a real MediaWiki 1.39. Continuation comes early, since the limits are small.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tests.data.sources.servers.wiki_world import revisions_api, wikitext
from tests.data.sources.servers.wiki_world.pages import Page, Wiki
from tests.data.sources.servers.wiki_world.titles import invalid, normalized, title_of

Form = Mapping[str, str]
MOST_VALUES = 50
_COMMON = {"action", "format", "formatversion", "maxlag", "prop", "titles", "revids", "redirects", "continue", "utf8"}
_OF_PROP = {
    "revisions": {"rvprop", "rvslots", "rvlimit", "rvdir", "rvcontinue"},
    "extracts": {"explaintext", "exlimit", "excontinue", "exsectionformat"},
    "pageprops": {"ppprop"},
    "info": {"inprop"},
    "links": {"plnamespace", "pllimit", "plcontinue"},
}


@dataclass(frozen=True)
class Limits:
    """How much an answer holds before it has to be continued, whatever the client asks for."""

    revisions: int = 4
    contents: int = 3
    links: int = 3


class ApiError(Exception):
    """An error that the API answers: its code and what it says."""

    def __init__(self, code: str, info: str, **more: Any) -> None:
        super().__init__(code, info)
        self.content = {"error": {"code": code, "info": info, **more, "docref": "See the API's own help."}}


@dataclass
class Reply:
    """What is known of a query's answer so far; continues: where each unfinished part goes on."""

    query: dict[str, Any] = field(default_factory=dict)
    pages: dict[str, dict[str, Any]] = field(default_factory=dict)
    continues: dict[str, str | int] = field(default_factory=dict)
    warnings: dict[str, Any] = field(default_factory=dict)


def unplayed(what: str) -> ApiError:
    """The refusal of something that a real wiki may answer, and this one does not."""
    return ApiError("unplayed", f"This small wiki does not play {what}.")


def query(wiki: Wiki, form: Form, limits: Limits, site: str) -> dict[str, Any]:
    """The answer to action=query; ApiError where the wiki has one, or does not play what is asked."""
    props = values(form, "prop")
    known = _COMMON.union(*(_OF_PROP.get(prop, set()) for prop in props))
    for name in sorted(set(form) - known):
        raise unplayed(f"the parameter {name} of {'|'.join(props) or 'a query'}")
    for prop in props:
        if prop not in _OF_PROP:
            raise unplayed(f"prop={prop}")
    reply = Reply()
    pages = _pages_by_revision(wiki, form, reply) if "revids" in form else _pages_by_title(wiki, form, reply)
    finished = set(form.get("continue", "").partition("||")[2].split("|")) - {""}
    for prop in sorted(set(props) - finished):
        _ANSWERS[prop](wiki, form, limits, pages, reply, site)
        if not reply.continues.keys() & _OF_PROP[prop]:
            finished.add(prop)
    return _told(form, reply, finished, limits)


def values(form: Form, name: str) -> list[str]:
    """A parameter's values, which a bar parts; ApiError for more than the API takes."""
    found = [value for value in form.get(name, "").split("|") if value]
    if len(found) > MOST_VALUES:
        info = f'Too many values supplied for parameter "{name}". The limit is {MOST_VALUES}.'
        raise ApiError("toomanyvalues", info, limit=MOST_VALUES, lowlimit=MOST_VALUES, highlimit=500)
    return found


def address_of(site: str, title: str) -> str:
    """Where people read a page."""
    return f"{site}/wiki/{quote(title.replace(' ', '_'), safe='/:,')}"


def _told(form: Form, reply: Reply, finished: set[str], limits: Limits) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if reply.continues:
        told["continue"] = {**reply.continues, "continue": "||" + "|".join(sorted(finished))}
    else:
        told["batchcomplete"] = True
    if reply.warnings:
        told["warnings"] = reply.warnings
    if reply.pages:
        reply.query["pages"] = list(reply.pages.values())
    if reply.query:
        told["query"] = reply.query
    if form.get("rvlimit") == "max":
        told["limits"] = {"revisions": limits.revisions}
    return told


def _pages_by_revision(wiki: Wiki, form: Form, reply: Reply) -> list[Page]:
    pages: dict[str, Page] = {}
    for said in values(form, "revids"):
        found = wiki.revision(int(said))
        if found is None:
            reply.query.setdefault("badrevids", {})[said] = {"revid": int(said), "missing": True}
        else:
            pages[found[0].title] = found[0]
    return _in_order(pages.values(), reply)


def _pages_by_title(wiki: Wiki, form: Form, reply: Reply) -> list[Page]:
    pages: dict[str, Page] = {}
    for asked in values(form, "titles"):
        title = title_of(asked)
        if problem := invalid(title):
            reply.pages[asked] = {"title": asked, "invalidreason": problem, "invalid": True}
            continue
        if title != asked:
            reply.query.setdefault("normalized", []).append(normalized(asked, title))
        if "redirects" in form and title in wiki.redirects:
            reply.query.setdefault("redirects", []).append({"from": title, "to": wiki.redirects[title]})
            title = wiki.redirects[title]
        if title in wiki.pages:
            pages[title] = wiki.pages[title]
        else:
            reply.pages[title] = {"ns": wikitext.namespace_of(title), "title": title, "missing": True}
    return _in_order(pages.values(), reply)


def _in_order(pages: Iterable[Page], reply: Reply) -> list[Page]:
    found = sorted(pages, key=lambda page: page.page_id)
    for page in found:
        reply.pages[page.title] = {"pageid": page.page_id, "ns": page.namespace, "title": page.title}
    return found


def _revisions(wiki: Wiki, form: Form, limits: Limits, pages: Sequence[Page], reply: Reply, site: str) -> None:
    known = set(values(form, "rvprop") or ["ids", "timestamp", "flags", "comment", "user"])
    if bad := known - revisions_api.PROPS:
        raise unplayed(f"rvprop={'|'.join(sorted(bad))}")
    if "content" in known and form.get("rvslots") != "main":
        raise unplayed("the content of revisions without rvslots=main")
    if "revids" in form:
        chosen, after = revisions_api.by_id(wiki, form, limits.contents)
    elif "rvlimit" in form or "rvdir" in form:
        if len(values(form, "titles")) > 1:
            info = 'The "rvlimit" and "rvdir=newer" parameters may only be used on a single page.'
            raise ApiError("invalidparammix", info)
        most = limits.contents if "content" in known else limits.revisions
        chosen, after = revisions_api.in_turn(pages, form, most)
    else:
        chosen, after = [(page, page.latest) for page in pages], None
    for page, revision in chosen:
        shown = revisions_api.shown(wiki, revision, known)
        reply.pages[page.title].setdefault("revisions", []).append(shown)
    if after is not None:
        reply.continues["rvcontinue"] = after


def _extracts(wiki: Wiki, form: Form, limits: Limits, pages: Sequence[Page], reply: Reply, site: str) -> None:
    if "explaintext" not in form:
        raise unplayed("extracts in HTML")
    place = int(form.get("excontinue", "0"))
    if pages:
        reply.pages[pages[place].title]["extract"] = wikitext.plain(pages[place].latest.content)
    if place + 1 < len(pages):
        said = '"exlimit" was too large for a whole article extracts request, lowered to 1.'
        reply.warnings["extracts"] = {"warnings": said}
        reply.continues["excontinue"] = place + 1


def _pageprops(wiki: Wiki, form: Form, limits: Limits, pages: Sequence[Page], reply: Reply, site: str) -> None:
    for page in pages:
        if page.item_id:
            reply.pages[page.title]["pageprops"] = {"wikibase_item": page.item_id}
        elif "ppprop" not in form:
            reply.pages[page.title]["pageprops"] = {"unexpectedUnconnectedPage": "0"}


def _info(wiki: Wiki, form: Form, limits: Limits, pages: Sequence[Page], reply: Reply, site: str) -> None:
    language = {"pagelanguage": "en", "pagelanguagehtmlcode": "en", "pagelanguagedir": "ltr"}
    here = {page.title: page for page in pages}
    for title, shown in reply.pages.items():
        if "invalid" in shown:
            continue
        shown.update({"contentmodel": wiki.model, **language})
        if title in here:
            latest = here[title].latest
            size = len(latest.content.encode())
            shown.update({"touched": latest.timestamp, "lastrevid": latest.revision_id, "length": size})
            if latest.parent_id == 0:
                shown["new"] = True
        if form.get("inprop") == "url":
            address = address_of(site, title)
            edit = f"{site}/w/index.php?title={quote(title.replace(' ', '_'))}&action=edit"
            shown.update({"fullurl": address, "editurl": edit, "canonicalurl": address})


def _links(wiki: Wiki, form: Form, limits: Limits, pages: Sequence[Page], reply: Reply, site: str) -> None:
    spaces = {int(said) for said in values(form, "plnamespace")}
    found = [
        (page, space, title)
        for page in pages
        for space, title in wikitext.links(page.latest.content)
        if not spaces or space in spaces
    ]
    asked = form.get("pllimit", "10")
    most = limits.links if asked == "max" else min(limits.links, int(asked))
    keys = [f"{page.page_id}|{space}|{title.replace(' ', '_')}" for page, space, title in found]
    if "plcontinue" in form and form["plcontinue"] not in keys:
        raise ApiError(
            "badcontinue", "Invalid continue param. You should pass the original value returned by the previous query."
        )
    begin = keys.index(form["plcontinue"]) if "plcontinue" in form else 0
    for page, space, title in found[begin : begin + most]:
        reply.pages[page.title].setdefault("links", []).append({"ns": space, "title": title})
    if begin + most < len(found):
        reply.continues["plcontinue"] = keys[begin + most]


_ANSWERS = {
    "revisions": _revisions,
    "extracts": _extracts,
    "pageprops": _pageprops,
    "info": _info,
    "links": _links,
}
