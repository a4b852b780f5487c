"""The predicates of the graph that a study's facts come from, and the relations of the catalog that use them."""

from collections.abc import Iterator
from dataclasses import dataclass

from data import catalog
from data.errors import UsageError
from data.sources.graph.predicates import predicates
from flows.plan import Plan
from flows.sources import opened


@dataclass(frozen=True)
class PredicateUse:
    """A predicate of the graph, its triples, the classes of its subjects, and the relations that use it."""

    predicate: str
    triples: int
    subject_classes: tuple[str, ...]
    relations: tuple[str, ...]


def predicates_of_graph(plan: Plan, *, offline: bool) -> Iterator[PredicateUse]:
    """Every predicate of the graph that the study's facts come from, the most frequent first.

    Raises:
        UsageError: The facts come from another source.
        ServiceError: The graph cannot be queried.
    """
    if plan.study.facts is None or plan.study.facts.source != "yago":
        raise UsageError(f"the facts of study {plan.study.name} do not come from a graph; use `source: yago`")
    users: dict[str, list[str]] = {}
    for relation in catalog.relations().values():
        for iri in relation.yago:
            users.setdefault(iri, []).append(relation.name)
    with plan.workspace.conducted(), opened(plan, offline=offline) as sources:
        for row in predicates(sources.store("yago")):
            yield PredicateUse(row.iri, row.triples, row.subject_classes, tuple(users.get(row.iri, ())))
