"""A small invented world behind the services that the project asks, on a real HTTP server.

    made = world()
    with serving_world(made) as (addresses, asked):
        ...                                   # addresses["wikipedia"]: where the wiki's API is
    OUTCOME[("Q501", "P106", "Q101")]         # what has to come of a fact, written by hand
    WARS["Tidewater levy"].wars               # what is disputed on a page, written by hand

    serving_world(made, after=lambda asked, said: replace(said, hold=event))
    made.items["Q501"].changes("P106", "Q101", "Q103")        # at any time: the fact is temporal from now on

Everything in it is invented, and the same in every process.
"""

from tests.data.sources.servers.wiki_world import occupations, things
from tests.data.sources.servers.wiki_world.action_api import Limits
from tests.data.sources.servers.wiki_world.expected import EMBEDDINGS, Fact, Fought, Kept, Left, Outcome, War, as_csv
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
    "Fought",
    "Kept",
    "Left",
    "Limits",
    "Served",
    "Views",
    "War",
    "World",
    "as_csv",
    "service_of",
    "serving_world",
    "world",
]

OUTCOME: Outcome = {**occupations.OUTCOME, **things.OUTCOME}
"""Every fact that a list may name, and what becomes of it."""


def world() -> World:
    made = World()
    make_things(made)
    occupations.make_people(made)
    make_births(made)
    make_films(made)
    make_wars(made)
    return made
