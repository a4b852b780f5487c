"""The tasks of a study, and what each needs; the place to begin reading.

    fetch      facts of a relation    invented names     questions of a partition    triples => questions of a property
                        |              of a class                    |               pages   => disputes of a page
                        |                    |                       |                              |-> its questions
                        +---------+----------+                       +--------------+---------------+
    build        queries and contexts of a relation                   choice of questions => questions of a relation
                                  |                                                          |
    score      the passes over a relation with a variant
                                  |
    aggregate  comparison of seeds, decided answers -> database with statistics and history
                                  |
    report     the page

-> is read by; => rows list the tasks that follow, which are known once the first is done. A partition is one of static,
temporal and disputable questions. A pass is what measures share that are computed from the same replies of a model.

A module beside this one has a stage: functions that make artifacts, their kinds, and their keys and inputs.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.graph.graph import Graph
from swaymeter.flows.graph.rerun import Kind, Numbers, read_numbers
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.step import StepId
from swaymeter.flows.stages.aggregate import aggregate
from swaymeter.flows.stages.build import build
from swaymeter.flows.stages.fetch import FETCH_QUESTIONS, fetch
from swaymeter.flows.stages.frequency import frequency
from swaymeter.flows.stages.plan import Plan
from swaymeter.flows.stages.report import report
from swaymeter.flows.stages.score import decisions, reliability, score
from swaymeter.flows.stages.wikidata import FETCH_DISPUTES, FETCH_PROPERTY


def graph_of(
    plan: Plan,
    memory: dict[Any, Any] | None = None,
    *,
    numbers: Numbers | None = None,
) -> Graph:
    """Return the graph of a study, resolved as far as its workspace allows; nothing is run.

    Args:
        plan: The study in its workspace.
        memory: Checks of artifacts, kept by a run that resolves the graph more than once.
        numbers: Numbers of forced artifacts; None: those of the workspace.
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


CHANGES_DAILY = {FETCH_QUESTIONS.group, FETCH_PROPERTY.group, FETCH_DISPUTES.group}
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
