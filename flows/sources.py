"""Where a study's facts come from: the bundled sample, an endpoint or a dump; each opened at most once in a run."""

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from data import catalog
from data.errors import InputError, ServiceBudget, ServiceError
from data.invented import invented_names
from data.sources import dump, sample, yago
from data.sources.session import Session
from data.sources.sparql import Endpoint, SparqlStore
from flows.facts_keys import NAMES_DTYPE, dump_files, names_wanted, not_in
from flows.plan import Plan
from flows.study_facts import FactsPart

T = TypeVar("T")
WITHOUT_A_SERVICE = (
    "without it, use the bundled facts (`source: sample`) or a `dump` of YAGO under `facts`, and look invented names "
    "up nowhere else (`names_not_in`)"
)


class Sources:
    """What a run may ask; nothing is opened before it is asked."""

    def __init__(self, plan: Plan, opened: ExitStack, *, not_before: datetime | None, offline: bool) -> None:
        self._plan, self._opened = plan, opened
        self._not_before, self._offline = not_before, offline
        self._stores: dict[str, SparqlStore] = {}

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
        stores = [self.store(name) for name in not_in(self._plan.study)]
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
        assert self._plan.study.facts is not None
        return self._plan.study.facts

    @property
    def _seed(self) -> int:
        return self._plan.study.seed

    @functools.cached_property
    def _model(self) -> Any:
        from tasks.models import load_language_model

        assert self._facts.invented_model is not None
        return load_language_model(self._facts.invented_model, dtype=NAMES_DTYPE)

    def store(self, name: str) -> SparqlStore:
        """The graph of that name: an endpoint, or for YAGO the study's dump."""
        if name not in self._stores:
            self._stores[name] = self._store(name)
        return self._stores[name]

    def _store(self, name: str) -> SparqlStore:
        folder = self._plan.workspace.root / "downloads"
        if name == "yago" and self._facts.dump:
            return dump.Dump.of(dump_files(self._facts), self._plan.graphs)
        services = self._plan.study.services
        session = Session(
            services.service(name),
            contact=services.asked_by,
            cache=Path(services.cache).expanduser() if services.cache else folder / "answers",
            offline=self._offline,
            not_before=self._not_before,
        )
        return Endpoint(self._opened.enter_context(session))


@contextmanager
def opened(plan: Plan, *, not_before: datetime | None = None, offline: bool) -> Iterator[Sources]:
    """What the plan's facts come from, closed at the end. not_before: what was answered before is asked anew."""
    with ExitStack() as stack:
        yield Sources(plan, stack, not_before=not_before, offline=offline)
