"""Impossible runs, found before a run begins: missing files, too few facts, missing or small devices.

Only unfinished steps are considered: scores of a GPU can be aggregated on any machine.
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
    first_names,
)
from swaymeter.data.records import NO_RELATIONS, RelationName
from swaymeter.data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from swaymeter.flows.config.study import StudyFile
from swaymeter.flows.graph.graph import Graph, StepId
from swaymeter.flows.graph.selection import CLASS_STEPS, DISPUTABLE, UNKNOWN_MEASURES, Selection
from swaymeter.flows.stages.build import BUILD_PROMPTS
from swaymeter.flows.stages.fetch import FETCH_FACTS
from swaymeter.flows.stages.frequency import ADD_COUNTS
from swaymeter.flows.stages.plan import Plan, Variant
from swaymeter.tasks.contexts.sentences import choose_entities, unknown_names
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.judged_answers import JUDGED_ANSWERS, load_function
from swaymeter.tasks.measures.measure import PerQuery, check_enough
from swaymeter.tasks.models.applications import load_function as load_application_function
from swaymeter.tasks.models.backends import SERVER_CAPABILITIES, capabilities
from swaymeter.tasks.models.capabilities import Capability
from swaymeter.tasks.models.endpoints.endpoint import Endpoint
from swaymeter.tasks.models.files.identity import ModelKind, identify_model, kind_of_judge

JUDGED = JUDGED_ANSWERS.name


def check_run(
    graph: Graph, plan: Plan, selection: Selection, *, name: str, force: bool = False, offline: bool = False
) -> None:
    """Refuse an impossible run before anything is written, for commands and deployments alike.

    Raises:
        UnknownName: The study has no relation, model or measure of a selected name.
        StudyFileError: The study asks for what is impossible; the message begins with `name` and has every reason.
    """
    check_selection(selection, plan.study, lambda: graph)
    if problems := list(dict.fromkeys(refusals(graph, plan, selection.of(graph), force=force, offline=offline))):
        raise StudyFileError(f"{name}: {first_names(problems, separator='; ')}")


def check_selection(selection: Selection, study: StudyFile, resolve: Callable[[], Graph]) -> None:
    """Raise UnknownName for a selected name that the study does not have; the graph is resolved for relations."""
    for kind, names, valid in (
        ("model", selection.models, [model.name for model in study.models]),
        ("measure", selection.measures, list(study.requested())),
        ("relation", selection.relations, _relations(resolve(), selection) if selection.relations else []),
    ):
        for name in names:
            if name not in valid:
                raise UnknownName(kind, name, valid)


def _relations(graph: Graph, selection: Selection) -> list[str]:
    """Return the relations of a study; all possible ones if its questions are not fetched yet."""
    valid = {node.id.subject for node in graph if node.id.stage == "build"}
    if any(node.state != "done" for node in graph if node.id.subject in ("static", "temporal")):
        valid |= {*catalog.relations(), DISPUTABLE}
    valid |= {node.id.subject for node in graph if node.id.stage == "fetch" and node.id.group != CLASS_STEPS}
    if any(node.id.subject == "own" and node.state != "done" for node in graph):
        valid |= {*selection.relations}  # the groups of the file are not read yet
    return sorted(valid - NO_RELATIONS)


def refusals(
    graph: Graph, plan: Plan, selected: Collection[StepId], *, force: bool = False, offline: bool = False
) -> Iterator[str]:
    """Yield the reasons why the selected steps cannot run, each with its key of the study file.

    A model that cannot be downloaded is not refused, because a later run may get it; the other steps continue.
    """
    nodes = [node for node in graph if node.id in selected]
    for node in nodes:
        is_checked_early = node.id.stage == "fetch" or node.id.group in (BUILD_PROMPTS.group, ADD_COUNTS.group)
        if is_checked_early and node.refusal and not isinstance(node.refusal, ModelError):
            yield str(node.refusal)
    sample = plan.study.contexts.sample
    entity_groups = {FETCH_FACTS.group, BUILD_PROMPTS.group}
    relations = dict.fromkeys(node.id.subject for node in nodes if node.id.group in entity_groups and not node.refusal)
    for relation in relations:
        if graph.nodes[FETCH_FACTS.id(relation)].refusal:
            continue  # which says all of it
        prompts = graph.nodes[BUILD_PROMPTS.id(relation)]
        if prompts.state != "done":
            required = None if prompts.refusal else sample
            if required is not None:
                yield from _too_few_written_contexts(plan, RelationName(relation), required)
            yield from _too_few(plan, RelationName(relation), required)
    if sample is not None:
        subjects = dict.fromkeys(n.id.subject for n in nodes if n.id.stage == "score" and (force or n.state != "done"))
        for relation in subjects:
            yield from _too_few_built_contexts(graph, relation, sample)
    yield from refused_models(plan, variants_to_score(graph, plan, selected, force=force), offline=offline)
    judge_groups = {JUDGED, UNKNOWN_MEASURES}  # the latter before the questions are there
    if JUDGED in plan.parameters and any(
        node.id.group in judge_groups and (force or node.state != "done") for node in nodes
    ):
        yield from _refused_judge(plan, offline=offline)
    about_questions = [node.id for node in nodes if _is_about_questions(node.id)]
    yield from _refused_templates(variants_to_score(graph, plan, about_questions, force=force))


def variants_to_score(graph: Graph, plan: Plan, selected: Collection[StepId], *, force: bool = False) -> list[Variant]:
    """Return the variants of the selected steps."""
    scores = (node for node in graph if node.id in selected and node.id.stage == "score")
    open_scores = [node.id for node in scores if force or node.state != "done"]
    names = {(step.model, step.dtype, step.setup) for step in open_scores}
    return [variant for variant in plan.variants if (variant.model.name, variant.model.dtype, variant.setup) in names]


def refused_models(plan: Plan, variants: Iterable[Variant], *, offline: bool = False) -> Iterator[str]:
    """Yield the reasons why models cannot be used, each with its position in the study file; servers are asked."""
    from swaymeter.tasks.models.loading import BALANCED
    from swaymeter.tasks.models.size import misfit_reason

    runner, unreached = plan.study.execution.runner, list[str]()
    variants_of_models = dict[int, Variant]()
    for variant in variants:
        variants_of_models.setdefault(variant.position, variant)
    for variant in variants_of_models.values():
        number, model = variant.position, variant.model
        if served := model.served:
            try:
                yield from _not_served(plan, variant, served, offline=offline)
            except ServiceError as error:  # a later run may reach the server, and steps of other models continue
                unreached.append(f"models.{number}: {error}")
        elif model.text_only_kind:
            if model.function:
                try:
                    load_application_function(model.function, is_in_workspace=model.is_in_workspace)
                except ModelError as error:
                    yield f"models.{number}: {error}"
        elif runner == "dask":
            continue  # the workers, which have the devices, are checked when they connect
        elif runner == "processes" and (model.device == BALANCED or ":" in model.device):
            yield (
                f"models.{number}: device {model.device}, and with runner processes each worker has a GPU of its own; "
                "use device cuda, or runner threads"
            )
        elif reason := misfit_reason(model.source, model.dtype, model.device):
            yield f"models.{number}: {reason}"
    if len(unreached) == len(variants_of_models):
        yield from unreached


def _not_served(plan: Plan, variant: Variant, endpoint: Endpoint, *, offline: bool) -> Iterator[str]:
    """Yield the requirements of a study that a server cannot meet.

    Raises:
        ServiceError: The server cannot be reached.
    """
    from swaymeter.tasks.models.endpoints.model import load_served

    revision = variant.identity.revision if variant.identity else ""
    try:
        model = load_served(endpoint, plan.workspace.endpoints, revision=revision, offline=offline)
    except ServiceError:
        raise
    except SwaymeterError as error:
        yield f"models.{variant.position}: {error}"
        return
    without: dict[str, list[str]] = {}
    for name in dict.fromkeys(name for group in variant.passes for name in group.measures):
        for capability in _needed_capabilities(plan, name):
            if reason := model.lacks(capability):
                without.setdefault(f"{capability} ({reason})", []).append(name)
    for what, names in without.items():
        fewer = "ask for 0 samples (measures.answers.samples, --samples)"
        remedy = fewer if names == ["answers"] else "leave these out"
        yield (
            f"models.{variant.position}: the server of {variant.model.name} cannot give {what}, which is needed for "
            f"{', '.join(names)}; {remedy}, or ask it in a study of its own"
        )


def _refused_judge(plan: Plan, *, offline: bool) -> Iterator[str]:
    """Yield reasons why the judge of a study is unusable; a server is probed, and a function is loaded."""
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
    """Return the capabilities of a server that a measure needs; greedy replies need no sampling."""
    if measure == "answers" and plan.parameters[measure].samples == 0:
        return ()
    return MEASURES[measure].capability, MEASURES[measure].requires


def _refused_templates(variants: Iterable[Variant]) -> Iterator[str]:
    """Yield the models whose chat template lacks a keyword of the study, if the template is on this machine."""
    from swaymeter.tasks.models.prompts.template_options import options_of

    for variant in variants:
        try:
            if variant.prompts.template_options and variant.at_hand:
                options_of(variant.at_hand, variant.prompts)
        except ModelError as error:
            yield f"models.{variant.position}: {error}"


def _is_about_questions(step: StepId) -> bool:
    return step.group == UNKNOWN_MEASURES or (step.group in MEASURES and MEASURES[step.group].about == "questions")


def _too_few(plan: Plan, relation: RelationName, sample: PerQuery | None) -> Iterator[str]:
    """Yield a reason if a source on this machine has too few facts: the catalog's names or a file of contexts."""
    options, planned = plan.study.facts, plan.relations[relation]
    assert options is not None
    if planned.entry is None:
        return  # groups are complete, or the step that reads them is refused
    source = FACT_SOURCES[options.source]
    entity_class = options.relation(relation).subject_class
    names = catalog.invented_entities(entity_class) if options.invented == "catalog" else None
    try:
        if not source.at_hand:
            if names is not None:
                unknown_names(relation, names, (), options.invented_entities)
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
    if sample is not None and planned.own:
        mentioned = [(row.entity, row.object) for row in planned.own]
        yield from _too_few_contexts(relation, {each.name for each in entities}, mentioned, sample)


