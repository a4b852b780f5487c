"""Stage `fetch`: a step for the facts of each relation, the names of each class and the questions of each partition."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swaymeter.data.errors import InputError, SwaymeterError
from swaymeter.data.records import InventedName, Partition
from swaymeter.data.records.table import Table
from swaymeter.data.records.tables import FACTS, INVENTED, QUESTIONS, REJECTED
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from swaymeter.flows.config.study import StudyFile
from swaymeter.flows.graph.graph import Graph, Output, PlannedStep, Resource, RunSettings, Step, StepInput, StepKind
from swaymeter.flows.graph.selection import INVENTED_NAMES
from swaymeter.flows.stages.plan import Plan, access_for
from swaymeter.tasks.contexts.invented_names import fetch_invented_names, invented_names_key


def fetch_facts(step: Step, settings: RunSettings) -> None:
    """Fetch the facts of a relation; InputError without facts."""
    study: StudyFile = step.arguments
    assert study.facts is not None
    source = FACT_SOURCES[study.facts.source]
    fetched = source.fetch(study.facts, step.id.subject, study.seed, access_for(study, step, settings))
    if not fetched.facts:
        raise InputError(f"relation {step.id.subject}: the source has no facts; choose another relation")
    step.write("facts", fetched.facts, {"requested": fetched.examined, "rejected": dict(fetched.rejected)})


def fetch_names(step: Step, settings: RunSettings) -> None:
    """Fetch names for invented entities of a class; InputError if every name belongs to a real entity."""
    study: StudyFile = step.arguments
    options, entity_class = study.facts, step.id.subject
    assert options is not None
    names, absent_from = fetch_invented_names(options, entity_class, study.seed, access_for(study, step, settings))
    inventor = options.invented_model or options.invented
    step.write("invented", [InventedName(entity_class, name, inventor, tuple(absent_from)) for name in names])


def fetch_questions(step: Step, settings: RunSettings) -> None:
    """Fetch the questions of a partition; InputError without questions."""
    study: StudyFile = step.arguments
    assert study.questions is not None
    source, partition = QUESTION_SOURCES[study.questions.source], step.id.subject
    assert source.fetch is not None
    fetched = source.fetch(study.questions, partition, access_for(study, step, settings))  # type: ignore[arg-type]
    if not fetched.questions:
        raise InputError(f"partition {partition}: the source has no questions; leave the partition out")
    step.write("rejected", fetched.rejected)
    step.write("questions", fetched.questions)


# ---- the steps of a study --------------------------------------------------------------------------------------------

FETCH_FACTS = StepKind("fetch", "facts", makes=("facts",), function=fetch_facts, version=4, resource="services")
FETCH_NAMES = StepKind(
    "fetch", INVENTED_NAMES, makes=("invented",), function=fetch_names, version=4, resource="services"
)
FETCH_QUESTIONS = StepKind(
    "fetch",
    "questions",
    makes=("rejected", "questions"),
    function=fetch_questions,
    version=5,
    resource="services",
    changes_daily=True,
)


@dataclass(frozen=True)
class FetchedInputs:
    """Inputs of the stage `build`.

    Attributes:
        facts: Facts by relation.
        names: Invented names by class of the entities.
        candidates: Tables of candidates for questions, by partition.
        unfinished_listing_steps: Unfinished steps that make a list of triples or pages, by partition. Once such a step
            is done, the graph gets further steps for the rows of the list.
    """

    facts: Mapping[str, StepInput]
    names: Mapping[str, StepInput]
    candidates: Mapping[Partition, list[StepInput]]
    unfinished_listing_steps: Mapping[Partition, list[PlannedStep]]


def add_fetch_steps(graph: Graph, plan: Plan) -> FetchedInputs:
    """Add the steps that fetch the facts and questions of the study's measures."""
    study, topics = plan.study, {scoring_pass.leading.about for scoring_pass in plan.passes}
    facts: dict[str, StepInput] = {}
    names: dict[str, StepInput] = {}
    if study.facts is not None and topics - {"questions"}:
        facts = {relation: _add_facts(graph, plan, relation) for relation in study.facts.relations}
        if study.facts.invented_entities:
            classes = sorted({study.facts.relation(name).subject_class for name in facts})
            names = {entity_class: _add_names(graph, plan, entity_class) for entity_class in classes}
    if study.questions is None or "questions" not in topics:
        return FetchedInputs(facts, names, {}, {})
    if QUESTION_SOURCES[study.questions.source].needs_several_steps:
        from swaymeter.flows.stages.wikidata import add_wikidata_steps  # imports clients that few studies need

        return FetchedInputs(facts, names, *add_wikidata_steps(graph, plan))
    candidates = {partition: [_add_questions(graph, plan, partition)] for partition in study.questions.partitions}
    return FetchedInputs(facts, names, candidates, {})


def _add_facts(graph: Graph, plan: Plan, relation: str) -> StepInput:
    options, seed = plan.study.facts, plan.study.seed
    assert options is not None
    source = FACT_SOURCES[options.source]
    return _add_step(
        graph,
        plan,
        FETCH_FACTS,
        relation,
        (FACTS,),
        lambda access: source.key(options, relation, seed, access),
    )


def _add_names(graph: Graph, plan: Plan, entity_class: str) -> StepInput:
    options, seed = plan.study.facts, plan.study.seed
    assert options is not None
    return _add_step(
        graph,
        plan,
        FETCH_NAMES,
        entity_class,
        (INVENTED,),
        lambda access: invented_names_key(options, entity_class, seed, access),
        resource="compute" if options.invented == "model" else None,
    )


def _add_questions(graph: Graph, plan: Plan, partition: Partition) -> StepInput:
    options = plan.study.questions
    assert options is not None
    key = QUESTION_SOURCES[options.source].key
    assert key is not None
    return _add_step(
        graph,
        plan,
        FETCH_QUESTIONS,
        partition,
        (REJECTED, QUESTIONS),
        lambda access: key(options, partition, access),
    )


def _add_step(
    graph: Graph,
    plan: Plan,
    kind: StepKind,
    subject: str,
    tables: Sequence[Table],
    key_inputs: Callable[[Access], Mapping[str, Any]],
    resource: Resource | None = None,
) -> StepInput:
    """Add a step with tables in the folder `facts`, and return the step's last table.

    `key_inputs` returns the parameters on which the key of the step depends.
    """
    identity = kind.id(subject)
    try:
        parameters = key_inputs(plan.access)
    except SwaymeterError as error:
        return graph.add_refused(kind, identity, error).output(kind.makes[-1])
    outputs = {
        role: Output(table, ("facts",), f"{role}-{subject}") for role, table in zip(kind.makes, tables, strict=True)
    }
    node = graph.add(kind, identity, outputs, parameters=parameters, arguments=plan.study, resource=resource)
    return node.output(kind.makes[-1])
