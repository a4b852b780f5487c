"""The steps that make questions anew from Wikidata and Wikipedia: lists first, then a step for each property and page.

triples            the triples that a list names, or that the query service draws of a property
questions          of each property: its static and temporal questions, and the candidates that were rejected
pages              the titles that are searched for disputes, where the study does not name them itself
disputes           of each page
questions          of each page: what a language model made of its disputes
"""

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from swaymeter.data import catalog
from swaymeter.data.catalog import dispute_prompt
from swaymeter.data.digests import content_key, file_digest
from swaymeter.data.errors import SwaymeterError
from swaymeter.data.randomness import drawn_first
from swaymeter.data.records import Partition, Triple, as_row, of_row
from swaymeter.data.records.tables import DISPUTES, PAGES, QUESTIONS, REJECTED, TRIPLES
from swaymeter.data.sources.wikimedia.options import WikidataQuestions
from swaymeter.flows.graph.graph import Graph, Node, Reference
from swaymeter.flows.graph.selection import DISPUTABLE
from swaymeter.flows.graph.step import Output, StepId
from swaymeter.flows.stages import study_graph as kinds
from swaymeter.flows.stages.plan import Plan
from swaymeter.flows.steps import wikidata as steps
from swaymeter.tasks.models.backends import identify_language_model
from swaymeter.tasks.models.files.identity import identify_model

Candidates = tuple[dict[Partition, list[Reference]], dict[Partition, list[Node]]]


def fetch_wikidata(graph: Graph, plan: Plan) -> Candidates:
    """Adds the steps; gives the questions and disputes of each partition, and the lists that are not fetched."""
    options = plan.study.questions
    assert isinstance(options, WikidataQuestions)
    live = _Wikidata(graph, plan, options)
    candidates: dict[Partition, list[Reference]] = {}
    lacking: dict[Partition, list[Node]] = {}
    if options.needs_triples:
        questions, lists = live.of_properties()
        for partition in (name for name in options.partitions if name != "disputable"):
            candidates[partition], lacking[partition] = questions, lists
    if options.needs_disputes:
        candidates["disputable"], lacking["disputable"] = live.of_pages()
    return {name: candidates[name] for name in options.partitions}, lacking


