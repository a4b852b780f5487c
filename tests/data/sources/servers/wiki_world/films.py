"""Films and their directors."""

from swaymeter.data import reasons
from tests.data.sources.servers.wiki_world.expected import Kept, Left, Outcome
from tests.data.sources.servers.wiki_world.items import Item
from tests.data.sources.servers.wiki_world.state import World
from tests.data.sources.servers.wiki_world.things import FILM, ILVA, MAREK, NAMELESS, OSWIN, PERPETUA

_P = "P57"


def make_films(world: World) -> None:
    paper = _film(world, "Q401", "The Paper Lighthouse", "Ilva Thornquist")
    paper.bulk(adds=[(_P, ILVA)], labels={"fr": "Le Phare de papier"})

    ledger = _film(world, "Q402", "The Salt Ledger", "Marek Dovelund")
    ledger.adds(_P, PERPETUA)
    ledger.changes(_P, PERPETUA, MAREK)
    ledger.cites(_P, MAREK)

    _film(world, "Q403", "Nobody's Picture", "The Nameless Collective").adds(_P, NAMELESS)

    unknown = _film(world, "Q404", "A Year of Fridays", "Oswin Galt")
    unknown.adds(_P, "somevalue")
    unknown.adds(_P, OSWIN)
    unknown.removes(_P, "somevalue")

    _film(world, "Q405", "Two Doors Down", "Perpetua Naxley").adds(_P, PERPETUA)


def _film(world: World, item_id: str, title: str, director: str) -> Item:
    text = f"''{title}'' is a film that [[{director}]] directed. It was shown for one night."
    world.article(title, text, item_id=item_id, views=30)
    return world.item(item_id, title, article=title, claims=[("P31", FILM)])


OUTCOME: Outcome = {
    ("Q401", _P, ILVA): Kept("static", (2,), MAREK, (30, 40)),  # not her namesake, who shares her name
    ("Q402", _P, MAREK): Kept("temporal", (2, 3), ILVA, (30, 40)),
    ("Q403", _P, NAMELESS): Left(reasons.NO_REPLACEMENT),  # there is no other collective
    ("Q404", _P, OSWIN): Kept("temporal", (2, 3, 4), "by embeddings", (30, 40)),
    ("Q405", _P, PERPETUA): Kept("static", (2,), OSWIN, (30, 40)),
}
"""What becomes of each fact."""
