"""The steps that fetch: facts by relation, invented names by class, questions by partition."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swaymeter.data.errors import SwaymeterError
from swaymeter.data.records import Partition
from swaymeter.data.records.table import Table
from swaymeter.data.records.tables import FACTS, INVENTED, QUESTIONS, REJECTED
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from swaymeter.flows.graph.graph import Graph, Node, Reference
from swaymeter.flows.graph.step import Output, Resource, StepKind
from swaymeter.flows.stages import study_graph as kinds
from swaymeter.flows.stages.plan import Plan
from swaymeter.flows.stages.wikidata import fetch_wikidata
from swaymeter.tasks.contexts.invented_names import invented_names_key


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


def fetch(graph: Graph, plan: Plan) -> Fetched:
    """Adds the steps that fetch what the study's measures are about."""
    study, about = plan.study, {each.leading.about for each in plan.passes}
    facts: dict[str, Reference] = {}
    names: dict[str, Reference] = {}
    if study.facts is not None and about - {"questions"}:
        facts = {relation: _facts(graph, plan, relation) for relation in study.facts.relations}
        if study.facts.invented_entities:
            classes = sorted({study.facts.relation(name).subject_class for name in facts})
            names = {entity_class: _names(graph, plan, entity_class) for entity_class in classes}
    if study.questions is None or "questions" not in about:
        return Fetched(facts, names, {}, {})
    if QUESTION_SOURCES[study.questions.source].in_several_steps:
        return Fetched(facts, names, *fetch_wikidata(graph, plan))
    candidates = {partition: [_questions(graph, plan, partition)] for partition in study.questions.partitions}
    return Fetched(facts, names, candidates, {})


def _facts(graph: Graph, plan: Plan, relation: str) -> Reference:
    options, seed = plan.study.facts, plan.study.seed
    assert options is not None
    source = FACT_SOURCES[options.source]
    return _add(
        graph, plan, kinds.FACTS, relation, (FACTS,),
        lambda access: source.key(options, relation, seed, access),
    )  # fmt: skip


def _names(graph: Graph, plan: Plan, entity_class: str) -> Reference:
    options, seed = plan.study.facts, plan.study.seed
    assert options is not None
    return _add(
        graph, plan, kinds.NAMES, entity_class, (INVENTED,),
        lambda access: invented_names_key(options, entity_class, seed, access),
        resource="compute" if options.invented == "model" else None,
    )  # fmt: skip


def _questions(graph: Graph, plan: Plan, partition: Partition) -> Reference:
    options = plan.study.questions
    assert options is not None
    key = QUESTION_SOURCES[options.source].key
    assert key is not None
    return _add(
        graph, plan, kinds.CANDIDATES, partition, (REJECTED, QUESTIONS),
        lambda access: key(options, partition, access),
    )  # fmt: skip


def _add(
    graph: Graph,
    plan: Plan,
    kind: StepKind,
    subject: str,
    tables: Sequence[Table],
    key: Callable[[Access], Mapping[str, Any]],
    resource: Resource | None = None,
) -> Reference:
    """A step whose outputs depend on what its source says of its key; gives the last one."""
    identity = kind.id(subject)
    try:
        parameters = key(plan.access)
    except SwaymeterError as error:
        return graph.refuse(kind, identity, error).output(kind.makes[-1])
    outputs = {
        role: Output(table, ("facts",), f"{role}-{subject}") for role, table in zip(kind.makes, tables, strict=True)
    }
    node = graph.add(kind, identity, outputs, parameters=parameters, arguments=plan.study, resource=resource)
    return node.output(kind.makes[-1])
