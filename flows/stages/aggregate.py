"""The step that makes the database of all that is done, whatever has failed, with its statistics.

If nothing is scored, the database of an earlier run stays as it is.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from swaymeter.data.errors import SwaymeterError, UnknownName, UsageError
from swaymeter.data.storage.artifact import TableArtifact
from swaymeter.data.warehouse.queries import queries_digest
from swaymeter.data.warehouse.schema import Schema
from swaymeter.flows.graph.graph import Graph, Node, Reference
from swaymeter.flows.stages import study_graph as kinds
from swaymeter.flows.stages.build import Built
from swaymeter.flows.stages.fetch import Fetched
from swaymeter.flows.stages.plan import Plan
from swaymeter.flows.steps.aggregate import Aggregation, schema
from swaymeter.flows.steps.history import Completion
from swaymeter.tasks.contexts.annotation.judging import imported
from swaymeter.tasks.statistics import statistics_of
from swaymeter.tasks.statistics.statistic import Statistic


def aggregate(graph: Graph, plan: Plan, fetched: Fetched, built: Built, scores: Iterable[Reference]) -> Node:
    """Add the step; scores: also what seeds and a corpus add to them."""
    if undone := undone_instead_of_scores(graph, whole_only=plan.study.whole_only):
        return graph.wait(kinds.DATABASE, kinds.DATABASE.id("study"), undone)
    study = plan.study
    prompts = [*built.queries.values(), *built.contexts.values(), *built.questions.values()]
    rest = [*fetched.facts.values(), *fetched.names.values(), *_made_from(graph, fetched, built)]
    loaded = _by_role([*prompts, *scores, *rest])
    annotations = _annotations(graph) if study.questions is not None else ()
    variants = {
        variant.key: {
            "variant": variant.key, "model": variant.name, "dtype": variant.dtype, "label": variant.label,
            "asked_model": variant.model.name, "prompt_name": variant.prompt or None,
            "decoding": variant.decoding or None,
            "decoding_parameters": json.dumps(asdict(variant.contrast)) if variant.contrast else None,
            "prompt": json.dumps(dict(variant.prompts.content), ensure_ascii=False, sort_keys=True) if study.questions
            else None,
        }
        for variant in reversed(plan.variants)
    }  # fmt: skip
    is_complete = all(node.state == "done" for node in graph)
    statistics = {statistic.name: _key_of(statistic) for statistic in statistics_of(study.entropy_classes).values()}
    completion = Completion(is_complete, tuple(variants.values()), study.seed)
    return graph.add(
        kinds.DATABASE, kinds.DATABASE.id("study"),
        {"files": graph.workspace.database_artifact, "history": graph.workspace.history_artifact},
        optional={role: reference.with_all_columns() for role, reference in loaded.items()},
        parameters={
            "schema": Schema(schema()).version,
            "seed": study.seed,
            "statistics": statistics,
            "is_complete": is_complete,
            "annotations": [annotation.check().digest for annotation in annotations],
            "variants": [*variants.values()],
            "verdicts": [asdict(verdict) for verdict in plan.verdicts],
        },
        arguments=Aggregation(completion, study.entropy_classes, annotations, plan.verdicts),
        after=built.chosen.values(),
    )  # fmt: skip


def undone_instead_of_scores(graph: Graph, *, whole_only: bool = False) -> Node | None:
    """Return a scoring step that the database of an earlier run outlives, because it is not done; else None.

    Args:
        graph: The steps of the study.
        whole_only: If one such step is enough after a complete run; otherwise no step has a score.
    """
    steps = [node for node in graph if node.id.stage == "score"]
    has_scores = any(node.output(role).is_usable for node in steps for role in node.checks)
    was_complete = bool(graph.workspace.history_artifact({}).written())  # a snapshot of it
    if (has_scores and not (whole_only and was_complete)) or not graph.workspace.database.exists():
        return None
    return next((node for node in steps if node.state != "done"), None)


def _key_of(statistic: Statistic) -> dict[str, Any]:
    """What its rows depend on beside its inputs and the seed; UsageError where it reads a query that does not exist."""
    try:
        queries = queries_digest(statistic.queries)
    except UnknownName as error:
        raise UsageError(f"statistic {statistic.name}: {error}") from None
    return {"version": statistic.version, "queries": queries, "parameters": dict(statistic.parameters)}


def _by_role(references: Iterable[Reference]) -> dict[str, Reference]:
    return {f"{reference.role}: {reference.node.id}": reference for reference in references}


def _made_from(graph: Graph, fetched: Fetched, built: Built) -> list[Reference]:
    """What questions were made from, and what was rejected on the way."""
    references = [node.output("rejected") for node in built.chosen.values()]
    for node in graph:
        if node.id.stage in ("fetch", "build"):
            references += [Reference(node, role) for role in kinds.LOADED if role in node.checks]
    return references


def _annotations(graph: Graph) -> tuple[TableArtifact, ...]:
    """The imports of annotations that can be read; what cannot be is named by the step that needs it."""
    imports = []
    for file in graph.workspace.annotation_files():
        try:
            imports.append(imported(file))
        except SwaymeterError:
            continue
    return tuple(imports)
