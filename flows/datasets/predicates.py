"""The predicates of the graph that a study's facts come from, and the relations of the catalog that use them."""

from collections.abc import Iterator

from swaymeter.data import catalog
from swaymeter.data.errors import UsageError
from swaymeter.data.sources.access import close_sessions
from swaymeter.data.sources.graph.source import Predicate, predicates
from swaymeter.data.sources.registry import FACT_SOURCES
from swaymeter.flows.stages.contents import Contents


def predicates_of_graph(contents: Contents, *, offline: bool) -> Iterator[tuple[Predicate, tuple[str, ...]]]:
    """Every predicate of the graph, the most frequent first, and its relations; UsageError where there is no graph."""
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
                yield row, tuple(relation.name for relation in relations if row.iri in relation.yago)
        finally:
            close_sessions()