def _too_few_written_contexts(plan: Plan, relation: RelationName, sample: PerQuery) -> Iterator[str]:
    """Yield a reason if a query needs more contexts than an entity has; contexts of a file are counted later."""
    planned = plan.relations[relation]
    counts = planned.counts
    each = planned.group.about_each if planned.group else counts.contexts // counts.entities
    others = counts.contexts - each
    if not planned.own:
        try:
            check_enough(relation, "an entity", each, others, sample)
        except InputError as error:
            yield str(error)


def _too_few_built_contexts(graph: Graph, relation: str, sample: PerQuery) -> Iterator[str]:
    node = graph.nodes.get(BUILD_PROMPTS.id(relation))
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
    """Yield the first entity with too few contexts.

    mentioned: the entities that each context mentions.
    """
    relevant = Counter(name for names in mentioned for name in {*names})
    for entity in sorted(entities):
        try:
            check_enough(relation, entity, relevant[entity], len(mentioned) - relevant[entity], sample)
        except InputError as error:
            yield str(error)
            return


def check_models(study: StudyFile, *, is_scored: bool = True, measures: Collection[str] = ()) -> None:
    """Checks the models of a study: those that help to make questions and, if `is_scored`, that answer, or judge.

    Judges of these measures alone, where some are named.

    StudyFileError names those that cannot be had, or cannot give what a measure needs; no hub is asked.
    """
    if is_scored:
        for model in study.models:
            if name := model.source if model.is_local else model.tokenizer:
                _check(name, "language_model")
        judge = study.parameters("clusters").get("entailment") if "clusters" in study.requested() else None
        if judge and (not measures or "clusters" in measures):
            _check(judge, kind_of_judge(judge))
        _check_capabilities(study)
    if study.questions is not None:
        models = QUESTION_SOURCES[study.questions.source].models(study.questions, study.models[0].source)
        for purpose, name in models.items():
            _check(name, purpose)


def _check(name: str, purpose: ModelKind) -> None:
    entry = catalog.models().get(name)
    at_the_hub = entry.hub is not None if entry else name.count("/") == 1 and name[0] not in "./~"
    if not at_the_hub or Path(name).expanduser().is_dir():
        identify_model(name, purpose)


def _check_capabilities(study: StudyFile) -> None:
    wrong = [
        f"measures.{name}: needs {measure.capability}, which model {model.name} cannot give; leave out the measure or "
        "ask another model"
        for model in study.models
        for name, measure in study.requested().items()
        if measure.capability
        and not model.text_only_kind  # which the study has refused already
        and measure.capability not in (SERVER_CAPABILITIES if model.endpoint else capabilities(model.source))
    ]
    if wrong:
        raise StudyFileError("; ".join(wrong))
