"""Reasons to refuse a run before it begins: missing files, too few facts, devices that are missing or too small.

Only unfinished steps are checked, so that any machine can aggregate the scores of a GPU.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from swaymeter.data import catalog
from swaymeter.data.errors import (
    InputError,
    ModelError,
    ServiceError,
    StudyFileError,
    SwaymeterError,
    UnknownName,
    first_few,
)
from swaymeter.data.records import RESERVED_RELATION_NAMES, RelationName
from swaymeter.data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from swaymeter.flows.config.study import StudyFile
from swaymeter.flows.graph.graph import Graph, StepId
from swaymeter.flows.graph.selection import ALL_MEASURES, DISPUTABLE, INVENTED_NAMES, Selection
from swaymeter.flows.stages.build import BUILD_PROMPTS
from swaymeter.flows.stages.fetch import FETCH_FACTS
from swaymeter.flows.stages.frequency import SUM_COUNTS
from swaymeter.flows.stages.plan import Plan, PlannedVariant
from swaymeter.tasks.contexts.sentences import choose_entities, unknown_names
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.judged_answers import JUDGED_ANSWERS, load_function
from swaymeter.tasks.measures.measure import PerQuery, check_enough
from swaymeter.tasks.models.applications import load_function as load_application_function
from swaymeter.tasks.models.capabilities import Capability
from swaymeter.tasks.models.endpoints.endpoint import Endpoint
from swaymeter.tasks.models.files.identity import ModelKind, identify_model, kind_of_equivalence_model
from swaymeter.tasks.models.loading import SERVER_CAPABILITIES, capabilities

JUDGED = JUDGED_ANSWERS.name
"""Name of the measure with the verdicts of a judge."""


def check_run(
    graph: Graph, plan: Plan, selection: Selection, *, name: str, force: bool = False, offline: bool = False
) -> None:
    """Refuse an impossible run before anything is written, for commands and deployments alike.

    Raises:
        UnknownName: The study has no relation, model or measure of a selected name.
        StudyFileError: The run is impossible; the message begins with `name` and lists the reasons.
    """
    check_selection(selection, plan.study, lambda: graph)
    if problems := list(dict.fromkeys(refusals(graph, plan, selection.of(graph), force=force, offline=offline))):
        raise StudyFileError(f"{name}: {first_few(problems, separator='; ')}")


def check_selection(selection: Selection, study: StudyFile, get_graph: Callable[[], Graph]) -> None:
    """Raise UnknownName for a selected name that the study lacks; `get_graph` is called only for selected relations."""
    for kind, names, valid in (
        ("model", selection.models, [model.name for model in study.models]),
        ("measure", selection.measures, list(study.requested())),
        ("relation", selection.relations, _relations(get_graph(), selection) if selection.relations else []),
    ):
        for name in names:
            if name not in valid:
                raise UnknownName(kind, name, valid)


def _relations(graph: Graph, selection: Selection) -> list[str]:
    """Return the relations of a study; until its questions are fetched, all relations that its questions may have."""
    valid = {node.id.subject for node in graph if node.id.stage == "build"}
    if any(node.state != "done" for node in graph if node.id.subject in ("static", "temporal")):
        valid |= {*catalog.relations(), DISPUTABLE}
    valid |= {node.id.subject for node in graph if node.id.stage == "fetch" and node.id.product != INVENTED_NAMES}
    if any(node.id.subject == "own" and node.state != "done" for node in graph):
        # The groups of own questions are relations. Any name is valid until the file with the groups is read.
        valid |= {*selection.relations}
    return sorted(valid - RESERVED_RELATION_NAMES)


def refusals(
    graph: Graph, plan: Plan, selected: Collection[StepId], *, force: bool = False, offline: bool = False
) -> Iterator[str]:
    """Yield the reasons why the selected steps cannot run, each with the key of the study file to correct.

    A model that cannot be downloaded is not refused, because a later run may get it; the other steps continue.
    """
    nodes = [node for node in graph if node.id in selected]
    for node in nodes:
        refuses_run = node.id.stage == "fetch" or node.id.product in (BUILD_PROMPTS.product, SUM_COUNTS.product)
        if refuses_run and node.refusal and not isinstance(node.refusal, ModelError):
            yield str(node.refusal)
    per_query = plan.study.contexts.sample
    products = {FETCH_FACTS.product, BUILD_PROMPTS.product}
    relations = dict.fromkeys(node.id.subject for node in nodes if node.id.product in products and not node.refusal)
    for relation in relations:
        if graph.nodes[FETCH_FACTS.id(relation)].refusal:
            continue  # the refusal is yielded above
        build_step = graph.nodes[BUILD_PROMPTS.id(relation)]
        if build_step.state != "done":
            # The contexts of a refused relation are unknown. Its refusal is yielded above.
            required_per_query = None if build_step.refusal else per_query
            if required_per_query is not None:
                yield from _too_few_written_contexts(plan, RelationName(relation), required_per_query)
            yield from _too_few_facts(plan, RelationName(relation), required_per_query)
    if per_query is not None:
        score_nodes = [node for node in nodes if node.id.stage == "score" and (force or node.state != "done")]
        for relation in dict.fromkeys(node.id.subject for node in score_nodes):
            yield from _too_few_built_contexts(graph, relation, per_query)
    yield from refused_models(plan, variants_to_score(graph, plan, selected, force=force), offline=offline)
    # Until the questions are fetched, a placeholder with the product ALL_MEASURES stands for the steps of all measures.
    steps_of_judge = [node for node in nodes if node.id.product in (JUDGED, ALL_MEASURES)]
    if JUDGED in plan.parameters and any(force or node.state != "done" for node in steps_of_judge):
        yield from _refused_judge(plan, offline=offline)
    about_questions = [node.id for node in nodes if _is_about_questions(node.id)]
    yield from _refused_templates(variants_to_score(graph, plan, about_questions, force=force))


def variants_to_score(
    graph: Graph, plan: Plan, selected: Collection[StepId], *, force: bool = False
) -> list[PlannedVariant]:
    """Return the variants with a selected scoring step that is not done; `force` counts all steps as not done."""
    scores = (node for node in graph if node.id in selected and node.id.stage == "score")
    steps = [node.id for node in scores if force or node.state != "done"]
    return [variant for variant in plan.variants if any(map(variant.is_of, steps))]


def refused_models(plan: Plan, variants: Iterable[PlannedVariant], *, offline: bool = False) -> Iterator[str]:
    """Yield the reasons why models cannot be used, each with its position in the study file; servers are probed."""
    from swaymeter.tasks.models.pretrained import BALANCED
    from swaymeter.tasks.models.size import misfit_reason

    runner, unreachable = plan.study.execution.runner, list[str]()
    variants_by_position = dict[int, PlannedVariant]()
    for variant in variants:
        variants_by_position.setdefault(variant.position, variant)
    for variant in variants_by_position.values():
        position, model = variant.position, variant.model
        if served := model.served:
            try:
                yield from _lacking_capabilities(plan, variant, served, offline=offline)
            except ServiceError as error:  # a later run may reach the server, and steps of other models continue
                unreachable.append(f"models.{position}: {error}")
        elif model.returns_only_text:
            if model.function:
                try:
                    load_application_function(model.function, is_in_workspace=model.is_in_workspace)
                except ModelError as error:
                    yield f"models.{position}: {error}"
        elif runner == "dask":
            continue  # the workers, which have the devices, are checked when they connect
        elif runner == "processes" and (model.device == BALANCED or ":" in model.device):
            yield (
                f"models.{position}: device {model.device} cannot be used with runner processes, whose workers have "
                "one GPU each; use device cuda, or runner threads"
            )
        elif reason := misfit_reason(model.source, model.dtype, model.device):
            yield f"models.{position}: {reason}"
    if len(unreachable) == len(variants_by_position):  # no model can be used, so the run would score nothing
        yield from unreachable


def _lacking_capabilities(plan: Plan, variant: PlannedVariant, endpoint: Endpoint, *, offline: bool) -> Iterator[str]:
    """Yield the requirements of a study that a server cannot meet; ServiceError if the server cannot be reached."""
    from swaymeter.tasks.models.endpoints.model import load_served

    revision = variant.identity.revision if variant.identity else ""
    try:
        model = load_served(endpoint, plan.workspace.endpoints, revision=revision, offline=offline)
    except ServiceError:
        raise
    except SwaymeterError as error:
        yield f"models.{variant.position}: {error}"
        return
    measures_by_lack: dict[str, list[str]] = {}  # the key is a capability that the server lacks, with the reason
    for name in dict.fromkeys(name for scoring_pass in variant.passes for name in scoring_pass.measures):
        for capability in _needed_capabilities(plan, name):
            if reason := model.lacks(capability):
                measures_by_lack.setdefault(f"{capability} ({reason})", []).append(name)
    for capability_and_reason, names in measures_by_lack.items():
        without_samples = "set 0 samples (measures.answers.samples, --samples)"
        remedy = without_samples if names == ["answers"] else "leave these measures out"
        yield (
            f"models.{variant.position}: the server of {variant.model.name} cannot give {capability_and_reason}, which "
            f"is needed for {', '.join(names)}; {remedy}, or use this model in a separate study"
        )


def _refused_judge(plan: Plan, *, offline: bool) -> Iterator[str]:
    """Yield a reason if the judge cannot be used; a server is probed, and a function is loaded."""
    from swaymeter.tasks.models.endpoints.model import load_served

    parameters, declaration = plan.parameters[JUDGED], plan.declarations[JUDGED]
    try:
        if isinstance(declaration, SwaymeterError):
            raise declaration
        if parameters.endpoint:
            load_served(parameters.endpoint, plan.workspace.endpoints, offline=offline)
        elif parameters.function:
            load_function(*parameters.function)
    except SwaymeterError as error:
        yield f"measures.{JUDGED}.judge: {error}"


def _needed_capabilities(plan: Plan, measure: str) -> tuple[Capability | None, ...]:
    """Return the capabilities of a server that a measure needs; () if only greedy replies are needed."""
    if measure == "answers" and plan.parameters[measure].samples == 0:
        return ()
    return MEASURES[measure].capability, MEASURES[measure].requires


def _refused_templates(variants: Iterable[PlannedVariant]) -> Iterator[str]:
    """Yield the reasons why chat templates on this machine cannot be used with the template options of the study."""
    from swaymeter.tasks.models.prompts.template_options import options_of

    for variant in variants:
        try:
            if variant.prompts.template_options and variant.unloaded_model:
                options_of(variant.unloaded_model, variant.prompts)
        except ModelError as error:
            yield f"models.{variant.position}: {error}"


def _is_about_questions(identity: StepId) -> bool:
    return identity.product == ALL_MEASURES or (
        identity.product in MEASURES and MEASURES[identity.product].about == "questions"
    )


def _too_few_facts(plan: Plan, relation: RelationName, per_query: PerQuery | None) -> Iterator[str]:
    """Yield a reason for too few facts, too few invented names, or too few contexts in the user's file."""
    options, planned = plan.study.facts, plan.relations[relation]
    assert options is not None
    if planned.entry is None:
        return  # a group has texts instead of facts
    source = FACT_SOURCES[options.source]
    entity_class = options.relation(relation).subject_class
    # Names from elsewhere than the catalog are generated during the run, so they cannot be counted here.
    names = catalog.invented_entities(entity_class) if options.invented == "catalog" else None
    try:
        if not source.at_hand:
            if names is not None:
                unknown_names(relation, names, (), options.invented_entities)  # InputError for too few names
            return
        facts = source.fetch(options, relation, plan.study.seed, plan.access).facts
        if not facts:
            yield f"facts.relations: {options.display_name} has no facts of relation {relation}; leave it out"
            return
        entities = choose_entities(
            relation,
            facts,
            names or (),
            real=options.real_entities,
            seed=plan.study.seed,
            choice=options.choice,
            invented=options.invented_entities if names is not None else 0,
        )
    except InputError as error:
        yield f"facts: {error}"
        return
    if per_query is not None and planned.user_contexts:
        mentioned_names = [(row.entity, row.object) for row in planned.user_contexts]
        yield from _too_few_contexts(relation, {each.name for each in entities}, mentioned_names, per_query)


