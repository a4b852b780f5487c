"""Small dumps."""

import gzip
from pathlib import Path

from tests.data.sources.graph.turtle import HEAD, YAGO

ALL = "SELECT ?s ?p ?o WHERE { ?s ?p ?o } ORDER BY ?s ?p ?o"
TURTLE = HEAD + 'yago:Norway yago:capital yago:Oslo ; rdfs:label "Norway"@en , "Norge"@no ; yago:n 7 .\n'
TRIPLES = (
    f"<{YAGO}Norway> <{YAGO}capital> <{YAGO}Oslo> .\n"
    f'<{YAGO}Norway> <http://www.w3.org/2000/01/rdf-schema#label> "Norway"@en .\n'
    f'<{YAGO}Norway> <http://www.w3.org/2000/01/rdf-schema#label> "Norge"@no .\n'
    f'<{YAGO}Norway> <{YAGO}n> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
)


def written(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return file
