"""Kinds, occupations, towns and directors with their names and similar items; births and films with expected outcomes.

Some names of people and towns are hostile.
"""

from swaymeter.data import reasons
from tests.data.sources.servers.wiki_world.action_api import escaped
from tests.data.sources.servers.wiki_world.expected import Outcome, Unusable, Usable
from tests.data.sources.servers.wiki_world.items import Item, World
from tests.data.sources.servers.wiki_world.pages import Views

OCCUPATION, TOWN, HUMAN, FILM, HILL, COLLECTIVE = "Q901", "Q902", "Q903", "Q904", "Q905", "Q906"
NAMES = {OCCUPATION: "occupation", TOWN: "town", HUMAN: "human", FILM: "film", HILL: "hill", COLLECTIVE: "collective"}
LANTERNIST, CLOUD_CARTOGRAPHER, BELL_TUNER, TIDE_CLERK, MOSS_PAINTER = "Q101", "Q102", "Q103", "Q104", "Q105"
TIDE_REGISTRAR, DELETED_TRADE, UNNAMED_TRADE = "Q106", "Q107", "Q108"
QUILLHAVEN, DUNMARROW, OSTREL, VELM, LOWER_OSTREL, MOUNT_OSTREL = "Q201", "Q202", "Q203", "Q204", "Q205", "Q206"
QUOTED, BRACED, HEBREW, MARKUP, PATH, REGEX = "Q211", "Q212", "Q213", "Q214", "Q215", "Q216"
ILVA, MAREK, PERPETUA, OSWIN, NAMELESS, NAMESAKE = "Q301", "Q302", "Q303", "Q304", "Q305", "Q306"

HOSTILE_TOWNS = {
    QUOTED: '"Quoted" O\'Port',
    BRACED: "{answer} {0} %s ${HOME}",
    HEBREW: "נמל הדמיון",
    MARKUP: "<b>Bold</b> & Co",
    PATH: "../../etc/passwd",
    REGEX: "C++ (\\Harbour) [sic].*",
}


def make_things(world: World) -> None:
    """Add the properties, kinds and all objects of facts, with their articles and similar items."""
    _properties(world)
    for kind, name in NAMES.items():
        world.item(kind, name, description=f"kind of thing: {name}")
    _occupations(world)
    _towns(world)
    _directors(world)


def _properties(world: World) -> None:
    labels = {"P31": "instance of", "P279": "subclass of", "P19": "place of birth", "P106": "occupation"}
    for property_id, label in (labels | {"P57": "director"}).items():
        world.property(property_id, label)
    world.property("P585", "point in time", "string")
    world.property("P854", "reference URL", "url")


def _occupations(world: World) -> None:
    aliases = {LANTERNIST: ("lamp keeper", "lantern lighter")}
    for item_id, label, views in (
        (LANTERNIST, "lanternist", 900),
        (CLOUD_CARTOGRAPHER, "cloud cartographer", 300),
        (BELL_TUNER, "bell tuner", 120),
        (TIDE_CLERK, "tide clerk", 60),
    ):
        title = label.capitalize()
        description = f"invented trade of a {label}"
        kind = [("P31", OCCUPATION)]
        world.item(
            item_id, label, article=title, description=description, aliases=aliases.get(item_id, ()), claims=kind
        )
        world.article(title, f"A '''{label}''' has an [[invented trade]].", item_id=item_id, views=views)
    painter = [("P31", OCCUPATION), ("P279", OCCUPATION)]
    world.item(MOSS_PAINTER, "moss painter", description="one who paints with moss", claims=painter)
    registrar = world.item(TIDE_REGISTRAR, "tide registrar", claims=[("P31", OCCUPATION)])
    registrar.merge_into(world.items[TIDE_CLERK])
    world.item(DELETED_TRADE, "kite notary", claims=[("P31", OCCUPATION)])
    world.wikidata.delete(DELETED_TRADE)
    world.item(UNNAMED_TRADE, "Wolkenzähler", language="de", claims=[("P31", OCCUPATION)])
    world.similar_items |= {
        LANTERNIST: ("P106", CLOUD_CARTOGRAPHER, BELL_TUNER),
        CLOUD_CARTOGRAPHER: (LANTERNIST, BELL_TUNER),
        BELL_TUNER: (DELETED_TRADE, BELL_TUNER, TIDE_CLERK),
        MOSS_PAINTER: (QUILLHAVEN, UNNAMED_TRADE, BELL_TUNER),
    }


