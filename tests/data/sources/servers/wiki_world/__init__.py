"""An invented Wikidata and Wikipedia with page views and similar items, on an HTTP server.

    invented = world()
    with serving_world(invented) as (addresses, requests):
        ...                                   # addresses["wikipedia"] is the address of the wiki's API
    OUTCOME[("Q501", "P106", "Q101")]         # the expected question or rejection of a fact
    WARS["Tidewater levy"].wars               # the expected disputes of a page

    serving_world(invented, after=lambda request, response: replace(response, hold=event))
    invented.items["Q501"].change("P106", "Q101", "Q103")     # the fact is temporal from now on

The world is the same in every process.
"""

from tests.data.sources.servers.wiki_world import occupations, things
from tests.data.sources.servers.wiki_world.action_api import Limits
from tests.data.sources.servers.wiki_world.expected import (
    EMBEDDINGS,
    Fact,
    Outcome,
    PageWars,
    Unusable,
    Usable,
    War,
    as_csv,
)
from tests.data.sources.servers.wiki_world.items import World
from tests.data.sources.servers.wiki_world.pages import Views
from tests.data.sources.servers.wiki_world.server import Served, service_of, serving_world
from tests.data.sources.servers.wiki_world.things import make_births, make_films, make_things
from tests.data.sources.servers.wiki_world.wars import LIST, LISTED, WARS, make_wars

__all__ = [
    "EMBEDDINGS",
    "LIST",
    "LISTED",
    "OUTCOME",
    "WARS",
    "Fact",
    "Limits",
    "PageWars",
    "Served",
    "Unusable",
    "Usable",
    "Views",
    "War",
    "World",
    "as_csv",
    "service_of",
    "serving_world",
    "world",
]

OUTCOME: Outcome = {**occupations.OUTCOME, **things.OUTCOME}
"""The expected question or rejection of each fact."""


def world() -> World:
    invented = World()
    make_things(invented)
    occupations.make_people(invented)
    make_births(invented)
    make_films(invented)
    make_wars(invented)
    return invented
