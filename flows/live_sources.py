"""What live questions are made from: lists of facts and pages, Wikidata and Wikipedia, and the models that help."""

import functools
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from data.errors import ServiceBudget, ServiceError
from data.records import Triple, WikidataId
from data.sources import triples as seeds
from data.sources.wikimedia import pageviews
from data.sources.wikimedia.mediawiki import Wiki
from data.sources.wikimedia.pageviews import PageViews
from data.sources.wikimedia.wembedder import Wembedder
from data.sources.wikimedia.wikidata import Wikidata
from data.sources.wikimedia.wikipedia import Wikipedia
from flows.live_files import LiveFiles
from flows.sources import Sources
from tasks.contexts.disputes.of_page import Found, disputes_of_page
from tasks.contexts.wikidata.questions import Built, Clients, questions_of_property

if TYPE_CHECKING:
    from tasks.contexts.disputes.questions import Written

T = TypeVar("T")
WITHOUT_A_SERVICE = (
    "without it, use the published or the bundled questions (`source: dynamicqa` or `source: sample` under `questions`)"
)


class LiveSources:
    """What a run may ask for live questions; models are loaded when they are first needed, and used one at a time."""

    def __init__(self, sources: Sources, files: LiveFiles) -> None:
        self._sources, self._files = sources, files
        self._one_model_at_a_time = threading.Lock()

    def seeds(self, name: str) -> list[Triple]:
        """The facts of the study's list, or those that Wikidata's query service draws of the property of that name."""
        wanted, seed = self._files.wanted.triples, self._files.study.seed
        if wanted.source == "wikidata":
            assert wanted.per_property
            store = self._sources.store("wikidata")
            return self._asked(seeds.of_property, store, WikidataId(name), wanted.per_property, seed=seed)
        file = Path(wanted.file).expanduser() if wanted.file else None
        if wanted.source == "popqa":
            return seeds.popqa(file, offline=self._sources.offline)
        assert file is not None
        return seeds.from_csv(file)

    def pages(self) -> tuple[str, ...]:
        """The titles that the study's list of controversial issues links to."""
        return self._asked(lambda: self._wikipedia.linked(self._files.wanted.disputes.list_page))

    def of_property(self, relation: str) -> Built:
        """The static and temporal questions of a property, and what became none."""
        return self._asked(
            questions_of_property, self._files.chosen_seeds[relation], self._clients,
            words=self._files.wanted.snippet_words, months=self._months, embed=self._embed,
        )  # fmt: skip

    def disputes(self, title: str) -> Found:
        """The disputes of a page, and what is none."""
        wanted = self._files.wanted.disputes
        return self._asked(
            disputes_of_page, title, self._wikipedia, embed=self._embed, similarity=wanted.similarity,
            span_words=wanted.max_span_words, pageviews=self._pageviews, months=self._months,
        )  # fmt: skip

    def written(self, title: str) -> "Written":
        """The questions that the study's writer makes of a page's disputes, and what became none."""
        from tasks.contexts.disputes.questions import Written, write_questions  # takes torch along

        disputes = self._files.read_disputes(title)
        if not disputes:
            return Written([], [])
        with self._one_model_at_a_time:
            return write_questions(self._writer, disputes, seed=self._files.study.seed)

    @functools.cached_property
    def _months(self) -> tuple[str, str]:
        return pageviews.months(None, self._files.wanted.months)

    @functools.cached_property
    def _clients(self) -> Clients:
        return Clients(
            Wikidata(Wiki(self._sources.session("wikidata_api"))),
            self._wikipedia,
            self._pageviews,
            Wembedder(self._sources.session("wembedder")) if self._files.wanted.counter_memory == "wembedder" else None,
        )

    @functools.cached_property
    def _wikipedia(self) -> Wikipedia:
        return Wikipedia(Wiki(self._sources.session("wikipedia")), kept_pages=self._sources.is_refreshed)

    @functools.cached_property
    def _pageviews(self) -> PageViews:
        return PageViews(self._sources.session("pageviews"))

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        from tasks.models.embedder import load_embedder

        with self._one_model_at_a_time:
            return load_embedder(self._files.wanted.embedder).embed(texts)

    @functools.cached_property
    def _writer(self) -> Any:
        from tasks.models import load_language_model

        writer = self._files.writer
        return load_language_model(writer.name, dtype=writer.dtype, device=writer.device)

    def _asked(self, ask: Callable[..., T], *arguments: Any, **options: Any) -> T:
        try:
            return ask(*arguments, **options)
        except ServiceBudget:
            raise
        except ServiceError as error:
            raise type(error)(f"{error}; {WITHOUT_A_SERVICE}") from None
