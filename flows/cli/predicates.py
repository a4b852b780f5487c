"""What `swaymeter predicates` says: which predicates a study's graph has, and which relations ask for them."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from data import catalog
from data.errors import UsageError
from data.sources.graph.predicates import predicates
from flows.cli.diff_words import visible
from flows.plan import Plan
from flows.sources import opened


@dataclass(frozen=True)
class Asked:
    """A predicate of the graph, its triples, the classes of its subjects, and the relations that ask for it."""

    predicate: str
    triples: int
    subject_classes: tuple[str, ...]
    relations: tuple[str, ...]


def of_graph(plan: Plan, *, offline: bool) -> Iterator[Asked]:
    """Every predicate of the graph that the study's facts come from, the most frequent first.

    UsageError where they come from none; ServiceError where it cannot be asked.
    """
    if plan.study.facts is None or plan.study.facts.source != "yago":
        raise UsageError(f"the facts of study {plan.study.name} come from no graph; use `source: yago`")
    named: dict[str, list[str]] = {}
    for relation in catalog.relations().values():
        for iri in relation.yago:
            named.setdefault(iri, []).append(relation.name)
    with plan.workspace.conducted(), opened(plan, offline=offline) as sources:
        for found in predicates(sources.store("yago")):
            yield Asked(found.iri, found.triples, found.subject_classes, tuple(named.get(found.iri, ())))


def show(console: Console, listed: Iterator[Asked]) -> None:
    """The predicates as a table."""
    table = Table()
    table.add_column("predicate", overflow="fold")
    table.add_column("triples", justify="right")
    table.add_column("classes of its subjects")
    table.add_column("relations")
    for one in listed:
        classes = ", ".join(_last(name) for name in one.subject_classes)
        table.add_row(
            Text(visible(one.predicate)), f"{one.triples:,}", Text(visible(classes)), Text(", ".join(one.relations))
        )
    console.print(table)


def _last(iri: str) -> str:
    return iri[max(iri.rfind("/"), iri.rfind("#")) + 1 :]
