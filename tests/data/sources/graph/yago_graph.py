"""A graph with YAGO's predicates: a few real countries and mountains, and invented countries, people and works.

The graph is the same in every run. It has names, shapes and values that a client may handle wrongly.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from swaymeter.data.catalog import Relation
from swaymeter.data.records import Fact
from swaymeter.data.sources.graph import yago
from swaymeter.data.sources.graph.dump import Dump, shared_dump
from swaymeter.data.sources.graph.sparql import Row, Rows, SparqlStore
from tests.data.sources.graph.turtle import HEAD, SCHEMA, YAGO, Triple, entity, literal

_ENDS: Mapping[str, tuple[tuple[str, ...], str, str]] = {
    "capital": ((YAGO + "capital",), "country", "city"),
    "officialLanguage": ((SCHEMA + "officialLanguage", YAGO + "officialLanguage"), "country", "language"),
    "location": ((SCHEMA + "location",), "place", "region"),
    "elevation": ((SCHEMA + "elevation",), "mountain", "quantity"),
    "birthDate": ((SCHEMA + "birthDate",), "person", "date"),
    "spouse": ((SCHEMA + "spouse",), "person", "person"),
    "memberOf": ((SCHEMA + "memberOf",), "person", "organization"),
    "award": ((SCHEMA + "award",), "person", "award"),
    "director": ((SCHEMA + "director",), "film", "person"),
    "author": ((SCHEMA + "author",), "book", "person"),
    "reverseDirector": ((SCHEMA + "director",), "person", "film"),
    "reverseAuthor": ((SCHEMA + "author",), "person", "book"),
}
RELATIONS: tuple[str, ...] = tuple(_ENDS)
"""The relations that the graph has facts of, by their names in the catalog."""

COUNTRIES = (
    ("Norway", "Oslo", ("Norwegian",)),
    ("Finland", "Helsinki", ("Finnish", "Swedish")),
    ("Peru", "Lima", ("Spanish",)),
    *((f"Country {number}", f"City {number}", (f"Tongue {number // 2}",)) for number in range(37)),
)
MOUNTAINS = (("Mount Everest", 8849), *((f"Peak {number}", 1000 + 37 * number) for number in range(19)))
GIVEN = (
    "Ada",
    "Bram",
    "Cleo",
    "Dov",
    "Elske",
    "Ferro",
    "Gilda",
    "Hesper",
    "Inka",
    "Jory",
    "Kaisa",
    "Lorn",
    "Mirel",
    "Nuno",
)
SURNAMES = (
    "Quillfeather",
    "Marrowby",
    "Tansenholt",
    "Ostrava-Pell",
    "Wexcombe",
    "Drumlanrick",
    "Ficklewood",
    "Zanderlo",
    "Birchgarth",
    "Pelloquin",
)
ADJECTIVES = ("Amber", "Broken", "Distant", "Eleventh", "Hollow", "Laughing")
NOUNS = (
    "Lantern",
    "Harbour",
    "Orchard",
    "Bicycle",
    "Winter",
    "Cartographer",
    "Staircase",
    "Telegram",
    "Comet",
    "Ferry",
)


def relation_named(name: str) -> Relation:
    """Return a relation of the graph with simple texts in place of the catalog's."""
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
    """Write the graph in Turtle, and return the number of its triples."""
    lines = list(dict.fromkeys(f"{subject} {predicate} {value} .\n" for subject, predicate, value in triples()))
    path.write_text(HEAD + "".join(lines), encoding="utf-8")
    return len(lines)


def triples() -> Iterator[Triple]:
    """Yield every triple of the graph in Turtle, and some triples twice."""
    people = [f"{given} {surname}" for surname in SURNAMES for given in GIVEN]
    yield from _countries()
    yield from _mountains()
    yield from _people(people)
    yield from _works(people)
    yield from nasty_names(people, f"{ADJECTIVES[0]} Society")
    yield from nasty_shapes(people, [row[0] for row in COUNTRIES])
    yield from nasty_values()


def _named(name: str, kind: str, number: int | None = None) -> Iterator[Triple]:
    yield entity(name), "rdf:type", kind
    yield entity(name), "rdfs:label", literal(name, language="en")
    if number is not None:
        yield entity(name), "owl:sameAs", f"wd:Q{990_000_000 + number}"


