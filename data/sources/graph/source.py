"""YAGO as a source of facts: its public endpoint, any other SPARQL endpoint with its predicates, or dump files."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from swaymeter.data import catalog
from swaymeter.data.sources.access import Access, GraphName
from swaymeter.data.sources.graph import yago
from swaymeter.data.sources.graph.dump import Graph
from swaymeter.data.sources.graph.sparql import SparqlStore, Uri, bound, count, iri, is_iri
from swaymeter.data.sources.http.services import SERVICES
from swaymeter.data.sources.source import FactsOptions, FactSource, FetchedFacts, alternative

VERSION = 3
ADVICE = "without it, use `source: sample` or a `dump` of YAGO under `facts`, and set `absent_from: []`"


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate, its triples, and the classes that most of its subjects are of, the most frequent first."""

    iri: str
    triples: int
    subject_classes: tuple[str, ...]


def predicates(store: SparqlStore) -> Iterator[Predicate]:
    """Every predicate, the most frequent first, with at most three classes; ServiceTimeout means: use a dump."""
    counted = store.select("SELECT ?p (COUNT(*) AS ?n) WHERE { ?s ?p ?o } GROUP BY ?p ORDER BY DESC(?n) ?p")
    for row in counted.rows:
        predicate = bound(row, "p")
        if isinstance(predicate, Uri) and is_iri(predicate):
            yield Predicate(str(predicate), count(bound(row, "n")), _subject_classes(store, predicate))


def _subject_classes(store: SparqlStore, predicate: str) -> tuple[str, ...]:
    classes = store.select(
        f"SELECT ?c (COUNT(DISTINCT ?s) AS ?n) WHERE {{ ?s {iri(predicate)} ?o . ?s a ?c FILTER(isIRI(?c)) }} "
        "GROUP BY ?c ORDER BY DESC(?n) ?c LIMIT 3"
    )
    return tuple(str(bound(row, "c")) for row in classes.rows)


class YagoFacts(FactsOptions):
    """Facts of YAGO: its endpoint, another one (`services.yago.address`), or dump files."""

    called: ClassVar[str] = "YAGO"

    source: Literal["yago"] = "yago"
    """YAGO, a knowledge graph."""
    dump: tuple[str, ...] = ()
    """RDF files (.ttl, .nt, .nq, each maybe .gz) that are read in place of the endpoint."""
    pairs: int = Field(default=200, ge=2, le=1_000_000)
    """Pairs of subject and object that are drawn of each relation; at least `real_entities`."""
    citation: str = Field(default=yago.SOURCE, min_length=1)
    """The source that every fact names, where the endpoint or the dump is not YAGO itself."""
    licence: str = Field(default=yago.LICENCE, min_length=1)
    """The terms that every fact names, where the endpoint or the dump is not YAGO itself."""

    @classmethod
    def available_relations(cls) -> tuple[str, ...]:
        """The relations that YAGO has a predicate for."""
        return catalog.relations_of_yago()

    @model_validator(mode="after")
    def _enough_pairs(self) -> "YagoFacts":
        if self.pairs < self.real_entities:
            raise ValueError(f"pairs is {self.pairs}, fewer than the {self.real_entities} real_entities; raise `pairs`")
        return self


def _key(options: YagoFacts, relation: str, seed: int, access: Access) -> dict[str, Any]:
    entry = catalog.relation(relation)
    return {
        "source": "yago", "version": VERSION, "relation": relation,
        "graph": _graph(options, access).identity(), "predicates": list(entry.yago),
        "reverse": entry.reverse, "unit": entry.unit, "object_class": entry.object_class, "pairs": options.pairs,
        "seed": seed, "citation": options.citation, "licence": options.licence,
    }  # fmt: skip


def _fetch(options: YagoFacts, relation: str, seed: int, access: Access) -> FetchedFacts:
    with alternative("" if options.dump else ADVICE):
        return yago.facts(
            _graph(options, access).open(), catalog.relation(relation), pairs=options.pairs, seed=seed,
            source=options.citation, licence=options.licence,
        )  # fmt: skip


def _graph(options: YagoFacts, access: Access) -> Graph:
    return Graph("yago", access, tuple(Path(file).expanduser() for file in options.dump))


def _graphs(options: YagoFacts, access: Access) -> list[Graph]:
    is_public = not options.dump and access.address("yago") == SERVICES["yago"].address
    suitable: tuple[GraphName, ...] = ("yago", "wikidata") if is_public else ("yago",)
    names = suitable if options.absent_from is None else options.absent_from
    return [_graph(options, access) if name == "yago" else Graph(name, access) for name in names]


YAGO = FactSource("yago", YagoFacts, _key, _fetch, _graphs, _graph)
