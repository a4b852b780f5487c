"""The steps that build prompts: queries and contexts from facts, questions from candidates."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from swaymeter.data.errors import SwaymeterError
from swaymeter.data.records import Partition
from swaymeter.data.records.tables import CONTEXTS, QUERIES, QUESTIONS, REJECTED
from swaymeter.data.storage.artifact import TableArtifact
from swaymeter.flows.graph.graph import Graph, Node, Reference
from swaymeter.flows.graph.step import Output
from swaymeter.flows.stages import study_graph as kinds
from swaymeter.flows.stages.fetch import Fetched
from swaymeter.flows.stages.plan import Plan
from swaymeter.flows.study.study import Study
from swaymeter.tasks.contexts.annotation.judging import imported


@dataclass(frozen=True)
class Built:
    """The prompts of a study.

    queries, contexts, questions: by relation. chosen: the questions that a partition asks, and what was rejected.
    waiting: of partitions whose questions are not known yet, the step that they wait for.
    """

    queries: Mapping[str, Reference]
    contexts: Mapping[str, Reference]
    questions: Mapping[str, Reference]
    chosen: Mapping[Partition, Node]
    waiting: Mapping[Partition, Node] = field(default_factory=dict)


def build(graph: Graph, plan: Plan, fetched: Fetched) -> Built:
    """Adds the steps that build the prompts of what was fetched."""
    built = {name: prompts_of(graph, plan, fetched, name) for name in fetched.facts}
    chosen = {name: _choose(graph, plan.study, fetched, name) for name in fetched.candidates}
    by_relation: dict[str, dict[str, Reference]] = {}
    for partition, node in chosen.items():
        reference = node.output("questions")
        if reference.is_usable:
            for relation in graph.remembered(reference, _relations):
                by_relation.setdefault(relation, {})[partition] = reference.with_all_columns()
    return Built(
        {name: node.output("queries") for name, node in built.items()},
        {name: node.output("contexts") for name, node in built.items()},
        {
            name: graph.add(
                kinds.QUESTIONS, kinds.QUESTIONS.id(name),
                {"questions": Output(QUESTIONS, ("prompts", name), "questions")},
                inputs=by_relation[name], parameters=plan.study.questions.of_drawn if plan.study.questions else None,
                arguments=plan.study.questions, after=chosen.values(),
            ).output("questions")
            for name in sorted(by_relation)
        },
        chosen,
        {name: node for name, node in chosen.items() if not node.output("questions").is_usable},
    )  # fmt: skip


def prompts_of(graph: Graph, plan: Plan, fetched: Fetched, relation: str, seed: int | None = None) -> Node:
    """Adds the step that writes the queries and contexts of a relation.

    seed: what contexts are drawn with, where not the study's; entities, and so queries, are the study's in any case.
    """
    part, study, planned = part_of(seed), plan.study, plan.relations[relation]
    assert study.facts is not None
    inputs = {"facts": fetched.facts[relation]}
    if planned.refusal:
        step = kinds.PROMPTS.id(relation, part)
        return graph.refuse(kinds.PROMPTS, step, planned.refusal, inputs=[inputs["facts"].node])
    if entry := planned.entry:
        if entry.subject_class in fetched.names:
            inputs["names"] = fetched.names[entry.subject_class]
        forms = {kind: list(texts) for kind, texts in entry.contexts.items()}
        parameters: dict[str, Any] = {
            "seed": study.seed, "choice": study.facts.choice, "texts": [*entry.open, *entry.closed, forms],
            "real_entities": study.facts.real_entities, "invented_entities": study.facts.invented_entities,
            "contexts": dict(study.contexts.per_kind()), "object_class": entry.object_class,
        }  # fmt: skip
    elif planned.group:
        parameters = {"group": planned.group.parameters}
    if seed is not None:
        parameters["seed_of_contexts"] = seed
    if planned.own:
        parameters["contexts"] = {"own": [row.model_dump() for row in planned.own]}
    outputs = {
        "queries": Output(QUERIES, ("prompts", relation, *filter(None, [part])), "queries"),
        "contexts": Output(CONTEXTS, ("prompts", relation, *filter(None, [part])), "contexts"),
    }
    return graph.add(
        kinds.PROMPTS, kinds.PROMPTS.id(relation, part), outputs, inputs=inputs, parameters=parameters,
        arguments=(study, planned, study.seed if seed is None else seed),
    )  # fmt: skip


def part_of(seed: int | None) -> str:
    """The part of the steps about a further seed; empty for the study's own."""
    return "" if seed is None else f"seed {seed}"


def _choose(graph: Graph, study: Study, fetched: Fetched, partition: Partition) -> Node:
    assert study.questions is not None
    kind, identity = kinds.CHOICE, kinds.CHOICE.id(partition)
    candidates, lacking = fetched.candidates[partition], fetched.lacking.get(partition, [])
    unusable = next(iter([candidate.node for candidate in candidates if not candidate.is_usable] + lacking), None)
    if not any(candidate.is_usable for candidate in candidates) and unusable is not None:
        return graph.wait(kind, identity, unusable, after=[*(candidate.node for candidate in candidates), *lacking])
    annotations: list[TableArtifact] = []
    try:
        if study.questions.annotated:
            annotations = [imported(file) for file in graph.workspace.annotation_files()]
    except SwaymeterError as error:
        return graph.refuse(kind, identity, error, inputs=[candidate.node for candidate in candidates])
    outputs = {
        "questions": Output(QUESTIONS, ("prompts", partition), "chosen-questions"),
        "rejected": Output(REJECTED, ("prompts", partition), "rejected-questions"),
    }
    parameters = {
        "per_partition": study.questions.per_partition, "seed": study.seed, "annotated": study.questions.annotated,
        "annotations": [annotation.check().digest for annotation in annotations], **study.questions.of_drawn,
    }  # fmt: skip
    roles = {
        f"{candidate.role} {candidate.node.id.subject} {candidate.node.id.part}": candidate.with_all_columns()
        for candidate in candidates
    }
    return graph.add(
        kind, identity, outputs, optional=roles, parameters=parameters, arguments=(study, tuple(annotations)),
        after=lacking,
    )  # fmt: skip


def _relations(rows: pa.Table) -> list[str]:
    return sorted(set(rows["relation"].to_pylist()))