def _too_few_written_contexts(plan: Plan, relation: RelationName, per_query: PerQuery) -> Iterator[str]:
    """Yield a reason if a query needs more contexts than the study writes."""
    planned = plan.relations[relation]
    if planned.user_contexts:  # `_too_few_facts` counts the contexts of the user's file
        return
    counts = planned.counts
    # Each entity has the same number of written contexts.
    relevant = planned.group.sentences_per_entity if planned.group else counts.contexts // counts.entities
    try:
        check_enough(relation, "an entity", relevant, counts.contexts - relevant, per_query)
    except InputError as error:
        yield str(error)


def _too_few_built_contexts(graph: Graph, relation: str, per_query: PerQuery) -> Iterator[str]:
    node = graph.nodes.get(BUILD_PROMPTS.id(relation))
    if node is not None and node.state == "done":
        entities = graph.read_once(node.output("queries"), lambda rows: set(rows["entity"].to_pylist()))
        columns = ("entity", "object")
        mentioned_names = graph.read_once(
            node.output("contexts"), lambda rows: [*zip(*(rows[name].to_pylist() for name in columns), strict=True)]
        )
        yield from _too_few_contexts(relation, entities, mentioned_names, per_query)


def _too_few_contexts(
    relation: str, entities: Collection[str], mentioned_names: Collection[Collection[str | None]], per_query: PerQuery
) -> Iterator[str]:
    """Yield a reason for the first entity with too few contexts; `mentioned_names` has entity and object by context."""
    relevant = Counter(name for names in mentioned_names for name in {*names})  # number of contexts by mentioned name
    for entity in sorted(entities):
        try:
            check_enough(relation, entity, relevant[entity], len(mentioned_names) - relevant[entity], per_query)
        except InputError as error:
            yield str(error)
            return


