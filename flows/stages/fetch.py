"""The steps that fetch: facts by relation, invented names by class, questions by partition."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from data import catalog
from data.errors import InputError, SwaymeterError
from data.records import Partition
from data.records.table import Table
from data.records.tables import FACTS, INVENTED, QUESTIONS
from data.sources.access import Access
from data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from flows.graph.graph import Graph, Node, Reference
from flows.graph.step import Function, Output, Resource, Run, Step, StepId
from flows.stages.access import access_for, access_for_keys
from flows.stages.wikidata import fetch_wikidata
from flows.study.study import Study
from tasks.contexts.invented_names import fetch_invented_names, invented_names_key

VERSION = 4


@dataclass(frozen=True)
class Fetched:
    """What the next stage builds from.

    facts: by relation. names: by class. candidates: of each partition the steps that may yield its questions.
    lacking: the lists that are not fetched, of partitions whose steps follow from them.
    """

    facts: Mapping[str, Reference]
    names: Mapping[str, Reference]
    candidates: Mapping[Partition, list[Reference]]
    lacking: Mapping[Partition, list[Node]]


def fetch(graph: Graph, study: Study) -> Fetched:
    """Adds the steps that fetch what the study's measures are about."""
    about = {measure.about for measure in study.requested().values()}
    facts: dict[str, Reference] = {}
    names: dict[str, Reference] = {}
    if study.facts is not None and about - {"questions"}:
        facts = {relation: _facts(graph, study, relation) for relation in study.facts.relations}
        if study.facts.invented_entities:
            classes = sorted({catalog.relation(relation).subject_class for relation in facts})
            names = {entity_class: _names(graph, study, entity_class) for entity_class in classes}
    if study.questions is None or "questions" not in about:
        return Fetched(facts, names, {}, {})
    if QUESTION_SOURCES[study.questions.source].fetch is None:
        return Fetched(facts, names, *fetch_wikidata(graph, study))
    candidates = {partition: [_questions(graph, study, partition)] for partition in study.questions.partitions}
    return Fetched(facts, names, candidates, {})


def _facts(graph: Graph, study: Study, relation: str) -> Reference:
    assert study.facts is not None
    source = FACT_SOURCES[study.facts.source]
    return _add(
        graph, study, StepId("fetch", relation, "facts"), fetch_facts, "facts", FACTS,
        lambda access: source.key(study.facts, relation, study.seed, access),
    )  # fmt: skip


def _names(graph: Graph, study: Study, entity_class: str) -> Reference:
    options = study.facts
    assert options is not None
    return _add(
        graph, study, StepId("fetch", entity_class, "invented names"), fetch_names, "invented", INVENTED,
        lambda access: invented_names_key(options, entity_class, study.seed, access),
        resource="compute" if options.invented == "model" else "services",
    )  # fmt: skip


def _questions(graph: Graph, study: Study, partition: Partition) -> Reference:
    assert study.questions is not None
    source = QUESTION_SOURCES[study.questions.source]
    assert source.key is not None
    key = source.key
    return _add(
        graph, study, StepId("fetch", partition, "questions"), fetch_questions, "questions", QUESTIONS,
        lambda access: key(study.questions, partition, access),
    )  # fmt: skip


def _add(
    graph: Graph,
    study: Study,
    identity: StepId,
    function: Function,
    role: str,
    table: Table,
    key: Callable[[Access], Mapping[str, Any]],
    resource: Resource = "services",
) -> Reference:
    """A step whose one output depends on what its source says of its key."""
    try:
        parameters = key(access_for_keys(study, graph.workspace))
    except SwaymeterError as error:
        return graph.refuse(identity, error).output(role)
    outputs = {role: Output(table, ("facts",), f"{role}-{identity.subject}")}
    node = graph.add(
        identity, function, outputs, version=VERSION, parameters=parameters, arguments=study, resource=resource
    )
    return node.output(role)


# ---- what the steps do -----------------------------------------------------------------------------------------------


def fetch_facts(step: Step, run: Run) -> None:
    """Fetches the facts of a relation; InputError where there are none."""
    study: Study = step.arguments
    assert study.facts is not None
    source = FACT_SOURCES[study.facts.source]
    fetched = source.fetch(study.facts, step.id.subject, study.seed, access_for(study, step, run))
    if not fetched.facts:
        raise InputError(f"relation {step.id.subject}: the source has no facts; choose another relation")
    about = {"requested": fetched.requested, "rejected": dict(fetched.rejected)}
    step.write("facts", fetched.facts, about)


def fetch_names(step: Step, run: Run) -> None:
    """Makes up the names of invented entities of a class; InputError where every one exists."""
    study: Study = step.arguments
    options, entity_class = study.facts, step.id.subject
    assert options is not None
    names, absent_from = fetch_invented_names(options, entity_class, study.seed, access_for(study, step, run))
    if not names:
        raise InputError(f"entity class {entity_class}: every name that was made up exists; choose another `seed`")
    made_by = options.invented_model or options.invented
    row = {"entity_class": entity_class, "made_by": made_by, "absent_from": list(absent_from)}
    table = step.table("invented")
    table.write(table.table.of([{**row, "name": name} for name in names]))


def fetch_questions(step: Step, run: Run) -> None:
    """Fetches the questions of a partition; InputError where there are none."""
    study: Study = step.arguments
    assert study.questions is not None
    source, partition = QUESTION_SOURCES[study.questions.source], step.id.subject
    assert source.fetch is not None
    questions = source.fetch(study.questions, partition, access_for(study, step, run))  # type: ignore[arg-type]
    if not questions:
        raise InputError(f"partition {partition}: the source has no questions; leave the partition out")
    step.write("questions", questions)
