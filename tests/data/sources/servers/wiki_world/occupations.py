"""People and their occupations: the edits and articles of each person, and the expected question or rejection."""

from swaymeter.data import reasons
from tests.data.sources.servers.wiki_world.expected import EMBEDDINGS, Outcome, Unusable, Usable
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
    _edited_in_bulk(world)
    _hidden(world)
    _merged_and_missing(world)
    _articles(world)


def _ordinary(world: World) -> None:
    adela = _person(world, "Q501", "Adela Fenwick", "lanternist", views=100)
    adela.add(_P, LANTERNIST)
    adela.cite(_P, LANTERNIST)
    adela.qualify(_P, LANTERNIST)
    adela.rank(_P, LANTERNIST, "preferred")
    adela.set_label("de", "Adela Fenwick")
    adela.edit_in_bulk(labels={"fr": "Adèle Fenwick"})

    bram = _person(world, "Q502", "Bram Okoto", "bell tuner", views=50)
    bram.add(_P, CLOUD_CARTOGRAPHER)
    bram.change(_P, CLOUD_CARTOGRAPHER, BELL_TUNER, addition=", see his memoirs")

    _person(world, "Q503", "Cora Ashdown", "lanternist", (_P, LANTERNIST), (_P, CLOUD_CARTOGRAPHER), views=10)


def _changed_back_and_forth(world: World) -> None:
    other_undone = _person(world, "Q505", "Edda Moss", "lanternist", (_P, LANTERNIST), views=10)
    other_undone.add("P19", QUILLHAVEN, user=PASSER_BY)
    other_undone.undo()

    removed = _person(world, "Q507", "Greta Vane", "lanternist")
    removed.add(_P, LANTERNIST)
    removed.remove(_P, LANTERNIST)

    deprecated = _person(world, "Q508", "Hollis Wren", "lanternist", (_P, LANTERNIST))
    deprecated.rank(_P, LANTERNIST, "deprecated")

    with_deprecated = _person(world, "Q530", "Ida Former", "lanternist", (_P, LANTERNIST), views=10)
    with_deprecated.add(_P, CLOUD_CARTOGRAPHER)
    with_deprecated.rank(_P, CLOUD_CARTOGRAPHER, "deprecated")


def _edited_in_bulk(world: World) -> None:
    bulk = _person(world, "Q509", "Imre Saltash", "moss painter", views=10)
    bulk.edit_in_bulk(added=[(_P, MOSS_PAINTER), ("P19", QUILLHAVEN)])
    summary = "/* wbeditentity-statements-multiple-properties-update:0||2 */"
    bulk.edit_in_bulk(added=[("P19", OSTREL)], removed=[("P19", QUILLHAVEN)], comment=summary)


def _hidden(world: World) -> None:
    in_the_middle = _person(world, "Q511", "Kasimir Bly", "cloud cartographer", views=10)
    in_the_middle.add(_P, LANTERNIST)
    in_the_middle.change(_P, LANTERNIST, MOSS_PAINTER, user=PASSER_BY)
    in_the_middle.hide()
    in_the_middle.change(_P, MOSS_PAINTER, CLOUD_CARTOGRAPHER)

    at_first = _person(world, "Q529", "Moritz Early", "lanternist", (_P, LANTERNIST), views=10)
    at_first.hide()
    at_first.set_label("de", "Moritz")


