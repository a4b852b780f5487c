"""wbgetentities: items and properties in the API's shape, which is not quite the shape that they are stored in."""

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.data.sources.servers.wiki_world.action_api import ApiError, address_of, unplayed, values
from tests.data.sources.servers.wiki_world.pages import Wiki

_KNOWN = {"action", "format", "formatversion", "maxlag", "ids", "props", "languages", "sitefilter", "redirects", "utf8"}
_ID = re.compile(r"[QP][1-9][0-9]*")
_LARGEST_NUMBER = 2**31 - 1
_MAPS = ("labels", "descriptions", "aliases", "claims", "sitelinks")
_PROPS = {*_MAPS, "info", "datatype", "sitelinks/urls"}
_TEXTS = ("labels", "descriptions", "aliases")


def entities(wiki: Wiki, form: Mapping[str, str], site: str) -> dict[str, Any]:
    """The answer to action=wbgetentities; ApiError for ids that are none, and for what is not played."""
    if unknown := sorted(set(form) - _KNOWN):
        raise unplayed(f"the parameter {unknown[0]} of wbgetentities")
    props = set(values(form, "props") or _PROPS - {"sitelinks/urls"})
    if bad := props - _PROPS:
        raise unplayed(f"props={'|'.join(sorted(bad))}")
    ids = values(form, "ids")
    for asked in ids:
        if not _ID.fullmatch(asked) or int(asked[1:]) > _LARGEST_NUMBER:
            raise ApiError("no-such-entity", f'Could not find an entity with the ID "{asked}".', id=asked)
    return {"entities": {asked: _entity(wiki, asked, form, props, site) for asked in ids}, "success": 1}


def _entity(wiki: Wiki, asked: str, form: Mapping[str, str], props: set[str], site: str) -> dict[str, Any]:
    follow = form.get("redirects", "yes") != "no"
    target = wiki.redirects.get(asked, asked)
    page = wiki.pages.get(f"Property:{target}" if target.startswith("P") else target)
    if page is None or (target != asked and not follow):
        return {"id": asked, "missing": ""}
    told: dict[str, Any] = {}
    if "info" in props:
        told = {"pageid": page.page_id, "ns": page.namespace, "title": page.title}
        told |= {"lastrevid": page.latest.revision_id, "modified": page.latest.timestamp}
        if target != asked:
            told["redirects"] = {"from": asked, "to": target}
    stored = json.loads(page.latest.content)
    told |= {key: stored[key] for key in ("type", "datatype") if key in stored} | {"id": target}
    for name in _MAPS:
        if name in props and name in stored:
            told[name] = _asked_for(name, stored[name] or {}, form)
    for statements in told.get("claims", {}).values():
        for statement in statements:
            _typed(statement)
    if "sitelinks/urls" in props:
        for link in told.get("sitelinks", {}).values():
            link["url"] = address_of(site, link["title"])
    return told


def _asked_for(name: str, held: Mapping[str, Any], form: Mapping[str, str]) -> dict[str, Any]:
    only = values(form, "languages") if name in _TEXTS else values(form, "sitefilter") if name == "sitelinks" else []
    return {key: said for key, said in held.items() if not only or key in only}


def _typed(statement: dict[str, Any]) -> None:
    groups = [statement.get("qualifiers", {}), *(said["snaks"] for said in statement.get("references", ()))]
    snaks = [snak for group in groups for listed in group.values() for snak in listed]
    for snak in (statement["mainsnak"], *snaks):
        snak["datatype"] = {"P854": "url", "P585": "string"}.get(snak["property"], "wikibase-item")
