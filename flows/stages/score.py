"""The steps that score: for each model and relation one step a pass, which yields one measure or several together."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from swaymeter.data.errors import SwaymeterError
from swaymeter.data.storage.keys import content_key
from swaymeter.flows.graph.graph import Graph, Node, Reference
from swaymeter.flows.graph.selection import UNKNOWN_MEASURES
from swaymeter.flows.graph.step import Output
from swaymeter.flows.stages.build import Built
from swaymeter.flows.stages.study_graph import SCORES
from swaymeter.flows.steps.score import Score
from swaymeter.flows.study.plan import Plan, Variant
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import INPUTS
from swaymeter.tasks.measures.passes import Pass


def score(graph: Graph, plan: Plan, built: Built) -> list[Reference]:
    """Adds the steps that score what was built; gives the score tables."""
    scores: list[Reference] = []
    for variant in plan.variants:
        model = variant.model
        for relation in built.queries:
            prompts = {"queries": built.queries[relation], "contexts": built.contexts[relation]}
            scores += passes_of(graph, plan, variant, relation, prompts)
        for relation in built.questions:
            scores += passes_of(graph, plan, variant, relation, {"questions": built.questions[relation]})
        for partition, node in built.waiting.items():
            unknown = SCORES.id(partition, group=UNKNOWN_MEASURES, model=model.name, dtype=model.dtype)
            graph.wait(SCORES, unknown, node)
    return scores


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
    identity = SCORES.id(relation, part, group=group.leading.name, model=model.name, dtype=model.dtype)
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
        return graph.refuse(SCORES, identity, refusal, inputs=nodes)  # type: ignore[arg-type]
    common: dict[str, Any] = {
        "model": model.name, "revision": variant.identity.revision, "dtype": variant.dtype, "seed": study.seed,
        "prompt": content_key(variant.prompts.content) if group.leading.about == "questions"
        else variant.prompts.start_token,
    }  # fmt: skip
    folders = ("scores", relation, model.name, *filter(None, [part]))
    outputs = {name: Output(MEASURES[name].table, folders, name, declared[name]) for name in group.measures}
    per_query = study.contexts.sample if group.leading.about == "contexts" else None
    if per_query is not None:
        common["per_query"] = asdict(per_query)
    computed = model.model_copy(update={"dtype": common["dtype"]})  # auto is this machine's, and not a worker's
    arguments = Score(
        group.leading.name, computed, common["revision"], study.seed, plan.parameters, declared, variant.prompts,
        per_query,
    )  # fmt: skip
    return graph.add(
        SCORES, identity, outputs, inputs=inputs, parameters=common, arguments=arguments,
        device=model.device if _asks_a_model(group, plan.parameters) else "",
    )  # fmt: skip


def _asks_a_model(group: Pass, parameters: Mapping[str, Any]) -> bool:
    """Whether a pass asks the language model, or one that judges entailment where that computes."""
    names = (group.leading.name, *group.measures)
    return any(MEASURES[name].capability or getattr(parameters[name], "entailment", None) for name in names)
