"""A graph in YAGO's words, the same every time: countries and mountains as they are, people and works made up.

Among them is everything that a graph may hold and a client must bear (`yago_nasty`).
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from swaymeter.data.catalog import Relation
from tests.data.sources.graph.turtle import HEAD, SCHEMA, YAGO, Triple, entity, literal
from tests.data.sources.graph.yago_nasty import nasty_names, nasty_shapes, nasty_values

_ENDS: Mapping[str, tuple[tuple[str, ...], str, str]] = {
    "capital": ((YAGO + "capital",), "country", "city"),
    "officialLanguage": ((SCHEMA + "officialLanguage", YAGO + "officialLanguage"), "country", "language"),
    "populationNumber": ((SCHEMA + "populationNumber", YAGO + "populationNumber"), "country", "number"),
    "location": ((SCHEMA + "location",), "place", "region"),
    "elevation": ((SCHEMA + "elevation",), "mountain", "quantity"),
    "birthPlace": ((SCHEMA + "birthPlace",), "person", "city"),
    "deathPlace": ((SCHEMA + "deathPlace",), "person", "city"),
    "birthDate": ((SCHEMA + "birthDate",), "person", "date"),
    "nationality": ((SCHEMA + "nationality",), "person", "country"),
    "spouse": ((SCHEMA + "spouse",), "person", "person"),
    "children": ((SCHEMA + "children",), "person", "person"),
    "memberOf": ((SCHEMA + "memberOf",), "person", "organization"),
    "award": ((SCHEMA + "award",), "person", "award"),
    "director": ((SCHEMA + "director",), "film", "person"),
    "actor": ((SCHEMA + "actor",), "film", "person"),
    "author": ((SCHEMA + "author",), "book", "person"),
    "founder": ((SCHEMA + "founder",), "company", "person"),
    "manufacturer": ((SCHEMA + "manufacturer",), "product", "company"),
    "recordLabel": ((SCHEMA + "recordLabel",), "musician", "recordLabel"),
    "reverseCapital": ((YAGO + "capital",), "city", "country"),
    "reverseDirector": ((SCHEMA + "director",), "person", "film"),
    "reverseAuthor": ((SCHEMA + "author",), "person", "book"),
}
RELATIONS: tuple[str, ...] = tuple(_ENDS)
"""The relations that the graph has facts of, by their names in the catalog."""

COUNTRIES = (
    ("Norway", "Oslo", ("Norwegian",), 5_500_000), ("Sweden", "Stockholm", ("Swedish",), 10_500_000),
    ("Denmark", "Copenhagen", ("Danish",), 5_900_000), ("Finland", "Helsinki", ("Finnish", "Swedish"), 5_600_000),
    ("Iceland", "Reykjavík", ("Icelandic",), 380_000), ("Estonia", "Tallinn", ("Estonian",), 1_370_000),
    ("Latvia", "Riga", ("Latvian",), 1_880_000), ("Lithuania", "Vilnius", ("Lithuanian",), 2_870_000),
    ("Poland", "Warsaw", ("Polish",), 37_000_000), ("Germany", "Berlin", ("German",), 84_000_000),
    ("Austria", "Vienna", ("German",), 9_100_000), ("France", "Paris", ("French",), 68_000_000),
    ("Spain", "Madrid", ("Spanish",), 48_000_000), ("Portugal", "Lisbon", ("Portuguese",), 10_600_000),
    ("Italy", "Rome", ("Italian",), 59_000_000), ("Malta", "Valletta", ("Maltese", "English"), 540_000),
    ("Greece", "Athens", ("Greek",), 10_400_000), ("Cyprus", "Nicosia", ("Greek", "Turkish"), 920_000),
    ("Bulgaria", "Sofia", ("Bulgarian",), 6_400_000), ("Romania", "Bucharest", ("Romanian",), 19_000_000),
    ("Hungary", "Budapest", ("Hungarian",), 9_600_000), ("Slovenia", "Ljubljana", ("Slovene",), 2_100_000),
    ("Croatia", "Zagreb", ("Croatian",), 3_900_000), ("Ireland", "Dublin", ("Irish", "English"), 5_300_000),
    ("Turkey", "Ankara", ("Turkish",), 85_000_000), ("Egypt", "Cairo", ("Arabic",), 112_000_000),
    ("Tunisia", "Tunis", ("Arabic",), 12_000_000), ("Kenya", "Nairobi", ("Swahili", "English"), 55_000_000),
    ("Ethiopia", "Addis Ababa", ("Amharic",), 126_000_000), ("Ghana", "Accra", ("English",), 34_000_000),
    ("Japan", "Tokyo", ("Japanese",), 124_000_000), ("Mongolia", "Ulaanbaatar", ("Mongolian",), 3_400_000),
    ("Thailand", "Bangkok", ("Thai",), 71_000_000), ("Vietnam", "Hanoi", ("Vietnamese",), 100_000_000),
    ("Peru", "Lima", ("Spanish",), 34_000_000), ("Chile", "Santiago", ("Spanish",), 19_600_000),
    ("Uruguay", "Montevideo", ("Spanish",), 3_400_000), ("Cuba", "Havana", ("Spanish",), 11_000_000),
    ("Jamaica", "Kingston", ("English",), 2_800_000), ("Australia", "Canberra", ("English",), 26_600_000),
)  # fmt: skip
MOUNTAINS = (
    ("Mount Everest", 8849), ("K2", 8611), ("Kangchenjunga", 8586), ("Lhotse", 8516), ("Makalu", 8485),
    ("Broad Peak", 8051), ("Dhaulagiri", 8167), ("Manaslu", 8163), ("Nanga Parbat", 8126), ("Annapurna", 8091),
    ("Aconcagua", 6961), ("Denali", 6190), ("Kilimanjaro", 5895), ("Mount Elbrus", 5642), ("Matterhorn", 4478),
    ("Mount Fuji", 3776), ("Galdhøpiggen", 2469), ("Ben Nevis", 1345), ("Snæfellsjökull", 1446), ("Snowdon", 1085),
)  # fmt: skip
GIVEN = (
    "Ada", "Bram", "Cleo", "Dov", "Elske", "Ferro", "Gilda", "Hesper", "Inka", "Jory", "Kaisa", "Lorn", "Mirel", "Nuno",
)  # fmt: skip
SURNAMES = (
    "Quillfeather", "Marrowby", "Tansenholt", "Ostrava-Pell", "Wexcombe", "Drumlanrick", "Ficklewood", "Zanderlo",
    "Birchgarth", "Pelloquin",
)  # fmt: skip
ADJECTIVES = ("Amber", "Broken", "Distant", "Eleventh", "Hollow", "Laughing")
NOUNS = (
    "Lantern", "Harbour", "Orchard", "Bicycle", "Winter", "Cartographer", "Staircase", "Telegram", "Comet", "Ferry",
)  # fmt: skip


def relation_named(name: str) -> Relation:
    """The relation as the catalog has it, with texts that stand in for the catalog's."""
    predicates, subject_class, object_class = _ENDS[name]
    return Relation(
        name=name,
        wikidata=None,
        yago=predicates,
        subject_class=subject_class,
        object_class=object_class,
        open=("Q: What belongs to {entity}?\nA:", "To {entity} belongs"),
        closed=("Q: Does {answer} belong to {entity}?\nA:", "Q: Is it {answer} that belongs to {entity}?\nA:"),
        contexts={
            "base": ("{answer} belongs to {entity}.\n",),
            "assertive": ("Without any doubt, {answer} belongs to {entity}.\n",),
            "negation": ("{answer} does not belong to {entity}.\n",),
        },
        reverse=name.startswith("reverse"),
        unit="metres" if name == "elevation" else None,
    )


