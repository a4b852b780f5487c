"""Turtle terms for the graphs of tests, and small dumps."""

import gzip
from pathlib import Path

YAGO = "http://yago-knowledge.org/resource/"
SCHEMA = "http://schema.org/"
PREFIXES = {
    "yago": YAGO,
    "schema": SCHEMA,
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "wd": "http://www.wikidata.org/entity/",
}
HEAD = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items())

Triple = tuple[str, str, str]


def entity(name: str) -> str:
    """Return the entity with a name; YAGO writes signs other than ASCII letters and digits as numbers."""
    return "yago:" + "".join(
        sign if sign.isascii() and sign.isalnum() else "_" if sign == " " else f"_u{ord(sign):04X}" for sign in name
    )


def literal(value: str, *, language: str | None = None, datatype: str | None = None) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    text = '"' + "".join(escapes.get(sign, sign) for sign in value) + '"'
    return text + (f"@{language}" if language else f"^^{datatype}" if datatype else "")


ALL = "SELECT ?s ?p ?o WHERE { ?s ?p ?o } ORDER BY ?s ?p ?o"
TURTLE = HEAD + 'yago:Norway yago:capital yago:Oslo ; rdfs:label "Norway"@en , "Norge"@no ; yago:n 7 .\n'
TRIPLES = (
    f"<{YAGO}Norway> <{YAGO}capital> <{YAGO}Oslo> .\n"
    f'<{YAGO}Norway> <http://www.w3.org/2000/01/rdf-schema#label> "Norway"@en .\n'
    f'<{YAGO}Norway> <http://www.w3.org/2000/01/rdf-schema#label> "Norge"@no .\n'
    f'<{YAGO}Norway> <{YAGO}n> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
)


def write_dump(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return file
