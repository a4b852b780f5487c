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
    """A predicate of the graph, its triples, the classes of its subjects, and the relations that use it."""

    predicate: str
    triples: int
    subject_classes: tuple[str, ...]
    relations: tuple[str, ...]


def predicates_of_graph(contents: Contents, *, offline: bool) -> Iterator[PredicateUse]:
    """Every predicate of the graph that the study's facts come from, the most frequent first.

    Raises:
        UsageError: The facts come from another source.
        ServiceError: The graph cannot be queried.
    """
    study = contents.study
    access = study.access(contents.workspace.downloads, offline=offline)
    find = FACT_SOURCES[study.facts.source].graph if study.facts else None
    graph = find(study.facts, access) if find else None
    if graph is None:
        raise UsageError(f"the facts of study {study.name} do not come from a graph; use `source: yago`")
    users: dict[str, list[str]] = {}
    for relation in catalog.relations().values():
        for iri in relation.yago:
            users.setdefault(iri, []).append(relation.name)
    with contents.workspace.lock():
        try:
            for row in predicates(graph.open()):
                yield PredicateUse(row.iri, row.triples, row.subject_classes, tuple(users.get(row.iri, ())))
        finally:
            close_sessions()
