"""The world on a real HTTP server: every service under one address, each in its own place."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import unquote

from tests.data.sources.servers.faults import Say, ServedRequest, says, serving
from tests.data.sources.servers.wiki_world.action_api import Limits, entities, query
from tests.data.sources.servers.wiki_world.items import World
from tests.data.sources.servers.wiki_world.pages import Views

_VIEWS = re.compile(r"/per-article/([^/]+)/([^/]+)/([^/]+)/([^/]+)/monthly/(\d{8})(?:00)?/(\d{8})(?:00)?")
_NO_SUCH_ADDRESS = "<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n"
_MODEL = {"filename": "a-model-of-this-small-world"}

PLACES: Mapping[str, str] = {
    "wikidata_api": "/w/api.php",
    "wikipedia": "/wikipedia/w/api.php",
    "pageviews": "/pageviews",
    "wembedder": "/api",
    "wikidata": "/sparql",
}
"""Where each service is, by its name among `swaymeter.data.sources.http.services.SERVICES`."""

SITE = "https://wiki.example.org"
"""What pages call their home: not the server's own address, so that a world says the same whenever it is served."""

Before = Callable[[ServedRequest], Say | None]
After = Callable[[ServedRequest, Say], Say]


class Served(NamedTuple):
    """Addresses by the name of the service, and all requests in order of arrival, which grows."""

    addresses: Mapping[str, str]
    received: list[ServedRequest]


@contextmanager
def serving_world(
    world: World, *, before: Before | None = None, after: After | None = None, limits: Limits | None = None
) -> Iterator[Served]:
    """Serves the world on 127.0.0.1.

    before: sees each request first; what it says in place of None is the answer. after: sees the world's own answer and
    may hold it back (`replace(said, hold=event)`), delay it or cut it short. limits: how soon answers have to be
    continued.
    """

    def play(asked: ServedRequest) -> Say:
        said = before(asked) if before else None
        if said is not None:
            return said
        said = answer(world, asked, limits or Limits())
        return after(asked, said) if after else said

    with serving(play=play) as server:
        home = server.address.removesuffix("/ask")
        yield Served({name: home + place for name, place in PLACES.items()}, server.received)


def service_of(asked: ServedRequest) -> str | None:
    """Which service a request goes to; None for an address that none has."""
    found = [name for name, place in PLACES.items() if asked.path == place or asked.path.startswith(f"{place}/")]
    return found[0] if found else None


def answer(world: World, asked: ServedRequest, limits: Limits) -> Say:
    service = service_of(asked)
    path = asked.path.removeprefix(PLACES[service]) if service else asked.path
    if service in ("wikidata_api", "wikipedia") and not path:
        return _action(world, service, asked.form, limits)
    if service == "pageviews":
        return page_views(world.views, path)
    if service == "wembedder":
        return similar(world.similar_items, path)
    return Say("<html><title>404</title></html>", status=404, headers={"Content-Type": "text/html"})


def _action(world: World, service: str, form: Mapping[str, str], limits: Limits) -> Say:
    if form["action"] == "wbgetentities":
        return says(entities(world.wikidata, form))
    return says(query(world.wikidata if service == "wikidata_api" else world.wikipedia, form, limits, SITE))


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


def similar(similar_items: Mapping[str, Sequence[str]], path: str) -> Say:
    """What is most similar to an item, best first; 404 in JSON for an item unknown, in HTML for what is none."""
    asked = re.fullmatch(r"/most-similar/(Q[1-9][0-9]*)", path)
    if asked is None:
        return Say(_NO_SUCH_ADDRESS, status=404, headers={"Content-Type": "text/html; charset=utf-8"})
    item_id = asked[1]
    if item_id not in similar_items:
        return says({"message": f"Not found: {item_id}", "q": item_id, "status": 404}, status=404)
    ranked = [{"item": other, "similarity": similarity(place)} for place, other in enumerate(similar_items[item_id])]
    return says({"model_metadata": _MODEL, "most_similar": ranked, "size_of_vocabulary": len(similar_items)})


def similarity(place: int) -> float:
    """How similar the first (0), second, … of the most similar is."""
    return round(0.9 - 0.1 * place, 1)


def _month(day: str) -> int:
    return int(day[:4]) * 12 + int(day[4:6]) - 1


def _item(page: str, month: int, views: int) -> dict[str, Any]:
    where = {"project": "en.wikipedia", "article": page, "granularity": "monthly"}
    timestamp = f"{month // 12:04}{month % 12 + 1:02}0100"
    return {**where, "timestamp": timestamp, "access": "all-access", "agent": "user", "views": views}
