"""Selection of the steps of a run, by stage, relation, model and measure; their inputs are selected, too."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from swaymeter.data.records import CORPUS, NO_RELATIONS
from swaymeter.flows.graph.graph import Graph, PlannedStep, StepId, upstream
from swaymeter.flows.graph.rerun import Kind, RerunNumbers
from swaymeter.flows.graph.stage import STAGES, Stage
from swaymeter.tasks.measures import MEASURES

DISPUTABLE = "disputable"
"""The relation of questions about disputes."""

SUBJECTS_BEFORE_RELATIONS = ("static", "temporal", "triples", "own")
"""Subjects of steps whose output decides which relations exist; any selected relation includes these steps."""

CLASS_STEPS = "invented names"
"""Group of the steps whose subject is a class of entities instead of a relation."""

ALL_MEASURES = "every measure"
"""Group of the placeholders for scores of questions that are not fetched yet."""

SUMMARISING: tuple[Stage, ...] = ("aggregate", "report")
"""Stages whose steps are selected if all of their inputs are."""


@dataclass(frozen=True)
class Selection:
    """Selected stages, relations, models and measures; an empty list selects all."""

    relations: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = STAGES

    def matches(self, step: StepId) -> bool:
        """Return True if a step matches the selection itself; its inputs are then selected, too."""
        return step.stage in self.stages and self._matches_in_any_stage(step)

    def _matches_in_any_stage(self, step: StepId) -> bool:
        if _is_of_study(step):
            return True
        groups = {MEASURES[name].pass_of or name for name in self.measures}
        return (
            self._is_of_selected_relation(step)
            and (not self.models or not step.model or step.model in self.models)
            and (not groups or step.stage != "score" or step.product in {*groups, ALL_MEASURES})
        )

    def _is_of_selected_relation(self, step: StepId) -> bool:
        # These steps lead to no disputes.
        may_lead_to_relation = step.subject in SUBJECTS_BEFORE_RELATIONS and {*self.relations} != {DISPUTABLE}
        return not self.relations or step.subject in self.relations or may_lead_to_relation

    def of(self, graph: Graph) -> set[StepId]:
        """Return the selected steps of a graph: matching steps and their inputs, in the selected stages."""
        matching = [node for node in graph if self._matches_in_any_stage(node.id)]
        selected = {node.id for node in matching}
        if self.relations or self.models or self.measures:
            roots = [node for node in matching if node.id.stage not in SUMMARISING]
            if self.models or self.measures:  # steps of earlier stages are selected only as inputs of scores
                roots = [node for node in roots if node.id.stage == "score"] or roots
            selected = upstream(roots, self._candidates)
            selected |= {
                node.id
                for node in matching
                if node.id.stage in SUMMARISING
                and (_is_of_study(node.id) or all(upstream_node.id in selected for upstream_node in node.inputs))
            }
        return {identity for identity in selected if identity.stage in self.stages}

    def _candidates(self, node: PlannedStep) -> list[PlannedStep]:
        """Return the nodes of fetched candidates of the selected relations, from which questions are chosen."""
        return [
            other for other in node.waits_for if other.id.stage == "fetch" and self._is_of_selected_relation(other.id)
        ]

    def rerun_numbers(self, graph: Graph, requested: Mapping[Kind, bool]) -> RerunNumbers:
        """Return how often each artifact was forced or refreshed, with one more for `--force` and `--refresh`."""
        numbers = graph.rerun_numbers
        selected = [node for node in graph if node.step and self.matches(node.id)]
        for kind, is_requested in requested.items():
            if is_requested:
                nodes = selected if kind == "force" else [node for node in selected if node.kind.changes_daily]
                numbers = numbers.with_new(kind, (node.step.key_without_number for node in nodes if node.step))
        return numbers

    def failed(self, graph: Graph) -> "Selection":
        """Return the selection of only the relations with a failed or blocked step; unchanged without failures."""
        failed = {node.id for node in graph if node.state == "failed" and self.matches(node.id)}
        stopped = {
            node.id.subject
            for node in graph
            if (node.id in failed and node.id.product != CLASS_STEPS) or node.blocked_by in failed
        }
        failed_relations = tuple(
            sorted(stopped - NO_RELATIONS | stopped & {CORPUS})
        )  # the corpus may be selected like a relation
        return replace(self, relations=failed_relations or self.relations)


def _is_of_study(step: StepId) -> bool:
    """Return True for the database and the page; other steps of these stages belong to a model."""
    return step.stage in SUMMARISING and not step.model
