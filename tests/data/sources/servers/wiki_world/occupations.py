"""People and their occupations: to each item or article one thing happens, and this is what becomes of the fact."""

from swaymeter.data import reasons
from tests.data.sources.servers.wiki_world.expected import EMBEDDINGS, Kept, Left, Outcome
from tests.data.sources.servers.wiki_world.items import PASSER_BY, Item, World
from tests.data.sources.servers.wiki_world.things import (
    BELL_TUNER,
    CLOUD_CARTOGRAPHER,
    DELETED_TRADE,
    HUMAN,
    LANTERNIST,
    MOSS_PAINTER,
    OSTREL,
    QUILLHAVEN,
    TIDE_CLERK,
    TIDE_REGISTRAR,
    UNNAMED_TRADE,
)

_P = "P106"


def make_people(world: World) -> None:
    _ordinary(world)
    _changed_back_and_forth(world)
    _said_in_other_ways(world)
    _hidden(world)
    _merged_and_missing(world)
    _articles(world)


def _ordinary(world: World) -> None:
    adela = _person(world, "Q501", "Adela Fenwick", "lanternist", views=100)
    adela.adds(_P, LANTERNIST)
    adela.cites(_P, LANTERNIST)
    adela.qualifies(_P, LANTERNIST)
    adela.ranks(_P, LANTERNIST, "preferred")
    adela.calls("de", "Adela Fenwick")
    adela.bulk(labels={"fr": "Adèle Fenwick"})

    bram = _person(world, "Q502", "Bram Okoto", "bell tuner", views=50)
    bram.adds(_P, CLOUD_CARTOGRAPHER)
    bram.changes(_P, CLOUD_CARTOGRAPHER, BELL_TUNER, said=", see his memoirs")

    _person(world, "Q503", "Cora Ashdown", "lanternist", (_P, LANTERNIST), (_P, CLOUD_CARTOGRAPHER), views=10)


def _changed_back_and_forth(world: World) -> None:
    other_undone = _person(world, "Q505", "Edda Moss", "lanternist", (_P, LANTERNIST), views=10)
    other_undone.adds("P19", QUILLHAVEN, user=PASSER_BY)
    other_undone.undoes()

    removed = _person(world, "Q507", "Greta Vane", "lanternist")
    removed.adds(_P, LANTERNIST)
    removed.removes(_P, LANTERNIST)

    deprecated = _person(world, "Q508", "Hollis Wren", "lanternist", (_P, LANTERNIST))
    deprecated.ranks(_P, LANTERNIST, "deprecated")

    once_held = _person(world, "Q530", "Ida Former", "lanternist", (_P, LANTERNIST), views=10)
    once_held.adds(_P, CLOUD_CARTOGRAPHER)
    once_held.ranks(_P, CLOUD_CARTOGRAPHER, "deprecated")


def _said_in_other_ways(world: World) -> None:
    bulk = _person(world, "Q509", "Imre Saltash", "moss painter", views=10)
    bulk.bulk(adds=[(_P, MOSS_PAINTER), ("P19", QUILLHAVEN)])
    many = "/* wbeditentity-statements-multiple-properties-update:0||2 */"
    bulk.bulk(adds=[("P19", OSTREL)], removes=[("P19", QUILLHAVEN)], comment=many)


def _hidden(world: World) -> None:
    between = _person(world, "Q511", "Kasimir Bly", "cloud cartographer", views=10)
    between.adds(_P, LANTERNIST)
    between.changes(_P, LANTERNIST, MOSS_PAINTER, user=PASSER_BY)
    between.hides()
    between.changes(_P, MOSS_PAINTER, CLOUD_CARTOGRAPHER)

    at_first = _person(world, "Q529", "Moritz Early", "lanternist", (_P, LANTERNIST), views=10)
    at_first.hides()
    at_first.calls("de", "Moritz")


def _merged_and_missing(world: World) -> None:
    _person(world, "Q513", "Mina Corr", "tide clerk", (_P, TIDE_CLERK), views=10)
    _person(world, "Q514", "Nils Under", "tide clerk", (_P, TIDE_REGISTRAR), views=10)
    double = world.item("Q515", "O. Pell", claims=[("P31", HUMAN), (_P, LANTERNIST)])
    double.merges_into(_person(world, "Q516", "Orla Pell", "lanternist", views=10))
    _person(world, "Q517", "Piet Lode", "kite notary", (_P, DELETED_TRADE))
    _person(world, "Q518", "Quentin Gone", "lanternist", (_P, LANTERNIST))
    world.wikidata.delete("Q518")
    world.item("Q519", "Ruth Ohnename", language="de", article="Ruth Ohnename", claims=[(_P, LANTERNIST)])
    world.article("Ruth Ohnename", "'''Ruth''' is a lanternist.", item_id="Q519")
    world.item("Q520", "Sol Multi", language="mul", article="Sol Multi", claims=[("P31", HUMAN), (_P, LANTERNIST)])
    world.article("Sol Multi", "'''Sol Multi''' is a lanternist.", item_id="Q520", views=10)
    _person(world, "Q521", "Tove Wolk", "Wolkenzähler", (_P, UNNAMED_TRADE))


