"""The world on a real HTTP server: every service under one address, each in its own place."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from tests.data.sources.servers.faults import Asked, Say, says, serving
from tests.data.sources.servers.wiki_world.action_api import Limits, entities, query
from tests.data.sources.servers.wiki_world.other_services import page_views, similar
from tests.data.sources.servers.wiki_world.state import World

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

Before = Callable[[Asked], Say | None]
After = Callable[[Asked, Say], Say]


class Served(NamedTuple):
    """Addresses by the name of the service, and all requests in order of arrival, which grows."""

    addresses: Mapping[str, str]
    asked: list[Asked]


@contextmanager
def serving_world(
    world: World,
    *,
    before: Before | None = None,
    after: After | None = None,
    limits: Limits | None = None,
    sparql: Before | None = None,
) -> Iterator[Served]:
    """Serves the world on 127.0.0.1.

    before: sees each request first; what it says in place of None is the answer. after: sees the world's own answer and
    may hold it back (`replace(said, hold=event)`), delay it or cut it short. limits: how soon answers have to be
    continued. sparql: answers for the Query Service, which otherwise has nothing to say.
    """

    def play(asked: Asked) -> Say:
        said = before(asked) if before else None
        if said is not None:
            return said
        said = answer(world, asked, limits or Limits(), sparql)
        return after(asked, said) if after else said

    with serving(play=play) as server:
        home = server.address.removesuffix("/ask")
        yield Served({name: home + place for name, place in PLACES.items()}, server.asked)


def service_of(asked: Asked) -> str | None:
    """Which service a request goes to; None for an address that none has."""
    found = [name for name, place in PLACES.items() if asked.path == place or asked.path.startswith(f"{place}/")]
    return found[0] if found else None


def answer(world: World, asked: Asked, limits: Limits, sparql: Before | None = None) -> Say:
    service = service_of(asked)
    path = asked.path.removeprefix(PLACES[service]) if service else asked.path
    if service in ("wikidata_api", "wikipedia") and not path:
        return _action(world, service, asked.form, limits)
    if service == "pageviews":
        return page_views(world.views, path)
    if service == "wembedder":
        return similar(world.most_similar, path)
    said = sparql(asked) if sparql is not None and service == "wikidata" else None
    return said or Say("<html><title>404</title></html>", status=404, headers={"Content-Type": "text/html"})


def _action(world: World, service: str, form: Mapping[str, str], limits: Limits) -> Say:
    if form["action"] == "wbgetentities":
        return says(entities(world.wikidata, form))
    return says(query(world.wikidata if service == "wikidata_api" else world.wikipedia, form, limits, SITE))