def _countries() -> Iterator[Triple]:
    yield entity("Oslo"), "schema:sameAs", literal("/m/05l64")
    yield entity("Oslo"), "owl:sameAs", "wd:Q990000001"
    for number, (country, capital, languages) in enumerate(COUNTRIES):
        yield from _named(country, "schema:Country", number)
        yield from _named(capital, "schema:City", 100 + number)
        yield entity(country), "schema:alternateName", literal(f"Land of {capital}", language="en")
        yield entity(country), "yago:capital", entity(capital)
        yield entity(capital), "schema:location", entity(country)
        for language in languages:
            yield from _named(f"{language} language", "schema:Language")
            predicate = "schema:officialLanguage" if number % 2 else "yago:officialLanguage"
            yield entity(country), predicate, entity(f"{language} language")


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
        node = entity(person)
        yield from _named(person, "schema:Person", 1000 + number)
        yield node, "rdfs:label", literal(person, language="de")
        birth = f"{1890 + number % 97}-{1 + number % 12:02d}-{1 + number % 28:02d}"
        yield node, "schema:birthDate", literal(birth, datatype="xsd:date")
        yield node, "schema:memberOf", entity(societies[number % len(societies)])
        yield node, "schema:award", entity(prizes[number % len(prizes)])
        if number % 5 == 0:
            yield node, "schema:award", entity(prizes[(number + 3) % len(prizes)])
        if number % 4 < 2:
            yield node, "schema:spouse", entity(people[number + 1 - 2 * (number % 4)])


def _works(people: Sequence[str]) -> Iterator[Triple]:
    titles = [f"The {adjective} {noun}" for noun in NOUNS for adjective in ADJECTIVES]
    for number, title in enumerate(titles):
        film, book = f"{title} (film)", f"{title} of {COUNTRIES[number % len(COUNTRIES)][1]}"
        yield from _named(film, "schema:Movie", 2000 + number)
        yield entity(film), "schema:director", entity(people[number % 30])
        yield from _named(book, "schema:Book", 3000 + number)
        yield entity(book), "schema:author", entity(people[30 + number % 30])


NASTY: Mapping[str, str] = {
    "quotes": 'Kit "Ace" O\'Neil',
    "braces": "{entity} {answer} {0} %s ${HOME}",
    "lines": "Line\nBreak\r\n\tTab",
    "backslashes": 'Back\\slash \\u0022 } "\\',
    "markup": "<b>Bold</b> &amp; <script>alert(1)</script>",
    "arabic": "فريدة الخيال",
    "hebrew": "דמיון בן דוגמה",
    "override": "Over\u202eride\u202c the\u200b Rainbow",
    "path": "../../etc/passwd",
    "drive": "C:\\Windows\\system32",
    "decomposed": "Ame\u0301lie Dupre\u0301",
    "control": "Be\u0007ll",
    "statement": "Robert'); DROP TABLE facts;--",
    "emoji": "Zoë 🎭 Example",
    "slot": "[ENTITY]",
}
"""Names in the graph, which `swaymeter.data.sources.graph.literals.plain` cleans."""

BIRTHS: Mapping[str, tuple[str, str | None]] = {
    "midnight": ("1879-03-14T00:00:00Z", "xsd:dateTime"),
    "noon": ("1879-03-14T12:30:00+01:00", "xsd:dateTime"),
    "year": ("1879", "xsd:gYear"),
    "year of YAGO": ("1879-01-01", "xsd:gYear"),
    "month": ("1879-03", "xsd:gYearMonth"),
    "before Christ": ("-0043-03-15", "xsd:date"),
    "year zero": ("0000", "xsd:gYear"),
    "no such day": ("1879-02-30", "xsd:date"),
    "no such month": ("1879-13-01", "xsd:date"),
    "words": ("around 1879", None),
}
HEIGHTS: Mapping[str, str] = {"bare": "xsd:decimal", "foot": "yago:Foot_u0028unit_u0029", "numbered": "wd:Q999999999"}


def nasty_names(people: Sequence[str], society: str) -> Iterator[Triple]:
    """Yield people, books and films with the nasty names."""
    for number, (kind, name) in enumerate(NASTY.items()):
        node, book, film = f"yago:Nasty_{kind}", f"yago:Nasty_book_{kind}", f"yago:Nasty_film_{kind}"
        yield node, "rdf:type", "schema:Person"
        yield node, "rdfs:label", literal(name, language="en")
        yield node, "schema:memberOf", entity(society)
        yield book, "rdf:type", "schema:Book"
        yield book, "rdfs:label", literal(f"{name} and {number}", language="en")
        yield book, "schema:author", node
        yield film, "rdfs:label", literal(f"Starring {name}", language="en")
        yield film, "schema:director", entity(people[number])


