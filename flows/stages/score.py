"""Stage `score`: the passes over each relation with each variant.

`add_score_steps` adds a step for each pass to the graph; later a worker calls the function of the step, `run_pass`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, TypedDict

from swaymeter.data.digests import content_key
from swaymeter.data.errors import ModelError, SwaymeterError
from swaymeter.data.records import Context, Query, Question
from swaymeter.data.records.replies import Replies
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.config.sections import ModelPart
from swaymeter.flows.graph.graph import (
    Graph,
    Output,
    PlannedStep,
    Resource,
    RunSettings,
    Step,
    StepId,
    StepInput,
    StepKind,
)
from swaymeter.flows.graph.selection import ALL_MEASURES
from swaymeter.flows.stages.build import BuiltPrompts
from swaymeter.flows.stages.plan import Plan, PlannedVariant
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import INPUTS, Inputs, Pass
from swaymeter.tasks.measures.stored_chunks import Cost, measure_relation, rejected_of
from swaymeter.tasks.models.applications import RecordedReplies, is_trusted, load_application
from swaymeter.tasks.models.endpoints.endpoint import SERVED, Endpoint

ROW_TYPES: Mapping[str, type] = {"queries": Query, "contexts": Context, "questions": Question}
"""The type of the rows of each table of prompts."""


@dataclass(frozen=True)
class PassArguments:
    """Arguments of a pass over one relation.

    Attributes:
        leading: Name of the leading measure of the pass.
        model: Section of the model, with the dtype of the run.
        revision: Revision of the model.
        declarations: By measure, its version, parameters and models in the process that planned the run.
        inputs: Settings of the pass, without prompts and stored scores, which the worker adds.
        replies: Recorded replies; None for a model without recorded replies.
    """

    leading: str
    model: ModelPart
    revision: str
    declarations: Mapping[str, Mapping[str, Any]]
    inputs: Inputs
    replies: Replies | None = None


def run_pass(step: Step, settings: RunSettings) -> Cost:
    """Compute the missing scores of a pass."""
    arguments: PassArguments = step.arguments
    _check_declarations(arguments)
    inputs, workspace = _inputs(step, settings), Workspace(settings.workspace)
    if MEASURES[arguments.leading].about == "contexts":
        list(inputs.by_contexts(inputs.queries))  # raises the error about too few contexts before a model is loaded

    def progress(done: int, total: int) -> None:
        workspace.check_mounted()  # a chunk that is written below an unmounted shared folder is lost
        settings.progress(done, total)

    outputs = {name: step.table(name) for name in step.outputs}
    return measure_relation(inputs, outputs, partial(_load_model, step, settings), progress)


def discard_failed_replies(graph: Graph, selected: Iterable[StepId]) -> bool:
    """Discard each table with failed replies of an application (a user's function that replies).

    The run makes the table again. It calls the application only for the failed replies, because successful replies are
    also stored elsewhere.

    Returns:
        True if a table was discarded.
    """
    discarded = False
    for node in map(graph.nodes.__getitem__, selected):
        if node.state != "done" or node.step is None or "answers" not in node.outputs:
            continue
        model = node.arguments.model
        if model.function and is_trusted(model.function, is_in_workspace=model.is_in_workspace):
            answers = node.step.table("answers")
            if "failed" in answers.read()["state"].to_pylist():
                answers.discard()
                graph.recheck(node)
                discarded = True
    return discarded


def _inputs(step: Step, settings: RunSettings) -> Inputs:
    arguments: PassArguments = step.arguments
    tables = INPUTS[MEASURES[arguments.leading].about]
    prompts: dict[str, Any] = {name: step.records(name, ROW_TYPES[name]) for name in tables}
    digests = {name: step.table(name).check().digest for name in tables}
    stored = {name: step.table(name) for name in step.inputs if name not in tables}
    return replace(
        arguments.inputs,
        **prompts,
        dataset_version=content_key(digests)[:12],
        scores={name: scores.read() for name, scores in stored.items()},
        rejected={question: reason for scores in stored.values() for question, reason in rejected_of(scores).items()},
        load_served=partial(_load_served, step, settings),
        verdicts=Workspace(settings.workspace).downloads / "verdicts",
    )


def _load_model(step: Step, settings: RunSettings) -> Any:
    arguments: PassArguments = step.arguments
    model, revision = arguments.model, arguments.revision
    if arguments.replies is not None:
        return RecordedReplies(model.name, revision, arguments.replies)
    if model.function:
        return load_application(
            model.name,
            model.function,
            revision,
            Workspace(settings.workspace).downloads / "applications",
            rerun=step.forced,
            concurrency=model.concurrency,
            timeout_s=model.timeout_s,
            is_in_workspace=model.is_in_workspace,
        )
    if served := model.served:
        return _load_served(step, settings, served, revision)
    from swaymeter.tasks.models.loading import load_language_model  # imports torch

    return load_language_model(model.source, dtype=model.dtype, device=model.device, revision=revision)


def _load_served(step: Step, settings: RunSettings, endpoint: Endpoint, revision: str = SERVED) -> Any:
    from swaymeter.tasks.models.endpoints.model import load_served

    cache = Workspace(settings.workspace).endpoints
    return load_served(endpoint, cache, revision=revision, rerun=step.forced, offline=settings.offline)


def _check_declarations(arguments: PassArguments) -> None:
    """Raise ModelError if code or models of this worker differ from those of the process that planned the run."""
    for name, planned in arguments.declarations.items():
        if (current := MEASURES.declaration(name, arguments.inputs.parameters)) != planned:
            differences = {key for key in current if current[key] != planned.get(key)} - {"depends_on"}
            # Instead of `depends_on`, the message names its differing keys, such as the revision of another model.
            differences |= {key for key, _ in current["depends_on"].items() ^ planned["depends_on"].items()}
            raise ModelError(
                f"measure {name}: this worker differs from the run in {', '.join(sorted(differences))}; restart "
                "the worker with the code and the model files of the run"
            )


# ---- the steps of a study --------------------------------------------------------------------------------------------

# The product of each step is the leading measure of its pass.
RUN_PASS = StepKind("score", "", makes=("scores",), function=run_pass)


def add_score_steps(graph: Graph, plan: Plan, built: BuiltPrompts) -> list[StepInput]:
    """Add the passes over the built queries, contexts and questions, and return the score tables."""
    scores: list[StepInput] = []
    relations = sorted({*built.questions, *built.waiting})
    plans = {name: _with_judge_share(plan, index, len(relations)) for index, name in enumerate(relations)}
    for variant in plan.variants:
        model = variant.model
        for relation in built.queries:
            prompts = {"queries": built.queries[relation], "contexts": built.contexts[relation]}
            scores += add_passes(graph, plan, variant, relation, prompts)
        for relation in built.questions:
            prompts = {"questions": built.questions[relation]}
            scores += add_passes(graph, plans[relation], variant, relation, prompts)
        for partition, node in built.waiting.items():  # partitions whose questions are not chosen yet
            placeholder = RUN_PASS.id(
                partition, product=ALL_MEASURES, model=model.name, dtype=model.dtype, setup=variant.setup
            )
            graph.add_placeholder(RUN_PASS, placeholder, node)
    return scores


def _with_judge_share(plan: Plan, index: int, count: int) -> Plan:
    """Return the plan for relation `index` of `count`, from 0, with the relation's share of the judge's sample.

    If the judge samples 200 replies of a study with three relations, the shares are 67, 67 and 66.
    """
    declaration = plan.declarations.get("judged_answers")
    if not isinstance(declaration, Mapping):
        return plan
    parameters = plan.parameters["judged_answers"]
    size = parameters.agreement  # of the sample of replies that shows the agreement of judge and rule
    share = size // count + (index < size % count)
    parameters = parameters.model_copy(update={"agreement": share})
    declaration = {**declaration, "parameters": parameters.key_inputs}
    return replace(
        plan,
        parameters={**plan.parameters, "judged_answers": parameters},
        declarations={**plan.declarations, "judged_answers": declaration},
    )


def add_passes(
    graph: Graph, plan: Plan, variant: PlannedVariant, relation: str, prompts: Mapping[str, StepInput], part: str = ""
) -> list[StepInput]:
    """Add the passes over a relation, and return their score tables.

    `part` goes into the ids of the steps: "" for the study's seed, such as "seed 2" for another seed.
    """
    scored: dict[str, StepInput] = {}
    for scoring_pass in variant.passes:
        if set(INPUTS[scoring_pass.leading.about]) <= prompts.keys():
            node = _add_pass(graph, plan, variant, relation, part, scoring_pass, {**prompts, **scored})
            scored |= {name: node.output(name) for name in scoring_pass.measures}
    return list(scored.values())


def _add_pass(
    graph: Graph,
    plan: Plan,
    variant: PlannedVariant,
    relation: str,
    part: str,
    scoring_pass: Pass,
    available: Mapping[str, StepInput],
) -> PlannedStep:
    model, study = variant.model, plan.study
    identity = RUN_PASS.id(
        relation, part, product=scoring_pass.leading.name, model=model.name, dtype=model.dtype, setup=variant.setup
    )
    inputs = {name: available[name] for name in (*INPUTS[scoring_pass.leading.about], *scoring_pass.needs)}
    declared, refusal = dict[str, Mapping[str, Any]](), variant.refusal
    for name in scoring_pass.measures:
        declaration = plan.declarations[name]
        if isinstance(declaration, SwaymeterError):
            refusal = refusal or declaration
        else:
            declared[name] = declaration
    if refusal or variant.identity is None:
        nodes = [step_input.node for step_input in inputs.values()]
        return graph.add_refused(RUN_PASS, identity, refusal, inputs=nodes)  # type: ignore[arg-type]
    key_inputs: dict[str, Any] = {
        "model": model.name,
        "revision": variant.identity.revision,
        "dtype": variant.dtype,
        "seed": study.seed,
        "prompt": _prompt_key(variant, scoring_pass),
    }
    folders = ("scores", relation, model.name, *([part] if part else []))
    outputs = {name: Output(MEASURES[name].table, folders, name, declared[name]) for name in scoring_pass.measures}
    per_query = study.contexts.sample if scoring_pass.leading.about == "contexts" else None
    if per_query is not None:
        key_inputs["per_query"] = asdict(per_query)
    if variant.setup:
        key_inputs["setup"] = variant.setup
    if variant.contrastive_decoding is not None:
        key_inputs["decoding"] = asdict(variant.contrastive_decoding)
    # A worker with another device could resolve the dtype `auto` to another dtype.
    resolved_model = model.model_copy(update={"dtype": variant.dtype})
    pass_inputs = Inputs(
        relation,
        study.seed,
        dataset_version="",
        parameters=plan.parameters,
        device=model.device,
        batch_size=model.batch_size,
        answer_prompts=variant.prompts,
        per_query=per_query,
        variant=variant.key,
        label=variant.name,
        decoding=variant.contrastive_decoding,
    )
    arguments = PassArguments(
        scoring_pass.leading.name, resolved_model, variant.identity.revision, declared, pass_inputs, variant.replies
    )
    return graph.add(
        RUN_PASS,
        identity,
        outputs,
        inputs=inputs,
        parameters=key_inputs,
        arguments=arguments,
        **_queue(scoring_pass, plan.parameters, model),
    )


def _prompt_key(variant: PlannedVariant, scoring_pass: Pass) -> str:
    if variant.model.returns_only_text:  # an application, or recorded replies: Swaymeter writes no prompt
        return ""
    return (
        content_key(variant.prompts.content)
        if scoring_pass.leading.about == "questions"
        else variant.prompts.start_token
    )


class _Queue(TypedDict):
    resource: Resource | None
    device: str


def _queue(scoring_pass: Pass, parameters: Mapping[str, Any], model: ModelPart) -> _Queue:
    """Return the resource of a pass (None for the resource of `RUN_PASS`), and the device of its model."""
    names = (scoring_pass.leading.name, *scoring_pass.measures)
    asks_model = any(MEASURES[name].capability for name in names)
    judges = [parameters[name] for name in names if name == "judged_answers"]
    if (asks_model and not model.is_local) or any(judge.endpoint for judge in judges):
        return {"resource": "server", "device": ""}
    needs_device = (
        asks_model
        or any(not judge.function for judge in judges)
        or any(hasattr(parameters[name], "entailment") for name in names)
    )
    return {"resource": None, "device": model.device if needs_device else ""}