def _towns(world: World) -> None:
    towns = {QUILLHAVEN: "Quillhaven", DUNMARROW: "Dunmarrow", OSTREL: "Ostrel", VELM: "Velm"}
    for item_id, label in towns.items():
        aliases = ("Port Quill",) if item_id == QUILLHAVEN else ()
        description = "invented town on the coast"
        kind = [("P31", TOWN)]
        world.item(item_id, label, article=label, description=description, aliases=aliases, claims=kind)
        text = f"'''{label}''' is an invented town on the coast of [[Nowhere]]."
        world.article(label, text, item_id=item_id, views={QUILLHAVEN: 240}.get(item_id, 80))
    world.item(LOWER_OSTREL, "Lower Ostrel", description="invented town under a hill", claims=[("P31", TOWN)])
    world.item(MOUNT_OSTREL, "Hollow Tor", description="invented hill over a town", claims=[("P31", HILL)])
    for item_id, label in HOSTILE_TOWNS.items():
        world.item(item_id, label, description="invented town of a difficult name", claims=[("P31", TOWN)])
    hostile = tuple(HOSTILE_TOWNS)
    world.similar_items |= {town: (hostile[index - 1],) for index, town in enumerate(hostile)}
    world.similar_items |= {
        QUILLHAVEN: (DUNMARROW, OSTREL),
        OSTREL: ("P19", MOUNT_OSTREL, LOWER_OSTREL, OSTREL, DUNMARROW),
        DUNMARROW: (VELM,),
    }


def _directors(world: World) -> None:
    for item_id, label in {
        ILVA: "Ilva Thornquist",
        MAREK: "Marek Dovelund",
        PERPETUA: "Perpetua Naxley",
        OSWIN: "Oswin Galt",
    }.items():
        world.item(item_id, label, article=label, description="invented director of films", claims=[("P31", HUMAN)])
        world.article(label, f"'''{label}''' directs films.", item_id=item_id, views=40)
    world.item(NAMESAKE, "Thornquist the Younger", aliases=["ILVA THORNQUIST"], claims=[("P31", HUMAN)])
    world.item(NAMELESS, "The Nameless Collective", description="a group of directors", claims=[("P31", COLLECTIVE)])
    world.similar_items |= {ILVA: (NAMESAKE, MAREK), MAREK: (ILVA, OSWIN), PERPETUA: (OSWIN,), NAMELESS: (MAREK, OSWIN)}


BORN = "P19"

HOSTILE_PEOPLE = {
    "Q551": ('Kit "Ace" O\'Nim', 'Kit "Ace" O\'Nim', QUOTED),
    "Q552": ("{subject} {0} {{x}}", "Braces (poet)", BRACED),
    "Q553": ("فريدة الخيال", "فريدة الخيال", HEBREW),
    "Q554": ("<script>alert(1)</script>", "Bold & Co? 50%/2+2", MARKUP),
    "Q555": ("../../../secret/x", "Etc/passwd.../x", PATH),
    "Q556": ("Line\nBreak\r\n\tTab", "Line break; DROP TABLE facts", REGEX),
}
"""The label, the title of the article and the town of birth of each person, by the id of the item."""


def make_births(world: World) -> None:
    """Add all people with a place of birth, in the order of `OUTCOME`."""
    for item_id, (label, title, town) in HOSTILE_PEOPLE.items():
        world.item(item_id, label, article=title, claims=[("P31", HUMAN), (BORN, town)])
        name = " ".join(label.split())
        text = f"{name} was born in {HOSTILE_TOWNS[town]} and stayed there. The rest is silence."
        world.article(title, escaped(text), item_id=item_id, views=12)
    world.item("Q557", "Out There", article="../../etc/passwd", claims=[("P31", HUMAN), (BORN, QUILLHAVEN)])
    world.item("Q558", "Ansel Brook", article="Ansel Brook", claims=[("P31", HUMAN), (BORN, OSTREL)])
    text = "'''Ansel Brook''' sang.\nHe was born in [[Ostrel]], not in Lower Ostrel, in winter. He never said why."
    world.article("Ansel Brook", text, item_id="Q558", views=Views(60, interval=3))
    moved = world.item("Q559", "Berta Quay", article="Berta Quay", claims=[("P31", HUMAN)])
    moved.add(BORN, DUNMARROW)
    moved.change(BORN, DUNMARROW, QUILLHAVEN)
    text = "'''Berta Quay''' was born in [[Quillhaven|Port Quill]]. QUILLHAVEN made her a citizen."
    world.article("Berta Quay", text, item_id="Q559")
    world.items[DUNMARROW].add(BORN, DUNMARROW, user="Danbot")


