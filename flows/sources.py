"""Where a study's facts come from: the bundled sample, a service or a dump; each opened at most once in a run."""

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from data import catalog
from data.errors import InputError, ServiceBudget, ServiceError
from data.invented import invented_names
from data.sources import sample
from data.sources.graph import dump, yago
from data.sources.graph.sparql import Endpoint, SparqlStore
from data.sources.http.session import Session
from flows.facts_keys import NAMES_DTYPE, dump_files, names_wanted, not_in
from flows.plan import Plan
from flows.study.facts import FactsPart

T = TypeVar("T")
CHANGES_BY_THE_DAY = ("wikidata_api", "wikipedia", "pageviews")
"""The services that a refresh asks anew."""
WITHOUT_A_SERVICE = (
    "without it, use the bundled facts (`source: sample`) or a `dump` of YAGO under `facts`, and look invented names "
    "up nowhere else (`names_not_in`)"
)


class Sources:
    """What a run may ask; nothing is opened before it is asked."""

    def __init__(
        self,
        plan: Plan,
        opened: ExitStack,
        *,
        not_before: datetime | None,
        refreshed: datetime | None,
        offline: bool,
    ) -> None:
        self.plan, self.refreshed, self.offline = plan, refreshed, offline
        self._opened, self._not_before = opened, not_before
        self._stores: dict[str, SparqlStore] = {}
        self._sessions: dict[str, Session] = {}
        self._opening = threading.RLock()

    def facts(self, relation: str) -> yago.Fetched:
        """What the source says of a relation; InputError where it says nothing."""
        if self._facts.source == "sample":
            return yago.Fetched(sample.facts(relation), {}, 0)
        return self._asked(
            yago.facts, self.store("yago"), catalog.relation(relation), pairs=self._facts.pairs, seed=self._seed,
            source=self._facts.cited, licence=self._facts.licence,
        )  # fmt: skip

    def _asked(self, ask: Callable[..., T], store: SparqlStore, *arguments: Any, **options: Any) -> T:
        """What a store says; where a service cannot say it, the error says what to do without it."""
        try:
            return ask(store, *arguments, **options)
        except ServiceBudget:
            raise
        except ServiceError as error:
            if isinstance(store, dump.Dump):
                raise
            raise type(error)(f"{error}; {WITHOUT_A_SERVICE}") from None

    def names(self, entity_class: str) -> tuple[list[str], list[str]]:
        """Names of invented entities of a class, and the addresses where nothing has them.

        Where too many of them exist, more are made up, as long as whoever makes them up has more.
        """
        wanted, made, looked_up = names_wanted(self._facts), 0, set[str]()
        names: list[str] = []
        stores = [self.store(name) for name in not_in(self.plan.study)]
        while len(names) < wanted:
            made += 2 * (wanted - len(names)) if made else wanted
            try:
                new = [name for name in self._made_up(entity_class, made) if name not in looked_up]
            except InputError:
                if len(names) < self._facts.invented_entities:
                    raise
                new = []
            if not new:
                break
            looked_up.update(new)
            for store in stores:
                there = self._asked(yago.existing, store, new)
                new = [name for name in new if name not in there]
            names += new
        return names, [store.address for store in stores]

    def _made_up(self, entity_class: str, wanted: int) -> list[str]:
        if self._facts.invented == "catalog":
            return list(catalog.invented_entities(entity_class))
        if self._facts.invented == "names":
            return invented_names(entity_class, wanted, seed=self._seed)
        from tasks.contexts.invented_by_model import names_by_model  # takes torch along, which most fetches need not

        bundled = {name for fact in catalog.facts() for name in (fact.subject, fact.object)}
        return names_by_model(self._model, entity_class, wanted, seed=self._seed, known=bundled)

    @property
    def _facts(self) -> FactsPart:
        assert self.plan.study.facts is not None
        return self.plan.study.facts

    @property
    def _seed(self) -> int:
        return self.plan.study.seed

    @functools.cached_property
    def _model(self) -> Any:
        from tasks.models import load_language_model

        assert self._facts.invented_model is not None
        return load_language_model(self._facts.invented_model, dtype=NAMES_DTYPE)

    def store(self, name: str) -> SparqlStore:
        """The graph of that name: an endpoint, or for YAGO the study's dump."""
        with self._opening:
            if name not in self._stores:
                a_dump = name == "yago" and self.plan.study.facts is not None and self.plan.study.facts.dump
                self._stores[name] = (
                    dump.Dump.of(dump_files(self._facts), self.plan.graphs) if a_dump else Endpoint(self.session(name))
                )
            return self._stores[name]

    def session(self, name: str) -> Session:
        """The session with the service of that name, opened when it is first asked for."""
        with self._opening:
            if name not in self._sessions:
                services = self.plan.study.services
                kept = Path(services.cache).expanduser() if services.cache else None
                session = Session(
                    services.service(name),
                    contact=services.asked_by,
                    cache=kept or self.plan.workspace.root / "downloads" / "answers",
                    offline=self.offline,
                    not_before=self._asked_since(name),
                )
                self._sessions[name] = self._opened.enter_context(session)
            return self._sessions[name]

    @property
    def is_refreshed(self) -> bool:
        """Whether only what changes by the day is asked anew, and no page that was read."""
        return self.refreshed is not None and self._not_before is None

    def _asked_since(self, name: str) -> datetime | None:
        refreshed = self.refreshed if name in CHANGES_BY_THE_DAY else None
        return max((began for began in (self._not_before, refreshed) if began), default=None)


@contextmanager
def opened(
    plan: Plan, *, not_before: datetime | None = None, refreshed: datetime | None = None, offline: bool
) -> Iterator[Sources]:
    """What the plan's facts come from, closed at the end.

    not_before: what was answered before is asked anew. refreshed: so are edits and page views answered before then.
    """
    with ExitStack() as stack:
        yield Sources(plan, stack, not_before=not_before, refreshed=refreshed, offline=offline)
