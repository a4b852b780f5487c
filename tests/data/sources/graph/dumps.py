"""Small dumps, and what a folder of loaded ones holds."""

import gzip
from pathlib import Path

from swaymeter.data.sources.graph.dump import Dump
from swaymeter.data.sources.graph.sparql import Row
from swaymeter.data.storage.files import TEMPORARY
from tests.data.sources.graph.turtle import HEAD, YAGO

ALL = "SELECT ?s ?p ?o WHERE { ?s ?p ?o } ORDER BY ?s ?p ?o"
TURTLE = HEAD + 'yago:Norway yago:capital yago:Oslo ; rdfs:label "Norway"@en , "Norge"@no ; yago:n 7 .\n'
TRIPLES = (
    f"<{YAGO}Norway> <{YAGO}capital> <{YAGO}Oslo> .\n"
    f'<{YAGO}Norway> <http://www.w3.org/2000/01/rdf-schema#label> "Norway"@en .\n'
    f'<{YAGO}Norway> <http://www.w3.org/2000/01/rdf-schema#label> "Norge"@no .\n'
    f'<{YAGO}Norway> <{YAGO}n> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
)
QUADS = TRIPLES.replace(" .\n", " <http://a.example/graph> .\n")


def rows(dump: Dump, query: str = ALL) -> tuple[Row, ...]:
    return dump.select(query).rows


def written(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return file


def graphs(folder: Path) -> list[Path]:
    return list(folder.glob("graph-*"))


def unfinished(folder: Path) -> list[Path]:
    return list(folder.glob(f".*{TEMPORARY}"))


def flipped(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :]
