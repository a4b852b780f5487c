"""Which predicates a graph has, how often, and of which classes their subjects are."""

from collections.abc import Iterator
from dataclasses import dataclass

from data.sources.graph.sparql import SparqlStore, Uri, bound, count, iri, is_iri


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
