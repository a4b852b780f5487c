"""Stage `score`: passes over each variant and relation, comparison of seeds, verdicts of a judge and of people."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypedDict

from swaymeter.data.catalog import AnswerPrompts
from swaymeter.data.digests import content_key
from swaymeter.data.errors import ModelError, SwaymeterError
from swaymeter.data.records import Context, Query, Question, tables
from swaymeter.data.records.replies import Replies
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.config.sections import ModelPart
from swaymeter.flows.config.study import MEASURES_OF_SEEDS
from swaymeter.flows.graph.graph import Graph, Node, Reference
from swaymeter.flows.graph.selection import UNKNOWN_MEASURES
from swaymeter.flows.graph.step import Output, Resource, Run, Step, StepKind
from swaymeter.flows.stages.build import Built, part_of, prompts_of
from swaymeter.flows.stages.fetch import Fetched
from swaymeter.flows.stages.plan import Plan, Variant
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import INPUTS, Inputs, PerQuery
from swaymeter.tasks.measures.run import Pass, Spent, declaration, measure_relation, rejected_of
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


TEXTS = {"queries": ("query_id", {"text": "query"}), "contexts": ("context_id", {"text": "context"})}
"""The id of each kind of prompt, and what its text is called among the scores."""


def compute_reliability(step: Step, run: Run) -> None:
    """Writes the variances over seeds and over query forms; arguments: measures, and seeds, the study's first."""
    from swaymeter.tasks.statistics.reliability import reliability  # here, as pandas takes long to import

    measures, seeds = step.arguments
    table = step.table("reliability")
    rows = []
    for measure in measures:
        stored = step.table(f"{measure} {seeds[0]}").read().select(["model", "dtype", "relation"]).slice(0, 1)
        samples = [_sample(step, measure, seed) for seed in seeds]
        rows += [{**stored.to_pylist()[0], **row} for row in reliability(measure, samples)]
    table.write(table.table.of(rows))


def _sample(step: Step, measure: str, seed: int) -> Any:
    """The scores of a seed with the texts of their queries and contexts."""
    scores = step.table(f"{measure} {seed}").read()
    columns = [name for name in ("query_id", "context_id", measure) if name in scores.column_names]
    frame = scores.select(columns).to_pandas()
    for role, (identity, text) in TEXTS.items():
        if identity in columns:
            prompt_columns = [identity, "text", *(("query_type", "form", "entity") if role == "queries" else ())]
            prompts = step.table(f"{role} {seed}").read().select(prompt_columns).to_pandas()
            # Texts as categories: merging repeats their numbers, and not the texts.
            prompts = prompts.astype({name: "category" for name in prompt_columns if name not in (identity, "form")})
            frame = frame.merge(prompts.rename(columns=text), on=identity, validate="many_to_one")
    return frame


def decide_answers(step: Step, run: Run) -> None:
    """Write the answers of a relation that a judge or people decide; arguments: people's verdicts."""
    from swaymeter.tasks.measures.decided_answers import decided_answers

    answers, stated, judged = (
        [row for table in step.inputs_of(MEASURES[name].table) for row in table.read().select(columns).to_pylist()]
        for name, columns in _DECIDED.items()
    )
    rows = decided_answers(step.records("questions", Question), answers, stated, judged, step.arguments)
    output = step.table("decided_answers")
    output.write(output.table.of([*rows]))


_ANSWER = ["model", "dtype", "relation", "question_id", "context_id", "sample"]
_DECIDED = {
    "answers": [*_ANSWER, "text"],
    "whose_answer": [*_ANSWER, "verdict", "decided_by", "reason", "outcome"],
    "judged_answers": [*_ANSWER, "judge", "verdict", "rule"],
}
"""Columns of the scores that decided answers follow from."""


# ---- the steps of a study --------------------------------------------------------------------------------------------

RUN_PASS = StepKind("score", "the measure whose pass it is", makes=("scores",), function=run_pass)
COMPARE_SEEDS = StepKind("aggregate", "reliability", makes=("reliability",), function=compute_reliability)
DECIDE_ANSWERS = StepKind("aggregate", "decided answers", makes=("decided_answers",), function=decide_answers)


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


