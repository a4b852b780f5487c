"""Stage `score`: the passes over each relation with each variant."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypedDict

from swaymeter.data.catalog import AnswerPrompts
from swaymeter.data.digests import content_key
from swaymeter.data.errors import ModelError, SwaymeterError
from swaymeter.data.records import Context, Query, Question
from swaymeter.data.records.replies import Replies
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.config.sections import ModelPart
from swaymeter.flows.graph.graph import Graph, Node, Reference
from swaymeter.flows.graph.selection import UNKNOWN_MEASURES
from swaymeter.flows.graph.step import Output, Resource, Run, Step, StepKind
from swaymeter.flows.stages.build import Built
from swaymeter.flows.stages.plan import Plan, Variant
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import INPUTS, Inputs, PerQuery
from swaymeter.tasks.measures.passes import Pass, declaration
from swaymeter.tasks.measures.run import Spent, measure_relation, rejected_of
from swaymeter.tasks.models.applications import RecordedReplies, load_application
from swaymeter.tasks.models.endpoints.endpoint import SERVED, Endpoint

PROMPTS: Mapping[str, type] = {"queries": Query, "contexts": Context, "questions": Question}


@dataclass(frozen=True)
class Score:
    """Arguments of a pass over one relation.

    revision: of the model; parameters: of its measures and the measures that they need, by name; declarations: the
    dependencies of its numbers, as the run found them; variant, name: key and name of the variant; per_query: the
    sample of contexts of each query, None for every context; decoding: of its replies, None for the model's own
    distribution.
    """

    measure_pass: str
    model: ModelPart
    revision: str
    seed: int
    parameters: Mapping[str, Any]
    declarations: Mapping[str, Mapping[str, Any]]
    answer_prompts: AnswerPrompts
    variant: str
    name: str
    per_query: PerQuery | None = None
    decoding: Any = None
    replies: Replies | None = None
    """Recorded replies, of a model that has them."""


def run_pass(step: Step, run: Run) -> Spent:
    """Compute the missing scores of a pass."""
    from swaymeter.tasks.models import load_language_model

    arguments: Score = step.arguments
    _check(arguments)
    leading, model = MEASURES[arguments.measure_pass], arguments.model
    tables = INPUTS[leading.about]
    prompts: dict[str, list[Any]] = {name: step.records(name, PROMPTS[name]) for name in tables}
    digests = {name: step.table(name).check().digest for name in tables}
    stored = {name: step.table(name) for name in step.inputs if name not in tables}

    def load_served_model(endpoint: Endpoint, revision: str = SERVED) -> Any:
        from swaymeter.tasks.models.endpoints.model import load_served

        cache = Workspace(run.workspace).endpoints
        return load_served(endpoint, cache, revision=revision, rerun=step.forced, offline=run.offline)

    inputs = Inputs(
        relation=step.id.subject,
        variant=arguments.variant,
        label=arguments.name,
        decoding=arguments.decoding,
        seed=arguments.seed,
        dataset_version=content_key(digests)[:12],
        queries=prompts.get("queries", ()),
        contexts=prompts.get("contexts", ()),
        per_query=arguments.per_query,
        questions=prompts.get("questions", ()),
        scores={name: scores.read() for name, scores in stored.items()},
        rejected={question: why for scores in stored.values() for question, why in rejected_of(scores).items()},
        parameters=arguments.parameters,
        device=model.device,
        batch_size=model.batch_size,
        answer_prompts=arguments.answer_prompts,
        load_served=load_served_model,
        verdicts=Workspace(run.workspace).downloads / "verdicts",
    )

    if leading.about == "contexts":
        for _ in inputs.by_contexts(inputs.queries):  # a relation with too few contexts fails before a model is loaded
            pass

    def load() -> Any:
        if arguments.replies is not None:
            return RecordedReplies(model.name, arguments.revision, arguments.replies)
        if model.function:
            return load_application(
                model.name, model.function, arguments.revision, Workspace(run.workspace).downloads / "applications",
                rerun=step.forced, concurrency=model.concurrency, timeout_s=model.timeout_s,
                is_in_workspace=model.is_in_workspace,
            )  # fmt: skip
        if served := model.served:
            return load_served_model(served, arguments.revision)
        return load_language_model(model.source, dtype=model.dtype, device=model.device, revision=arguments.revision)

    workspace = Workspace(run.workspace)

    def progress(done: int, total: int) -> None:
        workspace.check_mounted()  # what is written where a shared folder is not mounted is lost
        run.progress(done, total)

    outputs = {name: step.table(name) for name in step.outputs}
    return measure_relation(inputs, outputs, load, progress)


def _check(arguments: Score) -> None:
    """Raises ModelError where what the numbers depend on is another here than where the run was planned."""
    for name, planned in arguments.declarations.items():
        if (declared := declaration(name, arguments.parameters)) != planned:
            differs = {key for key in declared if declared[key] != planned.get(key)} - {"depends_on"}
            differs |= {key for key, _ in declared["depends_on"].items() ^ planned["depends_on"].items()}
            raise ModelError(
                f"measure {name}: this worker differs from the run in {', '.join(sorted(differs))}; restart it, and "
                "give it the same code and the same files of models"
            )


# ---- the steps of a study --------------------------------------------------------------------------------------------

RUN_PASS = StepKind("score", "the measure whose pass it is", makes=("scores",), function=run_pass)


def score(graph: Graph, plan: Plan, built: Built) -> list[Reference]:
    """Adds the steps that score what was built; gives the score tables."""
    scores: list[Reference] = []
    partitions = sorted({*built.questions, *built.waiting})
    judging = {name: _sharing_judge(plan, number, len(partitions)) for number, name in enumerate(partitions)}
    for variant in plan.variants:
        model = variant.model
        for relation in built.queries:
            prompts = {"queries": built.queries[relation], "contexts": built.contexts[relation]}
            scores += passes_of(graph, plan, variant, relation, prompts)
        for relation in built.questions:
            prompts = {"questions": built.questions[relation]}
            scores += passes_of(graph, judging[relation], variant, relation, prompts)
        for partition, node in built.waiting.items():
            unknown = RUN_PASS.id(
                partition, group=UNKNOWN_MEASURES, model=model.name, dtype=model.dtype, setup=variant.setup
            )
            graph.wait(RUN_PASS, unknown, node)
    return scores


def _sharing_judge(plan: Plan, number: int, count: int) -> Plan:
    """Return the plan with the share of one of `count` partitions in the judge's sample of the whole study."""
    declaration = plan.declarations.get("judged_answers")
    if not isinstance(declaration, Mapping):
        return plan
    whole = plan.parameters["judged_answers"]
    share = whole.model_copy(update={"agreement": whole.agreement // count + (number < whole.agreement % count)})
    declared = {**declaration, "parameters": share.model_dump(mode="json")}
    return replace(
        plan,
        parameters={**plan.parameters, "judged_answers": share},
        declarations={**plan.declarations, "judged_answers": declared},
    )


def passes_of(
    graph: Graph, plan: Plan, variant: Variant, relation: str, prompts: Mapping[str, Reference], part: str = ""
) -> list[Reference]:
    """The passes over one relation, in an order in which none needs a later one; part: that of the prompts."""
    scored: dict[str, Reference] = {}
    for group in variant.passes:
        if set(INPUTS[group.leading.about]) <= prompts.keys():
            node = _add(graph, plan, variant, relation, part, group, {**prompts, **scored})
            scored |= {name: node.output(name) for name in group.measures}
    return list(scored.values())


def _add(
    graph: Graph,
    plan: Plan,
    variant: Variant,
    relation: str,
    part: str,
    group: Pass,
    available: Mapping[str, Reference],
) -> Node:
    model, study = variant.model, plan.study
    identity = RUN_PASS.id(
        relation, part, group=group.leading.name, model=model.name, dtype=model.dtype, setup=variant.setup
    )
    inputs = {name: available[name] for name in (*INPUTS[group.leading.about], *group.needs)}
    declared, refusal = dict[str, Mapping[str, Any]](), variant.refusal
    for name in group.measures:
        declaration = plan.declarations[name]
        if isinstance(declaration, SwaymeterError):
            refusal = refusal or declaration
        else:
            declared[name] = declaration
    if refusal or variant.identity is None:
        nodes = [reference.node for reference in inputs.values()]
        return graph.refuse(RUN_PASS, identity, refusal, inputs=nodes)  # type: ignore[arg-type]
    common: dict[str, Any] = {
        "model": model.name, "revision": variant.identity.revision, "dtype": variant.dtype, "seed": study.seed,
        "prompt": "" if model.gives_text_of  # which is asked by no prompt
        else content_key(variant.prompts.content) if group.leading.about == "questions"
        else variant.prompts.start_token,
    }  # fmt: skip
    folders = ("scores", relation, model.name, *filter(None, [part]))
    outputs = {name: Output(MEASURES[name].table, folders, name, declared[name]) for name in group.measures}
    per_query = study.contexts.sample if group.leading.about == "contexts" else None
    if per_query is not None:
        common["per_query"] = asdict(per_query)
    if variant.setup:
        common["way"] = variant.setup
    if variant.contrast is not None:
        common["decoding"] = asdict(variant.contrast)
    computed = model.model_copy(update={"dtype": common["dtype"]})  # auto is this machine's, and not a worker's
    arguments = Score(
        group.leading.name, computed, common["revision"], study.seed, plan.parameters, declared, variant.prompts,
        variant.key, variant.name, per_query, variant.contrast, variant.replies,
    )  # fmt: skip
    return graph.add(
        RUN_PASS, identity, outputs, inputs=inputs, parameters=common, arguments=arguments,
        **_queue(group, plan.parameters, model),
    )  # fmt: skip


class _Queue(TypedDict):
    resource: Resource | None
    device: str


def _queue(group: Pass, parameters: Mapping[str, Any], model: ModelPart) -> _Queue:
    """Return the resource of a pass and the device of its model; a pass at a server has no device."""
    names = (group.leading.name, *group.measures)
    asks = any(MEASURES[name].capability for name in names)
    judges = [parameters[name] for name in names if name == "judged_answers"]
    if (asks and not model.is_local) or any(judge.endpoint for judge in judges):
        return {"resource": "server", "device": ""}
    computes = (
        asks
        or any(not judge.function for judge in judges)
        or any(hasattr(parameters[name], "entailment") for name in names)
    )
    return {"resource": None, "device": model.device if computes else ""}