def write_graph(path: Path) -> int:
    """Writes the graph in Turtle; returns how many triples it has."""
    lines = list(dict.fromkeys(f"{subject} {predicate} {value} .\n" for subject, predicate, value in triples()))
    path.write_text(HEAD + "".join(lines), encoding="utf-8")
    return len(lines)


def triples() -> Iterator[Triple]:
    """Subject, predicate and object of every triple, in Turtle; some come twice."""
    people = [f"{given} {surname}" for surname in SURNAMES for given in GIVEN]
    countries, cities = [row[0] for row in COUNTRIES], [row[1] for row in COUNTRIES]
    yield from _countries()
    yield from _mountains()
    yield from _people(people)
    yield from _works(people)
    yield from nasty_names(people, cities, f"{ADJECTIVES[0]} Society")
    yield from nasty_shapes(people, countries)
    yield from nasty_values()


def _named(name: str, kind: str, number: int | None = None) -> Iterator[Triple]:
    yield entity(name), "rdf:type", kind
    yield entity(name), "rdfs:label", literal(name, language="en")
    if number is not None:
        yield entity(name), "owl:sameAs", f"wd:Q{990_000_000 + number}"


def _countries() -> Iterator[Triple]:
    yield entity("Oslo"), "schema:sameAs", literal("/m/05l64")
    yield entity("Oslo"), "owl:sameAs", "wd:Q990000001"
    for number, (country, capital, languages, population) in enumerate(COUNTRIES):
        yield from _named(country, "schema:Country", number)
        yield from _named(capital, "schema:City", 100 + number)
        yield entity(country), "schema:alternateName", literal(f"Land of {capital}", language="en")
        yield entity(country), "yago:capital", entity(capital)
        yield entity(capital), "schema:location", entity(country)
        for language in languages:
            yield from _named(f"{language} language", "schema:Language")
            predicate = "schema:officialLanguage" if number % 2 else "yago:officialLanguage"
            yield entity(country), predicate, entity(f"{language} language")
        yield entity(country), "yago:populationNumber", literal(f"+{population}", datatype="xsd:decimal")


