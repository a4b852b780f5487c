"""A graph in YAGO's words, the same every time: countries and mountains as they are, people and works made up.

Among them is everything that a graph may hold and a client must bear (`yago_nasty`).
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
from tests.data.sources.graph.yago_nasty import nasty_names, nasty_shapes, nasty_values

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
    ("Norway", "Oslo", ("Norwegian",)), ("Finland", "Helsinki", ("Finnish", "Swedish")), ("Peru", "Lima", ("Spanish",)),
    *((f"Country {number}", f"City {number}", (f"Tongue {number // 2}",)) for number in range(37)),
)  # fmt: skip
MOUNTAINS = (("Mount Everest", 8849), *((f"Peak {number}", 1000 + 37 * number) for number in range(19)))
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
        name=name, wikidata=None, yago=predicates, subject_class=subject_class, object_class=object_class,
        open=("Q: What belongs to {entity}?\nA:", "To {entity} belongs"),
        closed=("Q: Does {answer} belong to {entity}?\nA:", "Q: Is it {answer} that belongs to {entity}?\nA:"),
        contexts={
            "base": ("{answer} belongs to {entity}.\n",),
            "assertive": ("Without any doubt, {answer} belongs to {entity}.\n",),
            "negation": ("{answer} does not belong to {entity}.\n",),
        },
        reverse=name.startswith("reverse"), unit="metres" if name == "elevation" else None,
    )  # fmt: skip


def write_graph(path: Path) -> int:
    """Writes the graph in Turtle; returns how many triples it has."""
    lines = list(dict.fromkeys(f"{subject} {predicate} {value} .\n" for subject, predicate, value in triples()))
    path.write_text(HEAD + "".join(lines), encoding="utf-8")
    return len(lines)


def triples() -> Iterator[Triple]:
    """Subject, predicate and object of every triple, in Turtle; some come twice."""
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
        me = entity(person)
        yield from _named(person, "schema:Person", 1000 + number)
        yield me, "rdfs:label", literal(person, language="de")
        birth = f"{1890 + number % 97}-{1 + number % 12:02d}-{1 + number % 28:02d}"
        yield me, "schema:birthDate", literal(birth, datatype="xsd:date")
        yield me, "schema:memberOf", entity(societies[number % len(societies)])
        yield me, "schema:award", entity(prizes[number % len(prizes)])
        if number % 5 == 0:
            yield me, "schema:award", entity(prizes[(number + 3) % len(prizes)])
        if number % 4 < 2:
            yield me, "schema:spouse", entity(people[number + 1 - 2 * (number % 4)])


def _works(people: Sequence[str]) -> Iterator[Triple]:
    titles = [f"The {adjective} {noun}" for noun in NOUNS for adjective in ADJECTIVES]
    for number, title in enumerate(titles):
        film, book = f"{title} (film)", f"{title} of {COUNTRIES[number % len(COUNTRIES)][1]}"
        yield from _named(film, "schema:Movie", 2000 + number)
        yield entity(film), "schema:director", entity(people[number % 30])
        yield from _named(book, "schema:Book", 3000 + number)
        yield entity(book), "schema:author", entity(people[30 + number % 30])


EVERY = 10_000
"""More pairs than any graph of the tests has."""


class Changed:
    """A store whose answers are changed on their way; `change` may also raise. queries: what it was asked."""

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


def said(facts: list[Fact]) -> list[Fact]:
    return [replace(fact, address=None, query=None, retrieved_at=None) for fact in facts]
