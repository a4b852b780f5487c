"""The graph of a study: its steps as `study_graph` lists them, resolved as far as its workspace allows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.graph.graph import Graph
from swaymeter.flows.graph.rerun import Kind, Numbers, read_numbers
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.step import StepId
from swaymeter.flows.stages import study_graph as kinds
from swaymeter.flows.stages.aggregate import aggregate
from swaymeter.flows.stages.build import build
from swaymeter.flows.stages.fetch import fetch
from swaymeter.flows.stages.frequency import frequency
from swaymeter.flows.stages.plan import Plan
from swaymeter.flows.stages.report import report
from swaymeter.flows.stages.score import decisions, reliability, score


def graph_of(
    plan: Plan,
    memory: dict[Any, Any] | None = None,
    *,
    numbers: Numbers | None = None,
) -> Graph:
    """The graph of a study, resolved as far as its workspace allows.

    Args:
        plan: of the study in its workspace.
        memory: what is known of artifacts, kept by a run that resolves the graph again and again.
        numbers: of forced artifacts; those of the workspace by default.
    """
    workspace = plan.workspace
    workspace.check_layout()
    graph = Graph(workspace, numbers=numbers or read_numbers(numbers_file(workspace)), memory=memory)
    fetched = fetch(graph, plan)
    built = build(graph, plan, fetched)
    scores = score(graph, plan, built)
    compared = reliability(graph, plan, fetched, built, scores)
    counted, by_hand = frequency(graph, plan, built), decisions(graph, plan, built, scores)
    database = aggregate(graph, plan, fetched, built, [*scores, *compared, *counted, *by_hand])
    report(graph, plan, fetched, built, database)
    return graph


def numbers_file(workspace: Workspace) -> Path:
    """Return the file with the numbers of forced artifacts."""
    return workspace.root / "forced.json"


CHANGES_DAILY = {kinds.CANDIDATES.group, kinds.OF_PROPERTY.group, kinds.DISPUTES.group}
"""The groups of steps of `fetch` that a refresh runs anew: what a model wrote about a dispute stays as it is."""


def raised(graph: Graph, selection: Selection, requested: Mapping[Kind, bool]) -> Numbers:
    """Return the numbers of a graph, with new ones for the selected artifacts of `--force` and `--refresh`."""
    numbers = graph.numbers
    selected = [node for node in graph if node.step and selection.matches(node.id)]
    for kind in (kind for kind, is_requested in requested.items() if is_requested):
        nodes = selected if kind == "force" else [node for node in selected if _changes_daily(node.id)]
        numbers = numbers.raised(kind, (node.step.key_without_number for node in nodes if node.step))
    return numbers


def _changes_daily(step: StepId) -> bool:
    return step.stage == "fetch" and step.group in CHANGES_DAILY
