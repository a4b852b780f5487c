"""What a run would do: the steps that are not done, their prompts, and how long that takes as measured here."""

from collections.abc import Iterator

from flows.graph.graph import Graph, Node
from flows.graph.selection import Selection
from flows.stages.score import measure_states
from flows.study.study import Study
from tasks.measures import MEASURES


def estimate(graph: Graph, study: Study, selection: Selection) -> Iterator[str]:
    """Lines that say what is not done, and an estimate of the time where the workspace holds scores of the kind."""
    selected = selection.of(graph)
    undone = [node for node in graph if node.id in selected and node.state != "done"]
    if not undone:
        yield "everything is done: nothing would be computed"
        return
    rates = _seconds_per_prompt(graph)
    prompts, seconds, unknown = 0, 0.0, False
    for node in undone:
        yield f"{node.id}: {node.state}{f' ({node.reason})' if node.reason else ''}"
        count = _prompts(study, node) if _is_open(study, node) else 0
        rate = rates.get((node.id.model, node.id.dtype, node.id.group))
        prompts, seconds = prompts + count, seconds + count * (rate or 0.0)
        unknown = unknown or (count > 0 and rate is None)
    if any(node.id.stage == "score" and node.id.group not in MEASURES for node in undone):
        yield "the questions are not fetched yet, so their prompts cannot be counted"
    duration = "unknown, nothing of the kind was measured in this workspace yet" if unknown else f"{seconds:.0f} s"
    yield f"{prompts} prompts; estimated time: {duration}"


def _is_open(study: Study, node: Node) -> bool:
    """Whether the leading measure of a pass is to be computed, and not only those that are derived from it."""
    if node.id.stage != "score" or node.id.group not in MEASURES:
        return False
    return any(name == node.id.group and state != "done" for name, state, _ in measure_states(study, node))


def _prompts(study: Study, node: Node) -> int:
    """The prompts of a step; counted from the study where its prompts are not built yet."""
    measure = MEASURES[node.id.group]
    return measure.count_prompts(measure.parameters(**study.parameters(measure.name)), **_amounts(study, node))


def _amounts(study: Study, node: Node) -> dict[str, int]:
    built = {role: check.rows for other in node.inputs for role, check in other.checks.items() if check.state == "done"}
    questions = [node.checks["questions"] for node in node.inputs if "questions" in node.checks]
    cases = sum(check.about["cases"] for check in questions if check.about)
    entities = study.facts.real_entities + study.facts.invented_entities if study.facts else 0
    contexts = built.get("contexts", entities * sum(study.contexts.per_kind().values()))
    return {
        "queries": built.get("queries", 4 * entities),
        "contexts": study.contexts.sample.contexts if study.contexts.sample else contexts,
        "cases": cases,
    }


def _seconds_per_prompt(graph: Graph) -> dict[tuple[str, str, str], float]:
    spent: dict[tuple[str, str, str], tuple[float, int]] = {}
    for node in graph:
        check = next(iter(node.checks.values()), None)
        if node.id.stage == "score" and check is not None and check.about and check.about["prompts"]:
            kind = (node.id.model, node.id.dtype, node.id.group)
            seconds, prompts = spent.get(kind, (0.0, 0))
            spent[kind] = (seconds + check.about["seconds"], prompts + check.about["prompts"])
    return {kind: seconds / prompts for kind, (seconds, prompts) in spent.items()}
