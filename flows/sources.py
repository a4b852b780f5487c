"""Where a study's facts come from: the bundled sample, an endpoint or a dump; each opened at most once in a run."""

import functools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from data import catalog
from data.errors import ServiceBudget, ServiceError
from data.invented import invented_names
from data.sources import dump, sample, yago
from data.sources.session import Session
from data.sources.sparql import Endpoint, SparqlStore
from flows.facts_keys import NAMES_DTYPE, dump_files, names_wanted, not_in
from flows.plan import Plan

WITHOUT_A_SERVICE = "without it, use the bundled facts (`source: sample`) or a `dump` of YAGO under `facts`"


class Sources:
    """What a run may ask; nothing is opened before it is asked."""

    def __init__(self, plan: Plan, opened: ExitStack, *, refresh: bool, offline: bool) -> None:
        assert plan.study.facts is not None
        self._plan, self._facts, self._opened = plan, plan.study.facts, opened
        self._refresh, self._offline = refresh, offline

    def facts(self, relation: str) -> yago.Fetched:
        """What the source says of a relation; InputError where it says nothing."""
        if self._facts.source == "sample":
            return yago.Fetched(sample.facts(relation), {}, 0)
        try:
            return yago.facts(self.store("yago"), catalog.relation(relation), pairs=self._facts.pairs, seed=self._seed)
        except ServiceBudget:
            raise
        except ServiceError as error:
            raise type(error)(f"{error}; {WITHOUT_A_SERVICE}") from None

    def names(self, entity_class: str) -> tuple[list[str], list[str]]:
        """Names of invented entities of a class, and the addresses where nothing has them."""
        names = self._made_up(entity_class)
        stores = [self.store(name) for name in not_in(self._plan.study)]
        for store in stores:
            there = yago.existing(store, names)
            names = [name for name in names if name not in there]
        return names, [store.address for store in stores]

    def _made_up(self, entity_class: str) -> list[str]:
        wanted = names_wanted(self._facts)
        if self._facts.invented == "catalog":
            return list(catalog.invented_entities(entity_class))
        if self._facts.invented == "names":
            return invented_names(entity_class, wanted, seed=self._seed)
        from tasks.contexts.invented_by_model import names_by_model  # takes torch along, which most fetches need not

        return names_by_model(self._model, entity_class, wanted, seed=self._seed, known=())

    @property
    def _seed(self) -> int:
        return self._plan.study.seed

    @functools.cached_property
    def _model(self) -> Any:
        from tasks.models import load_language_model

        assert self._facts.invented_model is not None
        return load_language_model(self._facts.invented_model, dtype=NAMES_DTYPE)

    @functools.cache  # noqa: B019 - lives as long as the run
    def store(self, name: str) -> SparqlStore:
        """The graph of that name: an endpoint, or for YAGO the study's dump."""
        folder = self._plan.workspace.root / "downloads"
        if name == "yago" and self._facts.dump:
            return dump.Dump.of(dump_files(self._facts), folder / "graphs")
        services = self._plan.study.services
        session = Session(
            services.service(name),
            contact=services.asked_by,
            cache=Path(services.cache).expanduser() if services.cache else folder / "answers",
            offline=self._offline,
            refresh=self._refresh,
        )
        return Endpoint(self._opened.enter_context(session))


@contextmanager
def opened(plan: Plan, *, refresh: bool, offline: bool) -> Iterator[Sources]:
    """What the plan's facts come from, closed at the end."""
    with ExitStack() as stack:
        yield Sources(plan, stack, refresh=refresh, offline=offline)
