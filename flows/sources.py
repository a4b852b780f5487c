"""Where a study's facts come from; each service is opened at most once in a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from data.sources.graph.graphs import graph
from data.sources.graph.sparql import SparqlStore
from data.sources.http.session import Session
from data.sources.registry import FACT_SOURCES
from data.sources.source import FetchedFacts
from flows.plan import Plan
from tasks.contexts.invented_names import fetch_invented_names


class Sources:
    """What a run may ask; nothing is opened before it is asked."""

    def __init__(self, plan: Plan, *, not_before: datetime | None, refreshed: datetime | None, offline: bool) -> None:
        self.plan, self.refreshed, self.offline = plan, refreshed, offline
        self.access = plan.study.access(
            plan.workspace.root / "downloads", not_before=not_before, refreshed=refreshed, offline=offline
        )

    def facts(self, relation: str) -> FetchedFacts:
        """What the source has of a relation."""
        facts = self.plan.study.facts
        assert facts is not None
        return FACT_SOURCES[facts.source].fetch(facts, relation, self.plan.study.seed, self.access)

    def names(self, entity_class: str) -> tuple[list[str], list[str]]:
        """Names of invented entities of a class, and the addresses where nothing has them."""
        assert self.plan.study.facts is not None
        return fetch_invented_names(self.plan.study.facts, entity_class, self.plan.study.seed, self.access)

    def store(self, name: str) -> SparqlStore:
        """The graph of that name."""
        dump = getattr(self.plan.study.facts, "dump", ()) if name == "yago" else ()
        return graph(name, dump, self.access).open()

    def session(self, name: str) -> Session:
        """The session with the service of that name."""
        return self.access.session(name)

    @property
    def is_refreshed(self) -> bool:
        """Whether only what changes by the day is asked anew, and no page that was read."""
        return self.access.only_refreshes


@contextmanager
def opened(
    plan: Plan, *, not_before: datetime | None = None, refreshed: datetime | None = None, offline: bool
) -> Iterator[Sources]:
    """What the plan's facts come from."""
    yield Sources(plan, not_before=not_before, refreshed=refreshed, offline=offline)
