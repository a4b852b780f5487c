"""The steps that fetch: facts by relation, invented names by class, questions by partition."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from data import catalog
from data.errors import InputError, SwaymeterError
from data.records import Partition, as_row
from data.records.tables import FACTS, INVENTED, QUESTIONS
from data.sources.access import ServiceAccess
from data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from data.sources.source import FactsOptions, QuestionsOptions
from flows.graph.access import ServiceSettings
from flows.graph.graph import Graph, Node, Reference
from flows.graph.step import Output, Run, Step, StepId
from flows.graph.wikidata import fetch_wikidata
from flows.study.study import Study
from tasks.contexts.invented_names import fetch_invented_names, invented_names_key

VERSION = 4


@dataclass(frozen=True)
class Fetched:
    """What the next stage builds from.

    facts: by relation. names: by class. candidates: of each partition the steps that may yield its questions.
    lacking: a list that is not fetched, of partitions whose steps follow from it.
    """

    facts: Mapping[str, Reference]
    names: Mapping[str, Reference]
    candidates: Mapping[Partition, list[Reference]]
    lacking: Mapping[Partition, Node]


@dataclass(frozen=True)
class Fetch:
    """What a step fetches: the options of the study, and how services are treated."""

    options: Any
    seed: int
    services: ServiceSettings

    def access(self, step: Step, run: Run) -> ServiceAccess:
        """Access to services for a step."""
        return self.services.access(run, step)


def fetch(graph: Graph, study: Study) -> Fetched:
    """Adds the steps that fetch what the study's measures are about."""
    services = ServiceSettings.of(study)
    facts: dict[str, Reference] = {}
    names: dict[str, Reference] = {}
    if study.facts is not None and study.asks_queries:
        arguments = Fetch(study.facts, study.seed, services)
        for relation in study.facts.relations:
            facts[relation] = _facts(graph, study.facts, relation, arguments)
        if study.facts.invented_entities:
            for name in sorted({catalog.relation(relation).subject_class for relation in study.facts.relations}):
                names[name] = _names(graph, study.facts, name, arguments)
    if study.questions is None or not study.asks_questions:
        return Fetched(facts, names, {}, {})
    arguments = Fetch(study.questions, study.seed, services)
    source = QUESTION_SOURCES[study.questions.source]
    if source.fetch is None:
        candidates, lacking = fetch_wikidata(graph, study, services)
    else:
        candidates = {name: [_questions(graph, study.questions, name, arguments)] for name in study.questions.partitions}
        lacking = {}
    return Fetched(facts, names, candidates, lacking)


def _facts(graph: Graph, options: FactsOptions, relation: str, arguments: Fetch) -> Reference:
    identity = StepId("fetch", relation, "facts")
    source, access = FACT_SOURCES[options.source], arguments.services.access_of(graph.workspace)
    try:
        key = source.key(options, relation, arguments.seed, access)
    except SwaymeterError as error:
        return graph.refuse(identity, error).output("facts")
    outputs = {"facts": Output(FACTS, ("facts",), f"facts-{relation}")}
    return graph.add(
        identity, fetch_facts, outputs, version=VERSION, parameters=key, arguments=arguments, resource="services"
    ).output("facts")


def _names(graph: Graph, options: FactsOptions, entity_class: str, arguments: Fetch) -> Reference:
    identity = StepId("fetch", entity_class, "invented names")
    try:
        key = invented_names_key(options, entity_class, arguments.seed, arguments.services.access_of(graph.workspace))
    except SwaymeterError as error:
        return graph.refuse(identity, error).output("names")
    outputs = {"names": Output(INVENTED, ("facts",), f"invented-{entity_class}")}
    resource = "compute" if options.invented == "model" else "services"
    return graph.add(
        identity, fetch_names, outputs, version=VERSION, parameters=key, arguments=arguments, resource=resource  # type: ignore[arg-type]
    ).output("names")


def _questions(graph: Graph, options: QuestionsOptions, partition: Partition, arguments: Fetch) -> Reference:
    identity = StepId("fetch", partition, "questions")
    source = QUESTION_SOURCES[options.source]
    assert source.key is not None
    try:
        key = source.key(options, partition, arguments.services.access_of(graph.workspace))
    except SwaymeterError as error:
        return graph.refuse(identity, error).output("questions")
    outputs = {"questions": Output(QUESTIONS, ("facts",), f"questions-{partition}")}
    return graph.add(
        identity, fetch_questions, outputs, version=VERSION, parameters=key, arguments=arguments, resource="services"
    ).output("questions")


# ---- what the steps do -----------------------------------------------------------------------------------------------


def fetch_facts(step: Step, run: Run) -> None:
    """Fetches the facts of a relation; InputError where there are none."""
    arguments: Fetch = step.arguments
    source = FACT_SOURCES[arguments.options.source]
    fetched = source.fetch(arguments.options, step.id.subject, arguments.seed, arguments.access(step, run))
    if not fetched.facts:
        raise InputError(f"relation {step.id.subject}: the source has no facts; choose another relation")
    about = {"requested": fetched.requested, "rejected": dict(fetched.rejected)}
    facts = step.table("facts")
    facts.write(facts.table.of([as_row(fact) for fact in fetched.facts]), about)


def fetch_names(step: Step, run: Run) -> None:
    """Makes up the names of invented entities of a class; InputError where every one exists."""
    arguments, entity_class = step.arguments, step.id.subject
    access = arguments.access(step, run)
    names, absent_from = fetch_invented_names(arguments.options, entity_class, arguments.seed, access)
    if not names:
        raise InputError(f"entity class {entity_class}: every name that was made up exists; choose another `seed`")
    made_by = arguments.options.invented_model or arguments.options.invented
    row = {"entity_class": entity_class, "made_by": made_by, "absent_from": list(absent_from)}
    table = step.table("names")
    table.write(table.table.of([{**row, "name": name} for name in names]))


def fetch_questions(step: Step, run: Run) -> None:
    """Fetches the questions of a partition; InputError where there are none."""
    arguments: Fetch = step.arguments
    source, partition = QUESTION_SOURCES[arguments.options.source], step.id.subject
    assert source.fetch is not None
    questions = source.fetch(arguments.options, partition, arguments.access(step, run))  # type: ignore[arg-type]
    if not questions:
        raise InputError(f"partition {partition}: the source has no questions; leave the partition out")
    table = step.table("questions")
    table.write(table.table.of([as_row(question) for question in questions]))
