"""The steps that score: for each model and relation one step a pass, which yields one measure or several together."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from swaymeter.data.errors import ModelError, SwaymeterError
from swaymeter.data.storage.keys import content_key
from swaymeter.flows.graph.graph import Graph, Node, Reference, State
from swaymeter.flows.graph.selection import UNKNOWN_MEASURES
from swaymeter.flows.graph.step import Output
from swaymeter.flows.stages.build import Built
from swaymeter.flows.stages.study_graph import SCORES
from swaymeter.flows.steps.score import Score
from swaymeter.flows.study.sections.model import ModelPart
from swaymeter.flows.study.study import Study
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import INPUTS
from swaymeter.tasks.measures.passes import Pass, declaration, passes
from swaymeter.tasks.models import tokenizer
from swaymeter.tasks.models.backends import identify_language_model
from swaymeter.tasks.models.tokenizer import Unloaded


def score(graph: Graph, study: Study, built: Built) -> list[Reference]:
    """Adds the steps that score what was built; gives the score tables."""
    scores: list[Reference] = []
    for model in study.models:
        for relation in built.queries:
            prompts = {"queries": built.queries[relation], "contexts": built.contexts[relation]}
            scores += passes_of(graph, study, model, relation, prompts)
        for relation in built.questions:
            scores += passes_of(graph, study, model, relation, {"questions": built.questions[relation]})
        for partition, node in built.waiting.items():
            unknown = SCORES.id(partition, group=UNKNOWN_MEASURES, model=model.name, dtype=model.dtype)
            graph.wait(SCORES, unknown, node)
    return scores


def passes_of(
    graph: Graph, study: Study, model: ModelPart, relation: str, prompts: Mapping[str, Reference], part: str = ""
) -> list[Reference]:
    """The passes over one relation, in an order in which none needs a later one; part: that of the prompts."""
    scored: dict[str, Reference] = {}
    for group in passes(study.requested()):
        if set(INPUTS[group.leading.about]) <= prompts.keys() and _applies(study, model, group):
            node = _add(graph, study, model, relation, part, group, {**prompts, **scored})
            scored |= {name: node.output(name) for name in group.measures}
    return list(scored.values())


def _add(
    graph: Graph,
    study: Study,
    model: ModelPart,
    relation: str,
    part: str,
    group: Pass,
    available: Mapping[str, Reference],
) -> Node:
    identity = SCORES.id(relation, part, group=group.leading.name, model=model.name, dtype=model.dtype)
    inputs = {name: available[name] for name in (*INPUTS[group.leading.about], *group.needs)}
    answer_prompts = study.answer_prompts(model)
    parameters = {name: MEASURES[name].parameters(**study.parameters(name)) for name in study.requested()}
    try:
        common: dict[str, Any] = {
            "model": model.name, "revision": graph.once(identify_language_model, model.name).revision,
            "dtype": resolved_dtype(model), "seed": study.seed,
            "prompt": content_key(answer_prompts.content) if group.leading.about == "questions"
            else answer_prompts.start_token,
        }  # fmt: skip
        folders = ("scores", relation, model.name, *filter(None, [part]))
        declared = {name: declaration(name, parameters) for name in group.measures}
        outputs = {name: Output(MEASURES[name].table, folders, name, declared[name]) for name in group.measures}
    except SwaymeterError as error:
        return graph.refuse(SCORES, identity, error, inputs=[reference.node for reference in inputs.values()])
    per_query = study.contexts.sample if group.leading.about == "contexts" else None
    if per_query is not None:
        common["per_query"] = asdict(per_query)
    computed = model.model_copy(update={"dtype": common["dtype"]})  # auto is this machine's, and not a worker's
    arguments = Score(
        group.leading.name, computed, common["revision"], study.seed, parameters, declared, answer_prompts, per_query
    )
    return graph.add(
        SCORES, identity, outputs, inputs=inputs, parameters=common, arguments=arguments,
        device=model.device if _asks_a_model(group, parameters) else "",
    )  # fmt: skip


def _asks_a_model(group: Pass, parameters: Mapping[str, Any]) -> bool:
    """Whether a pass asks the language model, or one that judges entailment where that computes."""
    names = (group.leading.name, *group.measures)
    return any(MEASURES[name].capability or getattr(parameters[name], "entailment", None) for name in names)


def _applies(study: Study, model: ModelPart, group: Pass) -> bool:
    """Whether a measure says anything about a model in its dtype."""
    measure = group.leading
    if measure.applies is None:
        return True
    try:
        return measure.applies(measure.parameters(**study.parameters(measure.name)), resolved_dtype(model))
    except ModelError:
        return True  # the step itself is refused with the reason


def measure_states(study: Study, node: Node) -> Iterator[tuple[str, State, str]]:
    """The measures of a score step, each with its state and the reason of it: some of a pass may be done."""
    together = {group.leading.name: group.measures for group in passes(study.requested())}
    requests = node.step.forced | node.step.refreshed if node.step else frozenset()
    for name in together.get(node.id.group, (node.id.group,)):
        check = node.checks.get(name)
        is_done = check is not None and check.satisfies(requests)
        yield (name, "done", "") if is_done else (name, node.state, node.reason)


def at_hand(graph: Graph, model: str) -> Unloaded | None:
    """A model with its tokenizer alone; None where this is not on this machine, or the model's steps are refused."""
    try:
        return tokenizer.at_hand(graph.once(identify_language_model, model))
    except SwaymeterError:
        return None


def resolved_dtype(model: ModelPart) -> str:
    """The dtype that a model computes in; auto is resolved by the device."""
    if model.dtype != "auto":
        return model.dtype
    from swaymeter.tasks.models.loading import resolve_dtype  # imports torch, which knows the device and takes seconds

    return resolve_dtype(model.dtype, model.device)
