"""The facts, names and questions of a study as records, for export, annotation and comparison."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from swaymeter.data.errors import MissingFile
from swaymeter.data.records import PARTITIONS, Fact, Partition, Question, from_row
from swaymeter.data.sources.registry import QUESTION_SOURCES
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.config.study import StudyFile
from swaymeter.flows.graph.graph import Graph, PlannedStep, StepKind
from swaymeter.flows.stages.build import CHOOSE_QUESTIONS, candidates_of
from swaymeter.flows.stages.fetch import FETCH_FACTS, FETCH_NAMES
from swaymeter.flows.stages.plan import Plan


@dataclass(frozen=True)
class Contents:
    """The records of a study; `facts` and `chosen` are limited to `relations` unless it is empty."""

    plan: Plan
    graph: Graph
    relations: tuple[str, ...] = ()

    @property
    def study(self) -> StudyFile:
        return self.plan.study

    @property
    def workspace(self) -> Workspace:
        return self.graph.workspace

    @property
    def partitions(self) -> tuple[Partition, ...]:
        return self.study.questions.partitions if self.study.questions else ()

    def facts(self) -> dict[str, list[Fact]]:
        """Return the facts by relation; MissingFile if facts are not fetched, DamagedFile if they cannot be read."""
        return {
            node.id.subject: [from_row(Fact, row) for row in _rows(node, "facts")]
            for node in self._nodes(FETCH_FACTS)
            if not self.relations or node.id.subject in self.relations
        }

    def names(self, relation: str) -> list[str]:
        """Return the invented names for the entities of a relation; empty for a study without invented entities."""
        assert self.study.facts is not None
        entity_class = self.study.facts.relation(relation).subject_class
        node = self.graph.nodes.get(FETCH_NAMES.id(entity_class))
        return [str(row["name"]) for row in _rows(node, "invented")] if node else []

    def candidates(self, partition: Partition) -> list[Question]:
        """Return every fetched question of a partition, chosen or not.

        Raises:
            SwaymeterError: No question is fetched, or a file cannot be read.
        """
        assert self.study.questions is not None
        choosing_step = self.graph.nodes[CHOOSE_QUESTIONS.id(partition)]
        tables = [
            node.output(role).artifact
            for node in choosing_step.waits_for
            for role in ("questions", "disputes")
            if node.id.stage == "fetch" and role in node.checks and node.output(role).is_usable
        ]
        if not tables:
            upstream = dict.fromkeys((*choosing_step.inputs, *choosing_step.waits_for))
            unfinished = [node for node in upstream if node.state != "done"]
            reasons = "; ".join(f"{node.id}: {node.reason or node.state}" for node in unfinished[:3])
            raise MissingFile(f"partition {partition}: no question is fetched ({reasons}); run the study first")
        needs_several_steps = QUESTION_SOURCES[self.study.questions.source].needs_several_steps
        return candidates_of(tables, partition, needs_several_steps=needs_several_steps)

    def chosen(self, partition: Partition) -> list[Question]:
        """Return the chosen questions of a partition; MissingFile if they are not chosen yet."""
        node = self.graph.nodes[CHOOSE_QUESTIONS.id(partition)]
        questions = [from_row(Question, row) for row in _rows(node, "questions")]
        return [question for question in questions if not self.relations or question.relation in self.relations]

    def unfinished_steps(self, partitions: Collection[Partition] = PARTITIONS) -> list[str]:
        """Return the names of unfinished steps that fetch questions of these partitions."""
        excluded_subjects: set[str] = {str(name) for name in PARTITIONS if name not in partitions}
        # The other subjects, such as properties, belong to static and temporal questions.
        if not {"static", "temporal"} & {*partitions}:
            excluded_subjects |= {node.id.subject for node in self.graph} - {*partitions}
        steps_of_facts = (FETCH_FACTS.product, FETCH_NAMES.product)
        nodes = (node for node in self.graph if node.id.stage == "fetch" and node.id.product not in steps_of_facts)
        return [str(node.id) for node in nodes if node.state != "done" and node.id.subject not in excluded_subjects]

    def _nodes(self, kind: StepKind) -> Iterator[PlannedStep]:
        return (node for node in self.graph if node.kind is kind)


def _rows(node: PlannedStep, role: str) -> list[dict[str, Any]]:
    """Return the rows of an output; MissingFile if the output is not done."""
    if not node.output(role).is_usable:
        raise MissingFile(f"{node.id} is not done ({node.reason or node.state}); run the study first")
    rows: list[dict[str, Any]] = node.output(role).read().to_pylist()
    return rows