DIRECTOR = "P57"


def make_films(world: World) -> None:
    paper = _film(world, "Q401", "The Paper Lighthouse", "Ilva Thornquist")
    paper.edit_in_bulk(added=[(DIRECTOR, ILVA)], labels={"fr": "Le Phare de papier"})

    ledger = _film(world, "Q402", "The Salt Ledger", "Marek Dovelund")
    ledger.add(DIRECTOR, PERPETUA)
    ledger.change(DIRECTOR, PERPETUA, MAREK)
    ledger.cite(DIRECTOR, MAREK)

    _film(world, "Q403", "Nobody's Picture", "The Nameless Collective").add(DIRECTOR, NAMELESS)

    unknown = _film(world, "Q404", "A Year of Fridays", "Oswin Galt")
    unknown.add(DIRECTOR, "somevalue")
    unknown.add(DIRECTOR, OSWIN)
    unknown.remove(DIRECTOR, "somevalue")

    _film(world, "Q405", "Two Doors Down", "Perpetua Naxley").add(DIRECTOR, PERPETUA)


def _film(world: World, item_id: str, title: str, director: str) -> Item:
    text = f"''{title}'' is a film that [[{director}]] directed. It was shown for one night."
    world.article(title, text, item_id=item_id, views=30)
    return world.item(item_id, title, article=title, claims=[("P31", FILM)])


OUTCOME: Outcome = {
    ("Q551", BORN, QUOTED): Usable("static", (1,), REGEX, (12, None), page='Kit "Ace" O\'Nim'),
    ("Q552", BORN, BRACED): Usable("static", (1,), QUOTED, (12, None), page="Braces (poet)"),
    ("Q553", BORN, HEBREW): Usable("static", (1,), BRACED, (12, None), page="فريدة الخيال"),
    ("Q554", BORN, MARKUP): Usable("static", (1,), HEBREW, (12, None), page="Bold & Co? 50%/2+2"),
    ("Q555", BORN, PATH): Usable("static", (1,), MARKUP, (12, None), page="Etc/passwd.../x"),
    ("Q556", BORN, REGEX): Usable("static", (1,), PATH, (12, None), page="Line break; DROP TABLE facts"),
    ("Q557", BORN, QUILLHAVEN): Unusable(reasons.PAGE_MISSING),  # no title may be ../../etc/passwd
    # Unusable similar items come first: a property, a hill, a town whose name has the answer, and the answer itself.
    # The article has views in every third month.
    ("Q558", BORN, OSTREL): Usable("static", (1,), DUNMARROW, (20, 80)),
    ("Q559", BORN, QUILLHAVEN): Usable("temporal", (2, 3), DUNMARROW, (0, 240)),  # no views of her article
    (DUNMARROW, BORN, DUNMARROW): Unusable(reasons.OBJECT_IS_SUBJECT),
    ("Q401", DIRECTOR, ILVA): Usable("static", (2,), MAREK, (30, 40)),  # the most similar item is a namesake
    ("Q402", DIRECTOR, MAREK): Usable("temporal", (2, 3), ILVA, (30, 40)),
    ("Q403", DIRECTOR, NAMELESS): Unusable(reasons.NO_REPLACEMENT),  # there is no other collective
    ("Q404", DIRECTOR, OSWIN): Usable("temporal", (2, 3, 4), "by embeddings", (30, 40)),
    ("Q405", DIRECTOR, PERPETUA): Usable("static", (2,), OSWIN, (30, 40)),
}
"""The expected outcome of each fact."""
