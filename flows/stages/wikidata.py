"""The steps that build questions from Wikidata and Wikipedia: lists first, then a step for each property and page.

triples                  the triples of a list; or, for each property, triples that the query service draws
questions                for each property: its static and temporal questions, and rejected candidates
pages                    the titles of the pages that are searched for disputes, unless the study names pages
disputes                 for each page: its disputes
questions of disputes    for each page: questions that a language model writes about the disputes
"""

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from swaymeter.data import catalog
from swaymeter.data.catalog import dispute_prompt
from swaymeter.data.digests import content_key, digest_of_named_file
from swaymeter.data.errors import InputError, SwaymeterError
from swaymeter.data.randomness import drawn_first
from swaymeter.data.reasons import DOUBLED
from swaymeter.data.records import Dispute, Partition, Rejected, Triple, WikidataId, as_row, from_row
from swaymeter.data.records.tables import DISPUTES, PAGES, QUESTIONS, REJECTED, TRIPLES
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.graph.sparql import Endpoint
from swaymeter.data.sources.source import with_advice
from swaymeter.data.sources.triples.listed import from_file, popqa
from swaymeter.data.sources.triples.wikidata_pairs import triples_of_property
from swaymeter.data.sources.wikimedia import pageviews
from swaymeter.data.sources.wikimedia.mediawiki import Wiki
from swaymeter.data.sources.wikimedia.options import WikidataQuestions
from swaymeter.data.sources.wikimedia.pageviews import PageViews
from swaymeter.data.sources.wikimedia.wikidata import Wembedder, Wikidata
from swaymeter.data.sources.wikimedia.wikipedia import LICENCE, SOURCE, Wikipedia
from swaymeter.flows.config.sections import ModelPart
from swaymeter.flows.config.study import StudyFile
from swaymeter.flows.graph.graph import Graph, Output, PlannedStep, RunSettings, Step, StepId, StepInput, StepKind
from swaymeter.flows.graph.selection import DISPUTABLE
from swaymeter.flows.stages.plan import Plan, access_for
from swaymeter.tasks.contexts.wikidata.questions import Clients, questions_of_property
from swaymeter.tasks.models.files.identity import identify_model
from swaymeter.tasks.models.loading import identify_language_model

if TYPE_CHECKING:
    from swaymeter.tasks.contexts.disputes.reverted_edits import PageDisputes

ADVICE = (
    "without this service, use the published or the bundled questions (`source: dynamicqa` or `source: sample` under "
    "`questions`)"
)
"""End of the message about a service that does not answer."""

_model_lock = threading.Lock()  # threads use the embedder and the writing model one after the other


WRITER_DTYPE: Literal["bfloat16"] = "bfloat16"
"""The dtype of a language model that writes questions and is not among the models of the study."""


def writer_of(study: StudyFile) -> ModelPart:
    """Return the language model that writes the questions about disputes."""
    name = _options(study).disputes.writer or study.models[0].name
    models = (model for model in study.models if model.name == name)
    return next(models, ModelPart(name=name, dtype=WRITER_DTYPE))


def triple_identity(triple: Triple) -> str:
    """Return the identity of a triple, such as "Q64 P17 Q183"."""
    return f"{triple.subject_id} {triple.property_id} {triple.object_id}"


def fetch_triples(step: Step, settings: RunSettings) -> None:
    """Fetch the triples of the study's list, or draw triples of a property."""
    study: StudyFile = step.arguments
    options, access = _options(study).triples, access_for(study, step, settings)
    if options.source == "wikidata":
        assert options.per_property
        with with_advice(ADVICE):
            query_service = Endpoint(access.session("wikidata"))
            property_id = WikidataId(step.id.part)
            triples = triples_of_property(query_service, property_id, options.per_property, seed=study.seed)
    else:
        file = Path(options.file).expanduser() if options.file else None
        if options.source == "popqa":
            triples = popqa(file, offline=settings.offline)
        else:
            assert file is not None
            triples = from_file(file)
    if not triples:
        name = step.id.part or options.source
        raise InputError(f"the list of triples {name!r} is empty; name another list under `questions.triples`")
    step.write("triples", triples)


def fetch_property(step: Step, settings: RunSettings) -> None:
    """Build the static and temporal questions of a property from its triples."""
    study, triples = step.arguments
    options, access = _options(study), access_for(study, step, settings)
    with with_advice(ADVICE):
        wikidata = Wikidata(Wiki(access.session("wikidata_api")))
        wembedder = Wembedder(access.session("wembedder")) if options.counter_memory == "wembedder" else None
        clients = Clients(wikidata, _wikipedia(access), PageViews(access.session("pageviews")), wembedder)
        built = questions_of_property(
            triples, clients, words=options.snippet_words, months=_months(options), embed=_embed(options)
        )
    step.write("rejected", built.rejected)
    step.write("questions", built.questions)


