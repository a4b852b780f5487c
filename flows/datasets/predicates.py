"""The predicates of the graph that a study's facts come from, and the relations of the catalog that use them."""

from collections.abc import Iterator
from dataclasses import dataclass

from data import catalog
from data.errors import UsageError
from data.sources.graph.predicates import predicates
from data.sources.http.shared import close_sessions
from data.sources.registry import FACT_SOURCES
from flows.stages.contents import Contents


@dataclass(frozen=True)
class PredicateUse:
    predicate: str
    triples: int
    subject_classes: tuple[str, ...]
    relations: tuple[str, ...]


def predicates_of_graph(contents: Contents, *, offline: bool) -> Iterator[PredicateUse]:
    """Every predicate of the graph, the most frequent first; UsageError where the facts come from another source."""
    study = contents.study
    access = study.access(contents.workspace.downloads, offline=offline)
    find = FACT_SOURCES[study.facts.source].graph if study.facts else None
    graph = find(study.facts, access) if find else None
    if graph is None:
        raise UsageError(f"the facts of study {study.name} do not come from a graph; use `source: yago`")
    relations = catalog.relations().values()
    with contents.workspace.lock():
        try:
            for row in predicates(graph.open()):
                users = tuple(relation.name for relation in relations if row.iri in relation.yago)
                yield PredicateUse(row.iri, row.triples, row.subject_classes, users)
        finally:
            close_sessions()