def check_models(study: StudyFile, *, is_scored: bool = True, measures: Collection[str] = ()) -> None:
    """Check the models that a study names, without a request to the hub.

    Args:
        study: The study.
        is_scored: True if the run has the stage score. False checks only models with which questions are made, such as
            an embedder.
        measures: Selected measures; empty for all.

    Raises:
        SwaymeterError: A model is missing on this machine, or lacks the capability that a measure needs.
    """
    if is_scored:
        for model in study.models:
            if name := model.source if model.is_local else model.tokenizer:
                _identify_local_model(name, "language_model")
        model_of_clusters = study.parameters("clusters").get("entailment") if "clusters" in study.requested() else None
        if model_of_clusters and (not measures or "clusters" in measures):
            _identify_local_model(model_of_clusters, kind_of_equivalence_model(model_of_clusters))
        _check_capabilities(study)
    if study.questions is not None:
        models = QUESTION_SOURCES[study.questions.source].models(study.questions, study.models[0].source)
        for purpose, name in models.items():
            _identify_local_model(name, purpose)


def _identify_local_model(name: str, purpose: ModelKind) -> None:
    """Raise an error for a model on this machine that cannot be used; skip a model at the hub."""
    entry = catalog.models().get(name)
    is_hub_id = name.count("/") == 1 and name[0] not in "./~"  # such as Qwen/Qwen3-8B
    is_at_hub = entry.hub is not None if entry else is_hub_id
    if not is_at_hub or Path(name).expanduser().is_dir():
        identify_model(name, purpose)


def _check_capabilities(study: StudyFile) -> None:
    problems = [
        f"measures.{name}: needs {measure.capability}, which model {model.name} cannot give; leave the measure out, or "
        "use another model"
        for model in study.models
        for name, measure in study.requested().items()
        if measure.capability
        and not model.returns_only_text  # refused when the study file was read
        and measure.capability not in (SERVER_CAPABILITIES if model.endpoint else capabilities(model.source))
    ]
    if problems:
        raise StudyFileError("; ".join(problems))