def fetch_pages(step: Step, settings: RunSettings) -> None:
    """Fetch the titles of the articles to which `list_page` links: by default, a list of controversial issues."""
    study: StudyFile = step.arguments
    listed_on = _options(study).disputes.list_page
    with with_advice(ADVICE):
        titles = _wikipedia(access_for(study, step, settings)).linked(listed_on)
    if not titles:
        raise InputError(f"the page {listed_on!r} links to no article; list articles in `questions.disputes.pages`")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    table = step.table("pages")
    table.write(table.table.of([{"page": title, "listed_on": listed_on, "retrieved_at": now} for title in titles]))


def fetch_disputes(step: Step, settings: RunSettings) -> None:
    """Search the history of a page for disputes."""
    from swaymeter.tasks.contexts.disputes.reverted_edits import disputes_of_page  # imports mwparserfromhell

    study, titles = step.arguments
    options, access = _options(study), access_for(study, step, settings)
    with with_advice(ADVICE):
        result = disputes_of_page(
            step.id.part,
            _wikipedia(access),
            embed=_embed(options),
            max_similarity=options.disputes.similarity,
            span_words=options.disputes.max_span_words,
            pageviews=PageViews(access.session("pageviews")),
            months=_months(options),
        )
    result = _without_redirect(result, step.id.part, titles)
    step.write("rejected", result.rejected)
    step.write("disputes", result.disputes)


def write_questions_of_page(step: Step, settings: RunSettings) -> None:
    """Write the questions about the disputes of a page with a language model."""
    study: StudyFile = step.arguments
    writer = writer_of(study)
    disputes = step.records("disputes", Dispute)
    rejected: Sequence[Any] = ()
    questions: Sequence[Any] = ()
    if disputes:
        from swaymeter.tasks.contexts.disputes.questions import write_questions  # imports torch
        from swaymeter.tasks.models import load_language_model

        with _model_lock:
            model = load_language_model(writer.source, dtype=writer.dtype, device=writer.device)
            written = write_questions(model, disputes, seed=study.seed)
        rejected, questions = written.rejected, written.questions
    step.write("rejected", rejected)
    step.write("questions", questions)


def _options(study: StudyFile) -> WikidataQuestions:
    assert isinstance(study.questions, WikidataQuestions)
    return study.questions


def _months(options: WikidataQuestions) -> tuple[str, str]:
    return pageviews.months(None, options.months)


def _embed(options: WikidataQuestions) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    from swaymeter.tasks.models.embedder import load_embedder

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        with _model_lock:
            return load_embedder(options.embedder).embed(texts)

    return embed


def _wikipedia(access: Access) -> Wikipedia:
    return Wikipedia(Wiki(access.session("wikipedia")), reuse_pages=access.only_refreshes)


def _without_redirect(result: "PageDisputes", title: str, titles: Sequence[str]) -> "PageDisputes":
    """Return the disputes of a page; none if the title redirects to another page of the list."""
    pages = (*(dispute.page for dispute in result.disputes), *(rejected.part for rejected in result.rejected))
    page = next(iter(pages), title)  # all rows of a result have the same page
    if page == title or page not in titles:
        return result
    from swaymeter.tasks.contexts.disputes.reverted_edits import RELATION

    doubled = Rejected(
        partition="disputable",
        relation=RELATION,
        part=title,
        subject=title,
        reason=DOUBLED,
        source=SOURCE,
        licence=LICENCE,
        detail=f"leads to {page}",
    )
    return replace(result, disputes=[], rejected=[doubled])


# ---- the steps of a study --------------------------------------------------------------------------------------------

FETCH_TRIPLES = StepKind("fetch", "triples", makes=("triples",), function=fetch_triples, version=2, resource="services")
FETCH_PROPERTY = StepKind(
    "fetch",
    "questions",
    makes=("rejected", "questions"),
    function=fetch_property,
    version=2,
    resource="services",
    changes_daily=True,
)
FETCH_PAGES = StepKind("fetch", "pages", makes=("pages",), function=fetch_pages, version=2, resource="services")
FETCH_DISPUTES = StepKind(
    "fetch",
    "disputes",
    makes=("disputes", "rejected"),
    function=fetch_disputes,
    version=2,
    resource="services",
    changes_daily=True,
)
WRITE_QUESTIONS = StepKind(
    "fetch",
    "questions of disputes",
    makes=("rejected", "questions"),
    function=write_questions_of_page,
    version=2,
)


