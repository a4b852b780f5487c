"""What the facts are about: kinds, occupations, towns and directors, what each is called and what each is like."""

from tests.data.sources.servers.wiki_world.state import World

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
    """Properties, kinds, and all objects of facts, with their articles and what they are like."""
    _properties(world)
    for kind, name in NAMES.items():
        world.item(kind, name, description=f"kind of thing: {name}")
    _occupations(world)
    _towns(world)
    _directors(world)


def _properties(world: World) -> None:
    named = {"P31": "instance of", "P279": "subclass of", "P19": "place of birth", "P106": "occupation"}
    for property_id, label in (named | {"P57": "director"}).items():
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
        named = aliases.get(item_id, ())
        description = f"invented trade of a {label}"
        kind = [("P31", OCCUPATION)]
        world.item(item_id, label, article=title, description=description, aliases=named, claims=kind)
        world.article(title, f"A '''{label}''' has an [[invented trade]].", item_id=item_id, views=views)
    painter = [("P31", OCCUPATION), ("P279", OCCUPATION)]
    world.item(MOSS_PAINTER, "moss painter", description="one who paints with moss", claims=painter)
    registrar = world.item(TIDE_REGISTRAR, "tide registrar", claims=[("P31", OCCUPATION)])
    registrar.merges_into(world.items[TIDE_CLERK])
    world.item(DELETED_TRADE, "kite notary", claims=[("P31", OCCUPATION)])
    world.wikidata.delete(DELETED_TRADE)
    world.item(UNNAMED_TRADE, "Wolkenzähler", language="de", claims=[("P31", OCCUPATION)])
    world.most_similar |= {
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
    world.most_similar |= {town: (hostile[place - 1],) for place, town in enumerate(hostile)}
    world.most_similar |= {
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
    world.most_similar |= {ILVA: (NAMESAKE, MAREK), MAREK: (ILVA, OSWIN), PERPETUA: (OSWIN,), NAMELESS: (MAREK, OSWIN)}