def _articles(world: World) -> None:
    world.item("Q522", "Una Nopage", claims=[(_P, LANTERNIST)])
    world.item("Q523", "Vito Red", article="Vito Red", claims=[(_P, LANTERNIST)])
    world.item("Q524", "Wilma Blank", article="Wilma Blank", claims=[(_P, LANTERNIST)])
    world.article("Wilma Blank", "{{Infobox person|occupation=lanternist}}", item_id="Q524")
    _person(world, "Q525", "Xenia Part", "handbell tuner, as most bell tuners are", (_P, BELL_TUNER))
    _person(world, "Q526", "Yann Slot", "[ENTITY] and lanternist", (_P, LANTERNIST))
    _person(world, "Q527", "Zelda Lamp", "lamp keeper", (_P, LANTERNIST), views=10)
    of_another = [("P31", HUMAN), (_P, LANTERNIST)]
    world.item("Q531", "Ada Elsewhere", article="Adela Fenwick", claims=of_another)
    moved = world.item("Q528", "Abel Moved", article="Abel the Elder", claims=[("P31", HUMAN), (_P, LANTERNIST)])
    world.article("Abel Moved", "'''Abel Moved''' was the first lanternist.", item_id=moved.item_id, views=10)
    world.wikipedia.redirect("Abel the Elder", "Abel Moved", user="Wanda Writer")


def _person(
    world: World, item_id: str, name: str, occupation: str, *claims: tuple[str, str], views: int | None = None
) -> Item:
    world.article(
        name,
        f"{{{{Infobox person|name={name}}}}}\n'''{name}''' (born 1 May 1901) was often on the road.\n\n"
        f"== Life ==\nIn those years {name} worked as a {occupation}.<ref>A source.</ref> Nobody minded.\n\n"
        f"== Legacy ==\nA bench bears the name. The [[Bench]] is green.",
        item_id=item_id,
        views=views,
    )
    return world.item(item_id, name, article=name, claims=[("P31", HUMAN), *claims])


OUTCOME: Outcome = {
    ("Q501", _P, LANTERNIST): Kept("static", (2,), CLOUD_CARTOGRAPHER, (100, 900)),  # no source, qualifier, rank
    ("Q502", _P, BELL_TUNER): Kept("temporal", (2, 3), TIDE_CLERK, (50, 120)),
    ("Q503", _P, LANTERNIST): Kept("static", (1,), BELL_TUNER, (10, 900)),  # the most similar is true of her as well
    ("Q505", _P, LANTERNIST): Kept("static", (1,), CLOUD_CARTOGRAPHER, (10, 900)),  # what was undone is a birthplace
    ("Q507", _P, LANTERNIST): Left(reasons.NOT_A_VALUE),
    ("Q508", _P, LANTERNIST): Left(reasons.NOT_A_VALUE),
    # What is deprecated was changed as well, and is no wrong answer.
    ("Q530", _P, LANTERNIST): Kept("temporal", (1, 2), BELL_TUNER, (10, 900)),
    ("Q509", _P, MOSS_PAINTER): Kept("static", (2,), BELL_TUNER, (10, None)),  # 3 changed the birthplace alone
    ("Q511", _P, CLOUD_CARTOGRAPHER): Kept("temporal", (2, 4), LANTERNIST, (10, 300), hidden=(3,)),
    ("Q529", _P, LANTERNIST): Kept("static", (2,), CLOUD_CARTOGRAPHER, (10, 900), hidden=(1,)),  # there at first sight
    ("Q513", _P, TIDE_REGISTRAR): Kept("static", (1,), EMBEDDINGS, (10, 60), became=("Q513", TIDE_CLERK)),
    ("Q513", _P, TIDE_CLERK): Left(reasons.DOUBLED),  # the same fact by its new name
    ("Q514", _P, TIDE_REGISTRAR): Kept("static", (1,), EMBEDDINGS, (10, 60), became=("Q514", TIDE_CLERK)),
    ("Q515", _P, LANTERNIST): Kept("static", (2,), CLOUD_CARTOGRAPHER, (10, 900), became=("Q516", LANTERNIST)),
    ("Q517", _P, DELETED_TRADE): Left(reasons.OBJECT_MISSING),
    ("Q518", _P, LANTERNIST): Left(reasons.SUBJECT_MISSING),
    ("Q519", _P, LANTERNIST): Left(reasons.SUBJECT_UNNAMED),
    ("Q520", _P, LANTERNIST): Kept("static", (1,), CLOUD_CARTOGRAPHER, (10, 900)),
    ("Q521", _P, UNNAMED_TRADE): Left(reasons.OBJECT_UNNAMED),
    ("Q522", _P, LANTERNIST): Left(reasons.NO_PAGE),
    ("Q523", _P, LANTERNIST): Left(reasons.PAGE_MISSING),
    ("Q531", _P, LANTERNIST): Left(reasons.PAGE_OF_ANOTHER),
    ("Q524", _P, LANTERNIST): Left(reasons.PAGE_WITHOUT_TEXT),
    ("Q525", _P, BELL_TUNER): Left(reasons.NOT_MENTIONED),  # neither a handbell tuner nor bell tuners are the word
    ("Q526", _P, LANTERNIST): Left(reasons.SLOT_IN_TEXT),
    ("Q527", _P, LANTERNIST): Kept("static", (1,), CLOUD_CARTOGRAPHER, (10, 900)),  # mentioned by an alias
    ("Q528", _P, LANTERNIST): Kept("static", (1,), CLOUD_CARTOGRAPHER, (10, 900), page="Abel Moved"),
}
"""What becomes of each fact: the revisions that count, the replacement, the views a month of subject and object."""
