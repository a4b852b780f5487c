"""Selection of the steps of a run, by stage, relation, model and measure; their inputs are selected, too."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from swaymeter.data.records import CORPUS, RESERVED_RELATION_NAMES
from swaymeter.flows.graph.graph import Graph, PlannedStep, StepId, upstream
from swaymeter.flows.graph.rerun import RerunNumbers, RerunOption
from swaymeter.flows.graph.stage import STAGES, Stage
from swaymeter.tasks.measures import MEASURES

DISPUTABLE = "disputable"
"""The relation of questions about disputes."""

SUBJECTS_BEFORE_RELATIONS = ("static", "temporal", "triples", "own")
"""Subjects of steps whose output decides which relations exist; a selection of any relation includes these steps."""

INVENTED_NAMES = "invented names"
"""Product of the steps whose subject is a class of entities, such as city, instead of a relation."""

ALL_MEASURES = "every measure"
"""Product of a placeholder for all scoring steps of questions that are not fetched yet."""

SUMMARISING: tuple[Stage, ...] = ("aggregate", "report")
"""Stages after the scores. A step of these stages that has a model is selected only if all its inputs are selected."""


@dataclass(frozen=True)
class Selection:
    """Selected relations, models, measures and stages; an empty tuple of relations, models or measures selects all."""

    relations: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = STAGES

    def matches(self, identity: StepId) -> bool:
        """Return True if the stage of a step, and its relation, model and measure (if it has them), are selected."""
        return identity.stage in self.stages and self._matches_in_any_stage(identity)

    def _matches_in_any_stage(self, identity: StepId) -> bool:
        if _is_of_study(identity):
            return True
        leading_measures = {MEASURES[name].computed_with or name for name in self.measures}
        return (
            self._is_of_selected_relation(identity)
            and (not self.models or not identity.model or identity.model in self.models)
            and (
                not leading_measures
                or identity.stage != "score"
                or identity.product in {*leading_measures, ALL_MEASURES}
            )
        )

    def _is_of_selected_relation(self, identity: StepId) -> bool:
        # The steps of SUBJECTS_BEFORE_RELATIONS never lead to questions about disputes.
        may_lead_to_relation = identity.subject in SUBJECTS_BEFORE_RELATIONS and {*self.relations} != {DISPUTABLE}
        return not self.relations or identity.subject in self.relations or may_lead_to_relation

    def of(self, graph: Graph) -> set[StepId]:
        """Return the ids of selected steps: matching steps and steps upstream of them, in the selected stages."""
        matching = [node for node in graph if self._matches_in_any_stage(node.id)]
        selected = {node.id for node in matching}
        if self.relations or self.models or self.measures:
            roots = [node for node in matching if node.id.stage not in SUMMARISING]
            if self.models or self.measures:  # steps of earlier stages are selected only as inputs of scores
                roots = [node for node in roots if node.id.stage == "score"] or roots
            selected = upstream(roots, self._awaited_fetch_steps)
            selected |= {
                node.id
                for node in matching
                if node.id.stage in SUMMARISING
                and (_is_of_study(node.id) or all(upstream_node.id in selected for upstream_node in node.inputs))
            }
        return {identity for identity in selected if identity.stage in self.stages}

    def _awaited_fetch_steps(self, node: PlannedStep) -> list[PlannedStep]:
        """Return the fetching steps that a node waits for, without steps of relations that are not selected."""
        return [
            other for other in node.waits_for if other.id.stage == "fetch" and self._is_of_selected_relation(other.id)
        ]

    def rerun_numbers(self, graph: Graph, requested: Mapping[RerunOption, bool]) -> RerunNumbers:
        """Return the rerun numbers of earlier runs, with new numbers for the selected artifacts.

        Args:
            graph: The graph with the numbers of earlier runs.
            requested: True for "force" or "refresh" if the run has this option.
        """
        numbers = graph.rerun_numbers
        selected = [node for node in graph if node.step and self.matches(node.id)]
        for option, is_requested in requested.items():
            if is_requested:
                nodes = selected if option == "force" else [node for node in selected if node.kind.changes_daily]
                numbers = numbers.with_new(option, (node.step.key_without_number for node in nodes if node.step))
        return numbers

    def limited_to_failed(self, graph: Graph) -> "Selection":
        """Return this selection, limited to the relations that a failed step stops; unchanged if no step has failed."""
        failed = {node.id for node in graph if node.state == "failed" and self.matches(node.id)}
        stopped = {
            node.id.subject
            for node in graph
            if (node.id in failed and node.id.product != INVENTED_NAMES) or node.blocked_by in failed
        }
        # CORPUS is a reserved name that can be selected like a relation.
        failed_relations = tuple(sorted(stopped - RESERVED_RELATION_NAMES | stopped & {CORPUS}))
        return replace(self, relations=failed_relations or self.relations)


def _is_of_study(identity: StepId) -> bool:
    """Return True for a step of SUMMARISING without a model, such as the database."""
    return identity.stage in SUMMARISING and not identity.model