Candidates = tuple[dict[Partition, list[StepInput]], dict[Partition, list[PlannedStep]]]
"""Two mappings by partition: the tables of candidates, and the unfinished steps that fetch lists of triples or pages.

Once such a listing step is done, the graph gets further steps for the rows of its list.
"""


def add_wikidata_steps(graph: Graph, plan: Plan) -> Candidates:
    """Add the steps, and return the tables of questions and disputes with the unfinished listing steps."""
    options = plan.study.questions
    assert isinstance(options, WikidataQuestions)
    steps = _WikidataSteps(graph, plan, options)
    candidates: dict[Partition, list[StepInput]] = {}
    unfinished_listing_steps: dict[Partition, list[PlannedStep]] = {}
    if options.needs_triples:
        questions, listing_steps = steps.add_properties()
        for partition in (name for name in options.partitions if name != "disputable"):
            candidates[partition], unfinished_listing_steps[partition] = questions, listing_steps
    if options.needs_disputes:
        candidates["disputable"], unfinished_listing_steps["disputable"] = steps.add_pages()
    return {name: candidates[name] for name in options.partitions}, unfinished_listing_steps


@dataclass(frozen=True)
class _WikidataSteps:
    """The steps that build questions from Wikidata and Wikipedia; the methods add the steps to a graph."""

    graph: Graph
    plan: Plan
    options: WikidataQuestions

    # ---- static and temporal questions: by property ----------------------------------------------------------------

    def add_properties(self) -> tuple[list[StepInput], list[PlannedStep]]:
        """Add the steps of properties; return the questions of each property and the unfinished listing steps."""
        lists, properties = self._add_lists(), self.options.triples.properties
        unfinished = [step_input.node for step_input in lists if not step_input.is_usable]
        by_relation: dict[str, list[tuple[StepInput, list[Triple]]]] = {}
        for step_input in lists:
            if not step_input.is_usable:
                continue
            for relation, listed in self.graph.read_once(step_input, _by_relation).items():
                if triples := [triple for triple in listed if not properties or triple.property_id in properties]:
                    by_relation.setdefault(relation, []).append((step_input, triples))
        return [self._add_property(name, by_relation[name]) for name in sorted(by_relation)], unfinished

    def _add_lists(self) -> list[StepInput]:
        options = self.options.triples
        parameters: dict[str, Any] = {"source": options.source}
        identity = FETCH_TRIPLES.id("triples")
        if options.source != "wikidata":
            try:
                if options.file:
                    parameters["digest"] = digest_of_named_file(
                        Path(options.file).expanduser(), "questions.triples.file"
                    )
            except SwaymeterError as error:
                return [self.graph.add_refused(FETCH_TRIPLES, identity, error).output("triples")]
            return [self._add_list(identity, parameters)]
        parameters |= {
            "address": self._addresses("wikidata"),
            "per_property": options.per_property,
            "seed": self.plan.study.seed,
        }
        return [self._add_list(FETCH_TRIPLES.id("triples", name), parameters) for name in options.properties]

    def _add_list(self, identity: StepId, key_inputs: Mapping[str, Any]) -> StepInput:
        name = f"triples-{identity.part}" if identity.part else "triples"
        outputs = {"triples": Output(TRIPLES, ("facts",), name)}
        added = self.graph.add(FETCH_TRIPLES, identity, outputs, parameters=key_inputs, arguments=self.plan.study)
        return added.output("triples")

    def _add_property(self, relation: str, lists: list[tuple[StepInput, list[Triple]]]) -> StepInput:
        """Add the step that builds a property's questions from `lists`: each list with its triples of the property."""
        kind, identity = FETCH_PROPERTY, FETCH_PROPERTY.id(relation)
        triples_by_id = {triple_identity(triple): triple for _, triples in lists for triple in triples}
        count = self.options.triples.per_property or len(triples_by_id)
        # "seeds" distinguishes this draw from others with the same seed.
        triple_ids = drawn_first(triples_by_id, count, self.plan.study.seed, "seeds", relation)
        triples = tuple(map(triples_by_id.__getitem__, triple_ids))
        # The key depends only on these triples, so that a change of other triples in the list keeps the key.
        digest = TRIPLES.digest(TRIPLES.of([as_row(triple) for triple in triples]))
        try:
            parameters = {
                "services": self._addresses("wikidata_api", "wikipedia", "pageviews", *self._similarity_service()),
                "counter_memory": self.options.counter_memory,
                "catalog": catalog.relation_digest(relation) if relation in catalog.relations() else "",
                "snippet_words": self.options.snippet_words,
                "months": self.options.months,
                **self._embedder_parameters(),
            }
        except SwaymeterError as error:
            nodes = [step_input.node for step_input, _ in lists]
            return self.graph.add_refused(kind, identity, error, inputs=nodes).output("questions")
        return self.graph.add(
            kind,
            identity,
            _question_outputs(relation),
            inputs={
                step_input.node.id.part or "triples": StepInput(step_input.node, step_input.role, digest)
                for step_input, _ in lists
            },
            parameters=parameters,
            arguments=(self.plan.study, triples),
        ).output("questions")

    # ---- disputable questions: by page -----------------------------------------------------------------------------

    def add_pages(self) -> tuple[list[StepInput], list[PlannedStep]]:
        """Add the steps of pages; return the questions and disputes of each page, and the unfinished listing step."""
        titles = self.options.disputes.pages
        if not titles:
            page_list = self._add_page_list()
            if not page_list.is_usable:
                return [], [page_list.node]
            listed_titles = sorted(set(self.graph.read_once(page_list, _titles)))
            limit = self.options.disputes.max_pages or len(listed_titles)
            titles = tuple(drawn_first(listed_titles, limit, self.plan.study.seed, "pages"))
        tables_of_disputes = [self._add_disputes(title, titles) for title in titles]
        return [table for disputes in tables_of_disputes for table in (self._add_writer(disputes), disputes)], []

    def _add_page_list(self) -> StepInput:
        outputs = {"pages": Output(PAGES, ("facts",), "pages")}
        key_inputs = {"list_page": self.options.disputes.list_page, "address": self._addresses("wikipedia")}
        added = self.graph.add(
            FETCH_PAGES, FETCH_PAGES.id(DISPUTABLE), outputs, parameters=key_inputs, arguments=self.plan.study
        )
        return added.output("pages")

    def _add_disputes(self, title: str, titles: tuple[str, ...]) -> StepInput:
        kind, identity, options = FETCH_DISPUTES, FETCH_DISPUTES.id(DISPUTABLE, title), self.options.disputes
        outputs = {
            "disputes": Output(DISPUTES, ("facts",), f"disputes-{title}"),
            "rejected": Output(REJECTED, ("facts",), f"rejected-disputes-{title}"),
        }
        try:
            parameters = {
                "services": self._addresses("wikipedia", "pageviews"),
                "months": self.options.months,
                "max_span_words": options.max_span_words,
                "similarity": options.similarity,
                **self._embedder_parameters(),
            }
        except SwaymeterError as error:
            return self.graph.add_refused(kind, identity, error).output("disputes")
        arguments = (self.plan.study, titles)
        return self.graph.add(kind, identity, outputs, parameters=parameters, arguments=arguments).output("disputes")

    def _add_writer(self, disputes: StepInput) -> StepInput:
        title = disputes.node.id.part
        kind, identity, writer = WRITE_QUESTIONS, WRITE_QUESTIONS.id(DISPUTABLE, title), writer_of(self.plan.study)
        try:
            revision = self.graph.call_once(identify_language_model, writer.source).revision
        except SwaymeterError as error:
            return self.graph.add_refused(kind, identity, error, inputs=[disputes.node]).output("questions")
        parameters = {
            "writer": writer.name,
            "revision": revision,
            "dtype": writer.dtype,
            "prompt": content_key(asdict(dispute_prompt())),
            "seed": self.plan.study.seed,
        }
        return self.graph.add(
            kind,
            identity,
            _question_outputs(title),
            inputs={"disputes": disputes},
            parameters=parameters,
            arguments=self.plan.study,
            device=writer.device,
        ).output("questions")

    # ---- inputs of keys ----------------------------------------------------------------------------------------------

    def _addresses(self, *services: str) -> dict[str, str]:
        return {name: self.plan.access.address(name) for name in services}

    def _similarity_service(self) -> tuple[str, ...]:
        return ("wembedder",) if self.options.counter_memory == "wembedder" else ()

    def _embedder_parameters(self) -> dict[str, str]:
        name, revision = _embedder_identity(self.options.embedder)
        return {"embedder": name, "embedder_revision": revision}


@functools.lru_cache(maxsize=4)
def _embedder_identity(embedder: str) -> tuple[str, str]:
    identity = identify_model(embedder, "embedder")
    return identity.name, identity.revision


def _question_outputs(part: str) -> dict[str, Output]:
    return {
        "rejected": Output(REJECTED, ("facts",), f"rejected-{part}"),
        "questions": Output(QUESTIONS, ("facts",), f"questions-{part}"),
    }


def _by_relation(rows: pa.Table) -> dict[str, list[Triple]]:
    by_relation: dict[str, list[Triple]] = {}
    for row in rows.to_pylist():
        by_relation.setdefault(row["relation"], []).append(from_row(Triple, row))
    return by_relation


def _titles(rows: pa.Table) -> list[str]:
    return [str(title) for title in rows["page"].to_pylist()]
