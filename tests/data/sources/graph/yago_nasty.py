"""What a graph may hold and a client must bear, in YAGO's words: names, shapes and values that go wrong."""

from collections.abc import Iterator, Mapping, Sequence

from tests.data.sources.graph.turtle import Triple, entity, literal

NASTY: Mapping[str, str] = {
    "quotes": "Kit \"Ace\" O'Neil",
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
}  # fmt: skip
"""Names as the graph has them; what becomes of them: `swaymeter.data.sources.graph.literals.plain`."""

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
    """People, books and films of every nasty name."""
    for number, (kind, name) in enumerate(NASTY.items()):
        me, book, film = f"yago:Nasty_{kind}", f"yago:Nasty_book_{kind}", f"yago:Nasty_film_{kind}"
        yield me, "rdf:type", "schema:Person"
        yield me, "rdfs:label", literal(name, language="en")
        yield me, "schema:memberOf", entity(society)
        yield book, "rdf:type", "schema:Book"
        yield book, "rdfs:label", literal(f"{name} and {number}", language="en")
        yield book, "schema:author", me
        yield film, "rdfs:label", literal(f"Starring {name}", language="en")
        yield film, "schema:director", entity(people[number])


def nasty_shapes(people: Sequence[str], countries: Sequence[str]) -> Iterator[Triple]:
    """Names that two share or nobody can use, entities that are none, an entity joined with itself."""
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
    """Dates and heights of every type, sound and not."""
    for kind, (value, datatype) in BIRTHS.items():
        me = entity(f"Born {kind}")
        yield me, "rdfs:label", literal(f"Born {kind}", language="en")
        yield me, "schema:birthDate", literal(value, datatype=datatype)
    yield entity("Born words"), "schema:birthDate", literal("um 1879", language="de")
    for kind, datatype in HEIGHTS.items():
        me = entity(f"Height {kind}")
        yield me, "rdfs:label", literal(f"Height {kind}", language="en")
        yield me, "schema:elevation", literal("1200.50", datatype=datatype)
