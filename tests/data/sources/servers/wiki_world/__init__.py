"""An invented Wikidata and Wikipedia with page views and similar items, on an HTTP server.

    invented = world()
    with serving_world(invented) as (addresses, requests):
        ...                                   # addresses["wikipedia"] is the address of the wiki's API
    EXPECTED[("Q501", "P106", "Q101")]        # the expected question of a fact
    WARS["Tidewater levy"]                    # the expected disputes of a page

    serving_world(invented, after=lambda request, response: replace(response, hold=event))
    # from now on, this fact is temporal
    invented.items["Q501"].edit("/* wbsetclaimvalue:1| */ [[Property:P106]]: [[Q103]]", values={"P106": "Q103"})

The world is the same in every process.
"""

from tests.data.sources.servers.wiki_world.server import Served, service_of, serving_world
from tests.data.sources.servers.wiki_world.world import EXPECTED, FACTS, UNCOUNTED, UNUSABLE, WARS, Fact, World, world

__all__ = [
    "EXPECTED",
    "FACTS",
    "UNCOUNTED",
    "UNUSABLE",
    "WARS",
    "Fact",
    "Served",
    "World",
    "service_of",
    "serving_world",
    "world",
]