def _merged_and_missing(world: World) -> None:
    _person(world, "Q513", "Mina Corr", "tide clerk", (_P, TIDE_CLERK), views=10)
    _person(world, "Q514", "Nils Under", "tide clerk", (_P, TIDE_REGISTRAR), views=10)
    double = world.item("Q515", "O. Pell", claims=[("P31", HUMAN), (_P, LANTERNIST)])
    double.merge_into(_person(world, "Q516", "Orla Pell", "lanternist", views=10))
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
    claims = [("P31", HUMAN), (_P, LANTERNIST)]
    world.item("Q531", "Ada Elsewhere", article="Adela Fenwick", claims=claims)
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
    # Later edits add only a source, a qualifier and a rank.
    ("Q501", _P, LANTERNIST): Usable("static", (2,), CLOUD_CARTOGRAPHER, (100, 900)),
    ("Q502", _P, BELL_TUNER): Usable("temporal", (2, 3), TIDE_CLERK, (50, 120)),
    # Her other occupation is the most similar one, and is no wrong answer.
    ("Q503", _P, LANTERNIST): Usable("static", (1,), BELL_TUNER, (10, 900)),
    ("Q505", _P, LANTERNIST): Usable("static", (1,), CLOUD_CARTOGRAPHER, (10, 900)),  # a birthplace is undone
    ("Q507", _P, LANTERNIST): Unusable(reasons.NOT_A_VALUE),
    ("Q508", _P, LANTERNIST): Unusable(reasons.NOT_A_VALUE),
    # Her deprecated occupation counts as an edit, and is no wrong answer.
    ("Q530", _P, LANTERNIST): Usable("temporal", (1, 2), BELL_TUNER, (10, 900)),
    ("Q509", _P, MOSS_PAINTER): Usable("static", (2,), BELL_TUNER, (10, None)),  # revision 3 changes a birthplace
    ("Q511", _P, CLOUD_CARTOGRAPHER): Usable("temporal", (2, 4), LANTERNIST, (10, 300), hidden=(3,)),
    # The first readable revision already has the value.
    ("Q529", _P, LANTERNIST): Usable("static", (2,), CLOUD_CARTOGRAPHER, (10, 900), hidden=(1,)),
    ("Q513", _P, TIDE_REGISTRAR): Usable("static", (1,), EMBEDDINGS, (10, 60), current_ids=("Q513", TIDE_CLERK)),
    ("Q513", _P, TIDE_CLERK): Unusable(reasons.DOUBLED),  # the same fact under its current ids
    ("Q514", _P, TIDE_REGISTRAR): Usable("static", (1,), EMBEDDINGS, (10, 60), current_ids=("Q514", TIDE_CLERK)),
    ("Q515", _P, LANTERNIST): Usable("static", (2,), CLOUD_CARTOGRAPHER, (10, 900), current_ids=("Q516", LANTERNIST)),
    ("Q517", _P, DELETED_TRADE): Unusable(reasons.OBJECT_MISSING),
    ("Q518", _P, LANTERNIST): Unusable(reasons.SUBJECT_MISSING),
    ("Q519", _P, LANTERNIST): Unusable(reasons.SUBJECT_UNNAMED),
    ("Q520", _P, LANTERNIST): Usable("static", (1,), CLOUD_CARTOGRAPHER, (10, 900)),
    ("Q521", _P, UNNAMED_TRADE): Unusable(reasons.OBJECT_UNNAMED),
    ("Q522", _P, LANTERNIST): Unusable(reasons.NO_PAGE),
    ("Q523", _P, LANTERNIST): Unusable(reasons.PAGE_MISSING),
    ("Q531", _P, LANTERNIST): Unusable(reasons.PAGE_OF_ANOTHER),
    ("Q524", _P, LANTERNIST): Unusable(reasons.PAGE_WITHOUT_TEXT),
    ("Q525", _P, BELL_TUNER): Unusable(reasons.NOT_MENTIONED),  # "handbell tuner" and "bell tuners" do not count
    ("Q526", _P, LANTERNIST): Unusable(reasons.SLOT_IN_TEXT),
    ("Q527", _P, LANTERNIST): Usable("static", (1,), CLOUD_CARTOGRAPHER, (10, 900)),  # the text has an alias
    ("Q528", _P, LANTERNIST): Usable("static", (1,), CLOUD_CARTOGRAPHER, (10, 900), page="Abel Moved"),
}
"""The expected outcome of each fact."""
