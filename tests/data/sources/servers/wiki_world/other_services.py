"""Page views and similar entities, in the shapes of Wikimedia's services."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from tests.data.sources.servers.faults import Say, says

_VIEWS = re.compile(r"/per-article/([^/]+)/([^/]+)/([^/]+)/([^/]+)/monthly/(\d{8})(?:00)?/(\d{8})(?:00)?")
_NO_SUCH_ADDRESS = "<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n"
_MODEL = {"filename": "a-model-of-this-small-world"}


@dataclass(frozen=True)
class Views:
    """How often a page is read: so often in a month, and in only one of so many months."""

    a_month: int
    one_in: int = 1


def page_views(views: Mapping[str, Views], path: str) -> Say:
    """The months of one page, whose title stands in the path as one part; 404 for a page that nobody has read."""
    asked = _VIEWS.fullmatch(path)
    if asked is None:
        kind = "https://mediawiki.org/wiki/HyperSwitch/errors/not_found#route"
        return says({"type": kind, "title": "Not found.", "method": "get", "uri": path}, status=404)
    project, access, agent, title, first, last = asked.groups()
    page = unquote(title)
    read = views.get(page.replace("_", " ")) if " " not in page else None
    if read is None or (project, access, agent) != ("en.wikipedia", "all-access", "user"):
        detail = "The date(s) you used are valid, but we either do not have data for those date(s), or …"
        told = {"detail": detail, "method": "get", "status": 404, "title": "Not Found", "type": "about:blank"}
        return says({**told, "uri": path}, status=404)
    months = range(_month(first), _month(last) + 1)
    items = [_item(page, month, read.a_month) for month in months if month % read.one_in == 0]
    return says({"items": items})


def similar(most_similar: Mapping[str, Sequence[str]], path: str) -> Say:
    """What is most similar to an item, best first; 404 in JSON for an item unknown, in HTML for what is none."""
    asked = re.fullmatch(r"/most-similar/(Q[1-9][0-9]*)", path)
    if asked is None:
        return Say(_NO_SUCH_ADDRESS, status=404, headers={"Content-Type": "text/html; charset=utf-8"})
    item_id = asked[1]
    if item_id not in most_similar:
        return says({"message": f"Not found: {item_id}", "q": item_id, "status": 404}, status=404)
    ranked = [{"item": other, "similarity": similarity(place)} for place, other in enumerate(most_similar[item_id])]
    return says({"model_metadata": _MODEL, "most_similar": ranked, "size_of_vocabulary": len(most_similar)})


def similarity(place: int) -> float:
    """How similar the first (0), second, … of the most similar is."""
    return round(0.9 - 0.1 * place, 1)


def _month(day: str) -> int:
    return int(day[:4]) * 12 + int(day[4:6]) - 1


def _item(page: str, month: int, views: int) -> dict[str, Any]:
    where = {"project": "en.wikipedia", "article": page, "granularity": "monthly"}
    timestamp = f"{month // 12:04}{month % 12 + 1:02}0100"
    return {**where, "timestamp": timestamp, "access": "all-access", "agent": "user", "views": views}
