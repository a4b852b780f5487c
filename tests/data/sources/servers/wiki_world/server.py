"""A server of Wikidata, Wikipedia and other services, whose items and pages are invented; each service has a path."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import unquote

import pandas as pd

from tests.data.sources.servers.faults import ServedRequest, ServedResponse, json_response, serving
from tests.data.sources.servers.wiki_world.action_api import entities, query
from tests.data.sources.servers.wiki_world.world import World

_VIEWS = re.compile(r"/per-article/en\.wikipedia/all-access/user/([^/]+)/monthly/(\d{6})\d+/(\d{6})\d+")
_NOT_FOUND = ServedResponse("<html><title>404</title></html>", status=404, headers={"Content-Type": "text/html"})
PATHS: Mapping[str, str] = {
    "wikidata_api": "/w/api.php",
    "wikipedia": "/wikipedia/w/api.php",
    "pageviews": "/pageviews",
    "wembedder": "/api",
    "wikidata": "/sparql",
}
"""Paths of services, by their names in `swaymeter.data.sources.http.services.SERVICES`; `wikidata` answers only 404."""

Before = Callable[[ServedRequest], ServedResponse | None]
After = Callable[[ServedRequest, ServedResponse], ServedResponse]


class Served(NamedTuple):
    """The addresses of the services by name, and the list of all requests so far in order of arrival."""

    addresses: Mapping[str, str]
    received: list[ServedRequest]


@contextmanager
def serving_world(
    world: World, *, before: Before | None = None, after: After | None = None, limit: int = 4
) -> Iterator[Served]:
    """Serve the world on 127.0.0.1.

    Args:
        before: Sees each request first; a response other than None replaces the world's response.
        after: Sees each request with the world's response, and returns the response that is sent.
        limit: Number of revisions or links above which a response is continued in further responses.
    """

    def play(request: ServedRequest) -> ServedResponse:
        response = before(request) if before else None
        if response is not None:
            return response
        response = _respond(world, request, limit)
        return after(request, response) if after else response

    with serving(play=play) as server:
        host = server.address.removesuffix("/ask")
        yield Served({name: host + path for name, path in PATHS.items()}, server.received)


def service_of(request: ServedRequest) -> str | None:
    """Return the name of the service that a request goes to; None for the address of no service."""
    names = [name for name, path in PATHS.items() if request.path == path or request.path.startswith(f"{path}/")]
    return names[0] if names else None


def _respond(world: World, request: ServedRequest, limit: int) -> ServedResponse:
    service = service_of(request)
    path = request.path.removeprefix(PATHS[service]) if service else request.path
    if service in ("wikidata_api", "wikipedia") and not path:
        if request.form["action"] == "wbgetentities":
            return json_response(entities(world.wikidata, request.form))
        wiki = world.wikidata if service == "wikidata_api" else world.wikipedia
        return json_response(query(wiki, request.form, limit))
    if service == "pageviews" and (match := _VIEWS.fullmatch(path)):
        return _views(world, unquote(match[1]), match[2], match[3])
    if service == "wembedder" and (match := re.fullmatch(r"/most-similar/(Q[1-9][0-9]*)", path)):
        return _similar_items(world, match[1])
    return _NOT_FOUND


def _views(world: World, page: str, first: str, last: str) -> ServedResponse:
    """Return the views of a page from month first to last (YYYYMM); 404 without views, or for a title with spaces."""
    views = world.views.get(page.replace("_", " "))
    if views is None or " " in page:
        problem = {"detail": "We do not have data for those date(s).", "status": 404, "title": "Not Found"}
        return json_response({**problem, "method": "get", "type": "about:blank"}, status=404)
    items = [
        {"article": page, "timestamp": f"{month:%Y%m}0100", "views": count}
        for month in pd.period_range(first, last, freq="M")
        if (count := views[month.ordinal % len(views)])
    ]
    return json_response({"items": items})


def _similar_items(world: World, item_id: str) -> ServedResponse:
    """Return the items most similar to an item; 404 for an unknown item."""
    if item_id not in world.similar_items:
        return json_response({"message": f"Not found: {item_id}", "q": item_id, "status": 404}, status=404)
    similar = [
        {"item": other, "similarity": round(0.9 - 0.1 * rank, 1)}
        for rank, other in enumerate(world.similar_items[item_id])
    ]
    return json_response({"most_similar": similar})
