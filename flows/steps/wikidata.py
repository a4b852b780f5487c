"""What the steps do that make questions anew from Wikidata and Wikipedia."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.errors import InputError
from swaymeter.data.reasons import DOUBLED
from swaymeter.data.records import Dispute, Rejected, Triple, WikidataId
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.graph.sparql import Endpoint
from swaymeter.data.sources.source import alternative
from swaymeter.data.sources.triples.listed import from_csv, popqa
from swaymeter.data.sources.triples.wikidata_pairs import of_property
from swaymeter.data.sources.wikimedia import pageviews
from swaymeter.data.sources.wikimedia.mediawiki import Wiki
from swaymeter.data.sources.wikimedia.options import WikidataQuestions
from swaymeter.data.sources.wikimedia.pageviews import PageViews
from swaymeter.data.sources.wikimedia.wikidata import Wembedder, Wikidata
from swaymeter.data.sources.wikimedia.wikipedia import LICENCE, SOURCE, Wikipedia
from swaymeter.flows.graph.step import Run, Step
from swaymeter.flows.steps.fetch import access_for
from swaymeter.flows.study.sections import ModelPart
from swaymeter.flows.study.study import Study
from swaymeter.tasks.contexts.wikidata.questions import Clients, questions_of_property

if TYPE_CHECKING:
    from swaymeter.tasks.contexts.disputes.of_page import PageDisputes

ADVICE = (
    "without it, use the published or the bundled questions (`source: dynamicqa` or `source: sample` under `questions`)"
)

_one_model_at_a_time = threading.Lock()


WRITER_DTYPE: Literal["bfloat16"] = "bfloat16"
"""The dtype of a model that writes questions, where the study does not ask that model anything itself."""


def writer_of(study: Study) -> ModelPart:
    """The language model that writes the questions about disputes."""
    name = _options(study).disputes.writer or study.models[0].name
    studied = (model for model in study.models if model.name == name)
    return next(studied, ModelPart(name=name, dtype=WRITER_DTYPE))


def fact_of(triple: Triple) -> str:
    """What identifies a triple."""
    return f"{triple.subject_id} {triple.property_id} {triple.object_id}"


def fetch_triples(step: Step, run: Run) -> None:
    """Fetches the triples of the study's list, or draws those of a property."""
    study: Study = step.arguments
    options, access = _options(study).triples, access_for(study, step, run)
    if options.source == "wikidata":
        assert options.per_property
        with alternative(ADVICE):
            store = Endpoint(access.session("wikidata"))
            listed = of_property(store, WikidataId(step.id.part), options.per_property, seed=study.seed)
    else:
        file = Path(options.file).expanduser() if options.file else None
        if options.source == "popqa":
            listed = popqa(file, offline=run.offline)
        else:
            assert file is not None
            listed = from_csv(file)
    if not listed:
        name = step.id.part or options.source
        raise InputError(f"the list of triples {name!r} is empty; name another one under `questions.triples`")
    step.write("triples", listed)


def fetch_property(step: Step, run: Run) -> None:
    """Makes the static and temporal questions of a property from its triples."""
    study, chosen = step.arguments
    options, access = _options(study), access_for(study, step, run)
    with alternative(ADVICE):
        wikidata = Wikidata(Wiki(access.session("wikidata_api")))
        similar = Wembedder(access.session("wembedder")) if options.counter_memory == "wembedder" else None
        clients = Clients(wikidata, _wikipedia(access), PageViews(access.session("pageviews")), similar)
        built = questions_of_property(
            chosen, clients, words=options.snippet_words, months=_months(options), embed=_embed(options)
        )
    step.write("rejected", built.rejected)
    step.write("questions", built.questions)


def fetch_pages(step: Step, run: Run) -> None:
    """Fetches the titles of the articles that the list of controversial issues links to."""
    study: Study = step.arguments
    listed_on = _options(study).disputes.list_page
    with alternative(ADVICE):
        titles = _wikipedia(access_for(study, step, run)).linked(listed_on)
    if not titles:
        raise InputError(f"the page {listed_on!r} links to no article; name `pages` under `questions.disputes`")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    table = step.table("pages")
    table.write(table.table.of([{"page": title, "listed_on": listed_on, "retrieved_at": now} for title in titles]))


def fetch_disputes(step: Step, run: Run) -> None:
    """Searches the history of a page for disputes."""
    from swaymeter.tasks.contexts.disputes.of_page import disputes_of_page  # imports mwparserfromhell

    study, titles = step.arguments
    options, access = _options(study), access_for(study, step, run)
    with alternative(ADVICE):
        result = disputes_of_page(
            step.id.part, _wikipedia(access), embed=_embed(options), similarity=options.disputes.similarity,
            span_words=options.disputes.max_span_words, pageviews=PageViews(access.session("pageviews")),
            months=_months(options),
        )  # fmt: skip
    result = _without_doubles(result, step.id.part, titles)
    step.write("rejected", result.rejected)
    step.write("disputes", result.disputes)


def write_page(step: Step, run: Run) -> None:
    """Lets a language model write the questions about the disputes of a page."""
    study: Study = step.arguments
    writer = writer_of(study)
    disputes = step.records("disputes", Dispute)
    rejected: Sequence[Any] = ()
    questions: Sequence[Any] = ()
    if disputes:
        from swaymeter.tasks.contexts.disputes.questions import write_questions  # imports torch
        from swaymeter.tasks.models import load_language_model

        with _one_model_at_a_time:
            model = load_language_model(writer.source, dtype=writer.dtype, device=writer.device)
            written = write_questions(model, disputes, seed=study.seed)
        rejected, questions = written.rejected, written.questions
    step.write("rejected", rejected)
    step.write("questions", questions)


def _options(study: Study) -> WikidataQuestions:
    assert isinstance(study.questions, WikidataQuestions)
    return study.questions


def _months(options: WikidataQuestions) -> tuple[str, str]:
    return pageviews.months(None, options.months)


def _embed(options: WikidataQuestions) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    from swaymeter.tasks.models.embedder import load_embedder

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        with _one_model_at_a_time:
            return load_embedder(options.embedder).embed(texts)

    return embed


def _wikipedia(access: Access) -> Wikipedia:
    return Wikipedia(Wiki(access.session("wikipedia")), reuse_pages=access.only_refreshes)


def _without_doubles(result: "PageDisputes", title: str, titles: Sequence[str]) -> "PageDisputes":
    """What was found, unless the title redirects to a page that is listed under its own name, too."""
    pages = (*(dispute.page for dispute in result.disputes), *(rejected.part for rejected in result.rejected))
    page = next(iter(pages), title)
    if page == title or page not in titles:
        return result
    from swaymeter.tasks.contexts.disputes.of_page import RELATION

    doubled = Rejected(
        partition="disputable", relation=RELATION, part=title, subject=title, reason=DOUBLED, source=SOURCE,
        licence=LICENCE, detail=f"leads to {page}",
    )  # fmt: skip
    return replace(result, disputes=[], rejected=[doubled])