def nasty_shapes(people: Sequence[str], countries: Sequence[str]) -> Iterator[Triple]:
    """Yield shared and unusable names, values in place of entities, and an entity that is joined with itself."""
    yield "yago:Singapore", "rdfs:label", literal("Singapore", language="en")
    yield "yago:Singapore_city", "rdfs:label", literal("Singapore", language="en")
    yield "yago:Singapore", "yago:capital", "yago:Singapore_city"
    for number in (0, 1):
        yield f"yago:Newtown_{number}", "rdfs:label", literal("Newtown", language="en")
        yield f"yago:Newtown_{number}", "schema:location", entity(countries[number])
    yield "yago:Party_P", "rdfs:label", literal("The P Party", language="en")
    yield "yago:Party_P", "rdfs:label", literal("Party P", language="en")
    yield entity(people[0]), "schema:memberOf", "yago:Party_P"
    unusable = {
        "de": literal("Ohne englischen Namen", language="de"),
        "empty": literal("", language="en"),
        "blank": literal(" \n\t", language="en"),
        "long": literal("Long " * 80, language="en"),
    }
    for kind, label in unusable.items():
        yield f"yago:Unusable_{kind}", "rdfs:label", label
        yield f"yago:Unusable_{kind}", "schema:location", entity(countries[0])
        yield entity(people[1]), "schema:memberOf", f"yago:Unusable_{kind}"
    yield "yago:Unlabelled", "schema:location", entity(countries[0])
    yield "yago:Mul", "rdfs:label", literal("Mul Quillfeather", language="mul")
    yield "yago:Mul", "schema:spouse", entity(people[2])
    yield "yago:Honour_generic_instance", "rdf:type", "yago:Honour"
    yield "yago:Honour", "rdfs:label", literal("honour of the realm", language="en")
    yield entity(people[2]), "schema:award", "yago:Honour_generic_instance"
    yield entity(people[3]), "schema:spouse", entity(people[3])
    yield "yago:Nasty_film_path", "schema:director", "_:nobody"
    yield "_:somebody", "schema:director", entity(people[4])
    yield "yago:Nasty_film_path", "schema:director", literal("A name that is no entity", language="en")
    place = "<http://yago-knowledge.org/resource/M%C3%BCsli_Ünïcode>"
    yield place, "rdfs:label", literal("Müsli Ünïcode", language="en")
    yield place, "schema:location", entity(countries[2])


def nasty_values() -> Iterator[Triple]:
    """Yield valid and invalid dates and heights of every type."""
    for kind, (value, datatype) in BIRTHS.items():
        node = entity(f"Born {kind}")
        yield node, "rdfs:label", literal(f"Born {kind}", language="en")
        yield node, "schema:birthDate", literal(value, datatype=datatype)
    yield entity("Born words"), "schema:birthDate", literal("um 1879", language="de")
    for kind, datatype in HEIGHTS.items():
        node = entity(f"Height {kind}")
        yield node, "rdfs:label", literal(f"Height {kind}", language="en")
        yield node, "schema:elevation", literal("1200.50", datatype=datatype)


EVERY = 10_000
"""More pairs than any graph of the tests has."""


class Changed:
    """A store that changes the rows of another store; `change` may also raise an error.

    Attributes:
        queries: Queries in order of arrival.
    """

    def __init__(self, store: SparqlStore, change: Callable[[str, tuple[Row, ...]], tuple[Row, ...]]) -> None:
        self._store, self._change = store, change
        self.queries: list[str] = []

    @property
    def address(self) -> str:
        return self._store.address

    def select(self, query: str) -> Rows:
        self.queries.append(query)
        rows = self._store.select(query)
        return replace(rows, rows=self._change(query, rows.rows))


def graph(folder: Path, text: str) -> Dump:
    file = folder / "graph.ttl"
    file.write_text(HEAD + text, encoding="utf-8")
    return shared_dump([file], folder / "graphs")


def by_subject(store: SparqlStore, relation: str, *, seed: int = 1) -> dict[str, Fact]:
    return {fact.subject: fact for fact in yago.facts(store, relation_named(relation), pairs=EVERY, seed=seed).facts}


def without_source(facts: list[Fact]) -> list[Fact]:
    return [replace(fact, address=None, query=None, retrieved_at=None) for fact in facts]
