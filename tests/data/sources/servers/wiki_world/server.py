"""The server of the world: all services have one address, and a path each."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import unquote

from tests.data.sources.servers.faults import ServedRequest, ServedResponse, json_response, serving
from tests.data.sources.servers.wiki_world.action_api import Limits, entities, query
from tests.data.sources.servers.wiki_world.items import World
from tests.data.sources.servers.wiki_world.pages import Views

_VIEWS = re.compile(r"/per-article/([^/]+)/([^/]+)/([^/]+)/([^/]+)/monthly/(\d{8})(?:00)?/(\d{8})(?:00)?")
_NO_SUCH_ADDRESS = "<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n"
_MODEL = {"filename": "a-model-of-this-small-world"}

PATHS: Mapping[str, str] = {
    "wikidata_api": "/w/api.php",
    "wikipedia": "/wikipedia/w/api.php",
    "pageviews": "/pageviews",
    "wembedder": "/api",
    "wikidata": "/sparql",
}
"""The path of each service in `swaymeter.data.sources.http.services.SERVICES`."""

SITE = "https://wiki.example.org"
"""The site in addresses of pages; unlike the server's address, it is the same in every process."""

Before = Callable[[ServedRequest], ServedResponse | None]
After = Callable[[ServedRequest, ServedResponse], ServedResponse]


class Served(NamedTuple):
    """The addresses of the services by name, and the list of all requests so far in order of arrival."""

    addresses: Mapping[str, str]
    received: list[ServedRequest]


@contextmanager
def serving_world(
    world: World, *, before: Before | None = None, after: After | None = None, limits: Limits | None = None
) -> Iterator[Served]:
    """Serve the world on 127.0.0.1.

    Args:
        world: The world.
        before: Sees each request first; a response other than None replaces the world's response.
        after: Sees each request with the world's response, and returns the response that is sent.
        limits: The limits of responses, above which they have continuations.
    """

    def play(request: ServedRequest) -> ServedResponse:
        response = before(request) if before else None
        if response is not None:
            return response
        response = respond(world, request, limits or Limits())
        return after(request, response) if after else response

    with serving(play=play) as server:
        host = server.address.removesuffix("/ask")
        yield Served({name: host + path for name, path in PATHS.items()}, server.received)


def service_of(request: ServedRequest) -> str | None:
    """Return the name of the service that a request goes to; None for the address of no service."""
    names = [name for name, path in PATHS.items() if request.path == path or request.path.startswith(f"{path}/")]
    return names[0] if names else None


def respond(world: World, request: ServedRequest, limits: Limits) -> ServedResponse:
    service = service_of(request)
    path = request.path.removeprefix(PATHS[service]) if service else request.path
    if service in ("wikidata_api", "wikipedia") and not path:
        return _action(world, service, request.form, limits)
    if service == "pageviews":
        return views_response(world.views, path)
    if service == "wembedder":
        return similar_response(world.similar_items, path)
    return ServedResponse("<html><title>404</title></html>", status=404, headers={"Content-Type": "text/html"})


def _action(world: World, service: str, form: Mapping[str, str], limits: Limits) -> ServedResponse:
    if form["action"] == "wbgetentities":
        return json_response(entities(world.wikidata, form))
    return json_response(query(world.wikidata if service == "wikidata_api" else world.wikipedia, form, limits, SITE))


def views_response(views: Mapping[str, Views], path: str) -> ServedResponse:
    """Return the monthly views of the page whose title is a part of the path; 404 for a page without views."""
    match = _VIEWS.fullmatch(path)
    if match is None:
        kind = "https://mediawiki.org/wiki/HyperSwitch/errors/not_found#route"
        return json_response({"type": kind, "title": "Not found.", "method": "get", "uri": path}, status=404)
    project, access, agent, title, first, last = match.groups()
    page = unquote(title)
    page_views = views.get(page.replace("_", " ")) if " " not in page else None
    if page_views is None or (project, access, agent) != ("en.wikipedia", "all-access", "user"):
        detail = "The date(s) you used are valid, but we either do not have data for those date(s), or …"
        problem = {"detail": detail, "method": "get", "status": 404, "title": "Not Found", "type": "about:blank"}
        return json_response({**problem, "uri": path}, status=404)
    months = range(_month(first), _month(last) + 1)
    items = [_item(page, month, page_views.count) for month in months if month % page_views.interval == 0]
    return json_response({"items": items})


def similar_response(similar_items: Mapping[str, Sequence[str]], path: str) -> ServedResponse:
    """Return the items most similar to an item; 404 in JSON for an unknown item, in HTML for any other path."""
    match = re.fullmatch(r"/most-similar/(Q[1-9][0-9]*)", path)
    if match is None:
        return ServedResponse(_NO_SUCH_ADDRESS, status=404, headers={"Content-Type": "text/html; charset=utf-8"})
    item_id = match[1]
    if item_id not in similar_items:
        return json_response({"message": f"Not found: {item_id}", "q": item_id, "status": 404}, status=404)
    ranked = [{"item": other, "similarity": similarity(rank)} for rank, other in enumerate(similar_items[item_id])]
    return json_response({"model_metadata": _MODEL, "most_similar": ranked, "size_of_vocabulary": len(similar_items)})


def similarity(rank: int) -> float:
    """Return the similarity of the most similar item (rank 0) or a later item."""
    return round(0.9 - 0.1 * rank, 1)


def _month(day: str) -> int:
    return int(day[:4]) * 12 + int(day[4:6]) - 1


def _item(page: str, month: int, views: int) -> dict[str, Any]:
    query = {"project": "en.wikipedia", "article": page, "granularity": "monthly"}
    timestamp = f"{month // 12:04}{month % 12 + 1:02}0100"
    return {**query, "timestamp": timestamp, "access": "all-access", "agent": "user", "views": views}
