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
from swaymeter.flows.stages.wikidata import fetch_wikidata
from swaymeter.flows.study.study import Study
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


def fetch(graph: Graph, study: Study) -> Fetched:
    """Adds the steps that fetch what the study's measures are about."""
    about = {measure.about for measure in study.requested().values()}
    facts: dict[str, Reference] = {}
    names: dict[str, Reference] = {}
    if study.facts is not None and about - {"questions"}:
        facts = {relation: _facts(graph, study, relation) for relation in study.facts.relations}
        if study.facts.invented_entities:
            classes = sorted({study.facts.relation(name).subject_class for name in facts})
            names = {entity_class: _names(graph, study, entity_class) for entity_class in classes}
    if study.questions is None or "questions" not in about:
        return Fetched(facts, names, {}, {})
    if QUESTION_SOURCES[study.questions.source].in_several_steps:
        return Fetched(facts, names, *fetch_wikidata(graph, study))
    candidates = {partition: [_questions(graph, study, partition)] for partition in study.questions.partitions}
    return Fetched(facts, names, candidates, {})


def _facts(graph: Graph, study: Study, relation: str) -> Reference:
    assert study.facts is not None
    source = FACT_SOURCES[study.facts.source]
    return _add(
        graph, study, kinds.FACTS, relation, (FACTS,),
        lambda access: source.key(study.facts, relation, study.seed, access),
    )  # fmt: skip


def _names(graph: Graph, study: Study, entity_class: str) -> Reference:
    options = study.facts
    assert options is not None
    return _add(
        graph, study, kinds.NAMES, entity_class, (INVENTED,),
        lambda access: invented_names_key(options, entity_class, study.seed, access),
        resource="compute" if options.invented == "model" else None,
    )  # fmt: skip


def _questions(graph: Graph, study: Study, partition: Partition) -> Reference:
    assert study.questions is not None
    source = QUESTION_SOURCES[study.questions.source]
    assert source.key is not None
    key = source.key
    return _add(
        graph, study, kinds.CANDIDATES, partition, (REJECTED, QUESTIONS),
        lambda access: key(study.questions, partition, access),
    )  # fmt: skip


def _add(
    graph: Graph,
    study: Study,
    kind: StepKind,
    subject: str,
    tables: Sequence[Table],
    key: Callable[[Access], Mapping[str, Any]],
    resource: Resource | None = None,
) -> Reference:
    """A step whose outputs depend on what its source says of its key; gives the last one."""
    identity = kind.id(subject)
    try:
        parameters = key(study.access(graph.workspace.downloads, offline=True))
    except SwaymeterError as error:
        return graph.refuse(kind, identity, error).output(kind.makes[-1])
    outputs = {
        role: Output(table, ("facts",), f"{role}-{subject}") for role, table in zip(kind.makes, tables, strict=True)
    }
    node = graph.add(kind, identity, outputs, parameters=parameters, arguments=study, resource=resource)
    return node.output(kind.makes[-1])
