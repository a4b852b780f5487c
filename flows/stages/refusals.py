"""What is known to be impossible before anything runs: missing files, too few facts, devices that are absent or small.

Only steps that are not done are considered: scores that a GPU gave are aggregated on any machine.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from swaymeter.data import catalog
from swaymeter.data.errors import InputError, ModelError
from swaymeter.data.records import RelationName
from swaymeter.data.sources.registry import FACT_SOURCES
from swaymeter.flows.graph.graph import Graph
from swaymeter.flows.graph.selection import UNKNOWN_MEASURES
from swaymeter.flows.graph.step import StepId
from swaymeter.flows.stages import study_graph as kinds
from swaymeter.flows.stages.build import own_contexts
from swaymeter.flows.stages.score import at_hand
from swaymeter.flows.study.sections.model import ModelPart
from swaymeter.flows.study.sections.runner import RunnerName
from swaymeter.flows.study.study import Study
from swaymeter.tasks.contexts.entities import choose_entities, unknown_names
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.asked import PerQuery, check_enough


def refusals(graph: Graph, study: Study, selected: Collection[StepId], *, force: bool = False) -> Iterator[str]:
    """Why the selected steps cannot be run, each reason with the key of the study file that leads to it.

    A model that the hub did not give is not among them: a later run may get it, and the other steps go on.
    """
    nodes = [node for node in graph if node.id in selected]
    for node in nodes:
        is_known_early = node.id.stage == "fetch" or node.id.group in (kinds.PROMPTS.group, kinds.FREQUENCIES.group)
        if is_known_early and node.refusal and not isinstance(node.refusal, ModelError):
            yield str(node.refusal)
    sample = study.contexts.sample
    of_entities = {kinds.FACTS.group, kinds.PROMPTS.group}
    relations = dict.fromkeys(node.id.subject for node in nodes if node.id.group in of_entities and not node.refusal)
    for relation in relations:
        prompts = graph.nodes[kinds.PROMPTS.id(relation)]
        if prompts.state != "done":
            asked_with = None if prompts.refusal else sample
            if asked_with is not None:
                yield from _too_few_written_contexts(study, RelationName(relation), asked_with)
            yield from _too_few(graph, study, RelationName(relation), asked_with)
    if sample is not None:
        subjects = dict.fromkeys(n.id.subject for n in nodes if n.id.stage == "score" and (force or n.state != "done"))
        for relation in subjects:
            yield from _too_few_built_contexts(graph, relation, sample)
    yield from refused_models(asked_models(graph, study, selected, force=force), study.execution.runner)
    about_questions = [node.id for node in nodes if _is_about_questions(node.id)]
    yield from _refused_templates(graph, study, asked_models(graph, study, about_questions, force=force))


def asked_models(
    graph: Graph, study: Study, selected: Collection[StepId], *, force: bool = False
) -> dict[int, ModelPart]:
    """The models of the study that the selected steps ask, by their place in its file."""
    scores = (node for node in graph if node.id in selected and node.id.stage == "score")
    asked = {(node.id.model, node.id.dtype) for node in scores if force or node.state != "done"}
    return {number: one for number, one in enumerate(study.models) if (one.name, one.dtype) in asked}


def refused_models(asked: Mapping[int, ModelPart], runner: RunnerName) -> Iterator[str]:
    """Why models cannot be asked where they are to, each with its place in the study file."""
    from swaymeter.tasks.models.loading import BALANCED
    from swaymeter.tasks.models.size import why_not_here

    if runner == "dask":
        return  # the devices are those of its workers, which are asked
    for number, model in asked.items():
        if runner == "processes" and (model.device == BALANCED or ":" in model.device):
            yield (
                f"models.{number}: device {model.device}, and with runner processes each worker has a GPU of its own; "
                "use device cuda, or runner threads"
            )
        elif reason := why_not_here(model.name, model.dtype, model.device):
            yield f"models.{number}: {reason}"


def _refused_templates(graph: Graph, study: Study, asked: Mapping[int, ModelPart]) -> Iterator[str]:
    """Which models have a chat template, as far as it is on this machine, that lacks a keyword of the study."""
    from swaymeter.tasks.scoring.template_options import options_of

    for number, model in asked.items() if study.prompt.answer_prompts().template_options else ():
        try:
            if speaker := at_hand(graph, model.name):
                options_of(speaker, study.answer_prompts(model))
        except ModelError as error:
            yield f"models.{number}: {error}"


def _is_about_questions(step: StepId) -> bool:
    return step.group == UNKNOWN_MEASURES or (step.group in MEASURES and MEASURES[step.group].about == "questions")


def _too_few(graph: Graph, study: Study, relation: RelationName, sample: PerQuery | None) -> Iterator[str]:
    """Whether a source that has its facts at hand, the catalog's list of names or a file of contexts has too little."""
    options = study.facts
    assert options is not None
    if not options.has_answers:
        return  # what is asked about is all there, or the step that reads it is refused
    source = FACT_SOURCES[options.source]
    entity_class = options.relation(relation).subject_class
    names = catalog.invented_entities(entity_class) if options.invented == "catalog" else None
    try:
        if not source.at_hand:
            if names is not None:
                unknown_names(relation, names, (), options.invented_entities)
            return
        access = study.access(graph.workspace.downloads, offline=True)
        facts = source.fetch(options, relation, study.seed, access).facts
        if not facts:
            yield f"facts.relations: {options.called} has no facts of relation {relation}; leave it out"
            return
        entities = choose_entities(
            relation, facts, names or (), real=options.real_entities, seed=study.seed, choice=options.choice,
            invented=options.invented_entities if names is not None else 0,
        )  # fmt: skip
    except InputError as error:
        yield f"facts: {error}"
        return
    if sample is not None and (own := own_contexts(study, relation)):
        mentioned = [(row.entity, row.object) for row in own]
        yield from _too_few_contexts(relation, {one.name for one in entities}, mentioned, sample)


def _too_few_written_contexts(study: Study, relation: RelationName, sample: PerQuery) -> Iterator[str]:
    """Whether fewer contexts are written about each entity than a query is asked with; own ones are counted later."""
    assert study.facts is not None
    group = study.facts.group(relation, study.seed)
    each = group.about_each if group else sum(study.contexts.per_kind().values())
    others = group.contexts - each if group else each * (study.facts.real_entities + study.facts.invented_entities - 1)
    if not own_contexts(study, relation):
        try:
            check_enough(relation, "an entity", each, others, sample)
        except InputError as error:
            yield str(error)


def _too_few_built_contexts(graph: Graph, relation: str, sample: PerQuery) -> Iterator[str]:
    node = graph.nodes.get(kinds.PROMPTS.id(relation))
    if node is not None and node.state == "done":
        entities = graph.remembered(node.output("queries"), lambda rows: set(rows["entity"].to_pylist()))
        columns = ("entity", "object")
        mentioned = graph.remembered(
            node.output("contexts"), lambda rows: [*zip(*(rows[name].to_pylist() for name in columns), strict=True)]
        )
        yield from _too_few_contexts(relation, entities, mentioned, sample)


def _too_few_contexts(
    relation: str, entities: Collection[str], mentioned: Collection[Collection[str | None]], sample: PerQuery
) -> Iterator[str]:
    """Whether an entity has too few contexts, the first such one; mentioned: whom each context names."""
    relevant = Counter(name for names in mentioned for name in {*names})
    for entity in sorted(entities):
        try:
            check_enough(relation, entity, relevant[entity], len(mentioned) - relevant[entity], sample)
        except InputError as error:
            yield str(error)
            return
