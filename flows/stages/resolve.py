"""The graph of a study: its steps as `study_graph` lists them, resolved as far as its workspace allows."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.graph.graph import Graph
from swaymeter.flows.graph.rerun import Rerun, Reruns, read_reruns
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.step import StepId
from swaymeter.flows.stages import study_graph as kinds
from swaymeter.flows.stages.aggregate import aggregate
from swaymeter.flows.stages.build import build
from swaymeter.flows.stages.fetch import fetch
from swaymeter.flows.stages.frequency import frequency
from swaymeter.flows.stages.plan import Plan
from swaymeter.flows.stages.report import report
from swaymeter.flows.stages.score import corrections, reliability, score


def graph_of(
    plan: Plan,
    memory: dict[Any, Any] | None = None,
    *,
    requests: Iterable[Rerun] = (),
) -> Graph:
    """The graph of a study, resolved as far as its workspace allows.

    Args:
        plan: of the study in its workspace.
        memory: what is known of artifacts, kept by a run that resolves the graph again and again.
        requests: to make again, beside those that the workspace notes.
    """
    workspace = plan.workspace
    workspace.check_layout()
    noted = (request for request in read_reruns(reruns_of(workspace)) if request.is_for(workspace.study))
    reruns = Reruns((*noted, *requests), _matches)
    graph = Graph(workspace, reruns=reruns, memory=memory)
    fetched = fetch(graph, plan)
    built = build(graph, plan, fetched)
    scores = score(graph, plan, built)
    compared = reliability(graph, plan, fetched, built, scores)
    counted, by_hand = frequency(graph, plan, built), corrections(graph, plan, built, scores)
    database = aggregate(graph, plan, fetched, built, [*scores, *compared, *counted, *by_hand])
    report(graph, plan, fetched, built, database)
    return graph


def reruns_of(workspace: Workspace) -> Path:
    """The file of what was asked to be made again."""
    return workspace.root / "reruns.json"


CHANGES_DAILY = {kinds.CANDIDATES.group, kinds.OF_PROPERTY.group, kinds.DISPUTES.group}
"""The groups of steps of `fetch` that a refresh runs anew: what a model wrote about a dispute stays as it is."""


def _matches(request: Rerun, step: StepId) -> bool:
    if not Selection.from_json(request.selection).matches(step):
        return False
    return request.kind == "force" or (step.stage == "fetch" and step.group in CHANGES_DAILY)