def _mountains() -> Iterator[Triple]:
    yield "yago:Metre", "rdf:type", "yago:UnitOfLength"
    yield "yago:Metre", "rdfs:label", literal("metre", language="en")
    for number, (mountain, height) in enumerate(MOUNTAINS):
        yield from _named(mountain, "schema:Mountain", 200 + number)
        yield entity(mountain), "schema:elevation", literal(f"+{height}", datatype="yago:Metre")


def _people(people: Sequence[str]) -> Iterator[Triple]:
    societies = [f"{adjective} Society" for adjective in ADJECTIVES]
    prizes = [f"{noun} Prize" for noun in NOUNS]
    for society in societies:
        yield from _named(society, "schema:Organization")
    for prize in prizes:
        yield from _named(prize, "yago:Award")
    for number, person in enumerate(people):
        me = entity(person)
        yield from _named(person, "schema:Person", 1000 + number)
        yield me, "rdfs:label", literal(person, language="de")
        yield me, "schema:birthPlace", entity(COUNTRIES[number % len(COUNTRIES)][1])
        yield me, "schema:nationality", entity(COUNTRIES[(7 * number + 3) % len(COUNTRIES)][0])
        birth = f"{1890 + number % 97}-{1 + number % 12:02d}-{1 + number % 28:02d}"
        yield me, "schema:birthDate", literal(birth, datatype="xsd:date")
        yield me, "schema:memberOf", entity(societies[number % len(societies)])
        yield me, "schema:award", entity(prizes[number % len(prizes)])
        if number % 5 == 0:
            yield me, "schema:award", entity(prizes[(number + 3) % len(prizes)])
        if number % 2:
            yield me, "schema:deathPlace", entity(COUNTRIES[(7 * number) % len(COUNTRIES)][1])
        if number % 4 < 2:
            yield me, "schema:spouse", entity(people[number + 1 - 2 * (number % 4)])
        if number < 60:
            yield me, "schema:children", entity(people[number + 80])


def _works(people: Sequence[str]) -> Iterator[Triple]:
    titles = [f"The {adjective} {noun}" for noun in NOUNS for adjective in ADJECTIVES]
    for number, title in enumerate(titles):
        film, book = f"{title} (film)", f"{title} of {COUNTRIES[number % len(COUNTRIES)][1]}"
        yield from _named(film, "schema:Movie", 2000 + number)
        yield entity(film), "schema:director", entity(people[number % 30])
        for actor in range(2 + number % 2):
            yield entity(film), "schema:actor", entity(people[(3 * number + 11 * actor) % len(people)])
        yield from _named(book, "schema:Book", 3000 + number)
        yield entity(book), "schema:author", entity(people[30 + number % 30])
    for number in range(30):
        company = f"{SURNAMES[number % 10]} {('Motors', 'Instruments', 'Optics')[number // 10]}"
        band = f"The {ADJECTIVES[number % 6]} {NOUNS[number % 10]}s"
        yield from _named(company, "schema:Corporation", 4000 + number)
        yield entity(company), "schema:founder", entity(people[60 + number])
        yield entity(company), "schema:location", entity(COUNTRIES[number][1])
        yield from _named(f"{company} Model {number}", "schema:Product")
        yield entity(f"{company} Model {number}"), "schema:manufacturer", entity(company)
        yield from _named(band, "schema:MusicGroup")
        yield from _named(f"{NOUNS[number % 8]} Records", "schema:Organization")
        yield entity(band), "schema:recordLabel", entity(f"{NOUNS[number % 8]} Records")