def reliability(
    graph: Graph, plan: Plan, fetched: Fetched, built: Built, scores: Iterable[Reference]
) -> list[Reference]:
    """Adds the steps that compare seeds; gives the tables of variances, none of a study with one seed.

    The first seed is the study's, and everything else is about it alone. Each further seed draws contexts anew, scored
    by `MEASURES_OF_SEEDS`: entities, and so queries, are the study's, as a score can vary only of a query that every
    sample has. None of that is loaded into the database, only what the comparison gives.
    """
    study, measures = plan.study, [name for name in MEASURES_OF_SEEDS if name in plan.parameters]
    own = {(score.node.id, score.role): score for score in scores}
    compared = []
    for relation in built.queries if study.seeds else ():
        prompts = {study.seed: {"queries": built.queries[relation], "contexts": built.contexts[relation]}}
        for seed in study.further_seeds:
            node = prompts_of(graph, plan, fetched, relation, seed)
            prompts[seed] = {"queries": node.output("queries"), "contexts": node.output("contexts")}
        for variant in plan.variants:
            if not any(MEASURES[name].about != "questions" for each in variant.passes for name in each.measures):
                continue
            scores_by_seed = {
                study.seed: {
                    role: score
                    for (identity, role), score in own.items()
                    if identity.subject == relation and variant.is_of(identity)
                }
            }
            for seed in study.further_seeds:
                seed_plan = plan.further_seeds[seed]
                same = next(other for other in seed_plan.variants if other.key == variant.key)
                scored = passes_of(graph, seed_plan, same, relation, prompts[seed], part_of(seed))
                scores_by_seed[seed] = {score.role: score for score in scored}
            compared.append(_compared(graph, measures, variant, relation, prompts, scores_by_seed))
    return compared


def _compared(
    graph: Graph,
    measures: list[str],
    variant: Variant,
    relation: str,
    prompts: Mapping[int, Mapping[str, Reference]],
    scores: Mapping[int, Mapping[str, Reference]],
) -> Reference:
    """The step that compares the samples of a relation under a model; prompts, scores: by seed."""
    inputs = {
        f"{role} {seed}": reference
        for seed, seed_plan in prompts.items()
        for role, reference in {**seed_plan, **{name: scores[seed][name] for name in measures}}.items()
    }
    model = variant.model
    outputs = {"reliability": Output(tables.RELIABILITY, ("reliability", relation, model.name), "reliability")}
    return graph.add(
        COMPARE_SEEDS, COMPARE_SEEDS.id(relation, model=model.name, dtype=model.dtype, setup=variant.setup), outputs,
        inputs=inputs,
        parameters={"model": model.name, "dtype": variant.dtype, "seeds": [*prompts], "measures": measures},
        arguments=(tuple(measures), tuple(prompts)),
    ).output("reliability")  # fmt: skip


def decisions(graph: Graph, plan: Plan, built: Built, scores: Iterable[Reference]) -> list[Reference]:
    """Add the steps that put verdicts of a judge and of people in place of the rule's, if there are any."""
    own = [reference for reference in scores if reference.role in ("answers", "whose_answer", "judged_answers")]
    verdicts = tuple(row for row in plan.judgements if row.field == "verdict" and row.problem is None)
    if not verdicts and all(reference.role != "judged_answers" for reference in own):
        return []
    digest = content_key({"verdicts": [asdict(verdict) for verdict in verdicts]})
    decided = []
    for relation, questions in built.questions.items():
        scores_of_relation = [reference for reference in own if reference.node.id.subject == relation]
        outputs = {"decided_answers": Output(tables.DECIDED_ANSWERS, ("verdicts", relation), "decided_answers")}
        node = graph.add(
            DECIDE_ANSWERS, DECIDE_ANSWERS.id(relation), outputs, inputs={"questions": questions},
            optional={f"{reference.role} {reference.node.id}": reference for reference in scores_of_relation},
            parameters={"verdicts": digest}, arguments=verdicts,
        )  # fmt: skip
        decided.append(node.output("decided_answers"))
    return decided