@dataclass(frozen=True)
class _Wikidata:
    graph: Graph
    plan: Plan
    options: WikidataQuestions

    # ---- static and temporal questions: by property ----------------------------------------------------------------

    def of_properties(self) -> tuple[list[Reference], list[Node]]:
        """The questions of each property that is listed, and the lists that are not fetched."""
        lists, properties = self._lists(), self.options.triples.properties
        lacking = [reference.node for reference in lists if not reference.is_usable]
        by_relation: dict[str, list[tuple[Reference, list[Triple]]]] = {}
        for reference in lists:
            if reference.is_usable:
                for relation, listed in self.graph.remembered(reference, _by_relation).items():
                    if triples := [triple for triple in listed if not properties or triple.property_id in properties]:
                        by_relation.setdefault(relation, []).append((reference, triples))
        return [self._of_property(name, by_relation[name]) for name in sorted(by_relation)], lacking

    def _lists(self) -> list[Reference]:
        options = self.options.triples
        parameters: dict[str, Any] = {"source": options.source}
        identity = kinds.TRIPLES.id("triples")
        if options.source != "wikidata":
            try:
                if options.file:
                    parameters["digest"] = file_digest(Path(options.file).expanduser(), "questions.triples.file")
            except SwaymeterError as error:
                return [self.graph.refuse(kinds.TRIPLES, identity, error).output("triples")]
            return [self._list(identity, parameters)]
        parameters |= {
            "address": self._addresses("wikidata"), "per_property": options.per_property, "seed": self.plan.study.seed,
        }  # fmt: skip
        return [self._list(kinds.TRIPLES.id("triples", name), parameters) for name in options.properties]

    def _list(self, identity: StepId, made_from: Mapping[str, Any]) -> Reference:
        name = f"triples-{identity.part}" if identity.part else "triples"
        outputs = {"triples": Output(TRIPLES, ("facts",), name)}
        added = self.graph.add(kinds.TRIPLES, identity, outputs, parameters=made_from, arguments=self.plan.study)
        return added.output("triples")

    def _of_property(self, relation: str, listed: list[tuple[Reference, list[Triple]]]) -> Reference:
        kind, identity = kinds.OF_PROPERTY, kinds.OF_PROPERTY.id(relation)
        once = {steps.fact_of(triple): triple for _, triples in listed for triple in triples}
        count = self.options.triples.per_property or len(once)
        drawn = drawn_first(once, count, self.plan.study.seed, "seeds", relation)
        triples = tuple(once[fact] for fact in drawn)
        digest = TRIPLES.digest(TRIPLES.of([as_row(triple) for triple in triples]))
        try:
            parameters = {
                "services": self._addresses("wikidata_api", "wikipedia", "pageviews", *self._similar()),
                "counter_memory": self.options.counter_memory, "catalog": self._catalog(relation),
                "snippet_words": self.options.snippet_words, "months": self.options.months, **self._embedder(),
            }  # fmt: skip
        except SwaymeterError as error:
            lists = [reference.node for reference, _ in listed]
            return self.graph.refuse(kind, identity, error, inputs=lists).output("questions")
        return self.graph.add(
            kind, identity, _questions(relation),
            inputs={of.node.id.part or "triples": Reference(of.node, of.role, digest) for of, _ in listed},
            parameters=parameters, arguments=(self.plan.study, triples),
        ).output("questions")  # fmt: skip

    # ---- disputable questions: by page -----------------------------------------------------------------------------

    def of_pages(self) -> tuple[list[Reference], list[Node]]:
        """The questions and disputes of each page, and the list of pages where it is not fetched."""
        titles = self.options.disputes.pages
        if not titles:
            listed = self._pages()
            if not listed.is_usable:
                return [], [listed.node]
            names = sorted(set(self.graph.remembered(listed, _titles)))
            most = self.options.disputes.max_pages or len(names)
            titles = tuple(drawn_first(names, most, self.plan.study.seed, "pages"))
        pages = [self._disputes(title, titles) for title in titles]
        return [reference for page in pages for reference in (self._written(page), page)], []

    def _pages(self) -> Reference:
        outputs = {"pages": Output(PAGES, ("facts",), "pages")}
        made_from = {"list_page": self.options.disputes.list_page, "address": self._addresses("wikipedia")}
        added = self.graph.add(
            kinds.PAGES, kinds.PAGES.id(DISPUTABLE), outputs, parameters=made_from, arguments=self.plan.study
        )
        return added.output("pages")

    def _disputes(self, title: str, titles: tuple[str, ...]) -> Reference:
        kind, identity, options = kinds.DISPUTES, kinds.DISPUTES.id(DISPUTABLE, title), self.options.disputes
        outputs = {
            "disputes": Output(DISPUTES, ("facts",), f"disputes-{title}"),
            "rejected": Output(REJECTED, ("facts",), f"rejected-disputes-{title}"),
        }
        try:
            parameters = {
                "services": self._addresses("wikipedia", "pageviews"), "months": self.options.months,
                "max_span_words": options.max_span_words, "similarity": options.similarity, **self._embedder(),
            }  # fmt: skip
        except SwaymeterError as error:
            return self.graph.refuse(kind, identity, error).output("disputes")
        arguments = (self.plan.study, titles)
        return self.graph.add(kind, identity, outputs, parameters=parameters, arguments=arguments).output("disputes")

    def _written(self, disputes: Reference) -> Reference:
        title = disputes.node.id.part
        kind, identity, writer = kinds.OF_PAGE, kinds.OF_PAGE.id(DISPUTABLE, title), steps.writer_of(self.plan.study)
        try:
            revision = self.graph.once(identify_language_model, writer.source).revision
        except SwaymeterError as error:
            return self.graph.refuse(kind, identity, error, inputs=[disputes.node]).output("questions")
        parameters = {
            "writer": writer.name, "revision": revision, "dtype": writer.dtype,
            "prompt": content_key(asdict(dispute_prompt())), "seed": self.plan.study.seed,
        }  # fmt: skip
        return self.graph.add(
            kind, identity, _questions(title), inputs={"disputes": disputes}, parameters=parameters,
            arguments=self.plan.study, device=writer.device,
        ).output("questions")  # fmt: skip

    # ---- what keys are made of -------------------------------------------------------------------------------------

    def _catalog(self, relation: str) -> str:
        """The digest of the relation's entry; a list may be about relations that the catalog does not have."""
        return catalog.relation_digest(relation) if relation in catalog.relations() else ""

    def _addresses(self, *services: str) -> dict[str, str]:
        return {name: self.plan.access.address(name) for name in services}

    def _similar(self) -> tuple[str, ...]:
        return ("wembedder",) if self.options.counter_memory == "wembedder" else ()

    def _embedder(self) -> dict[str, str]:
        identified = _identified(self.options.embedder)
        return {"embedder": identified[0], "embedder_revision": identified[1]}


@functools.lru_cache(maxsize=4)
def _identified(embedder: str) -> tuple[str, str]:
    identity = identify_model(embedder, "embedder")
    return identity.name, identity.revision


def _questions(part: str) -> dict[str, Output]:
    return {
        "rejected": Output(REJECTED, ("facts",), f"rejected-{part}"),
        "questions": Output(QUESTIONS, ("facts",), f"questions-{part}"),
    }


def _by_relation(rows: pa.Table) -> dict[str, list[Triple]]:
    by_relation: dict[str, list[Triple]] = {}
    for row in rows.to_pylist():
        by_relation.setdefault(row["relation"], []).append(of_row(Triple, row))
    return by_relation


def _titles(rows: pa.Table) -> list[str]:
    return [str(title) for title in rows["page"].to_pylist()]
