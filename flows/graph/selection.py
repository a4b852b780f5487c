"""Selection of the steps of a run: all, or those of stages, relations, models and measures with their inputs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from swaymeter.data.records import CORPUS, NO_RELATIONS
from swaymeter.flows.graph.graph import Graph, Node, StepId, upstream
from swaymeter.flows.graph.rerun import Kind, RerunNumbers
from swaymeter.flows.graph.stage import STAGES, Stage
from swaymeter.tasks.measures import MEASURES

DISPUTABLE = "disputable"
"""The relation of questions about disputes."""

UNKNOWN_RELATIONS = ("static", "temporal", "triples", "own")
"""The subjects of steps that may lead to any other relation."""

CLASS_STEPS = "invented names"
"""The group of steps whose subject is a class of entities, and no relation."""

UNKNOWN_MEASURES = "every measure"
"""The group of placeholders for all scores of questions that are not known yet."""

SUMMARISING: tuple[Stage, ...] = ("aggregate", "report")
"""The stages whose steps follow the selection in the other stages."""


@dataclass(frozen=True)
class Selection:
    """Selected stages, relations, models and measures; an empty list selects all."""

    relations: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = STAGES

    def matches(self, step: StepId) -> bool:
        """Return True if a step is selected by itself, and not only as the input of another."""
        return step.stage in self.stages and self._concerns(step)

    def _concerns(self, step: StepId) -> bool:
        if _is_of_study(step):
            return True
        groups = {MEASURES[name].pass_of or name for name in self.measures}
        return (
            self._is_of_a_relation(step)
            and (not self.models or not step.model or step.model in self.models)
            and (not groups or step.stage != "score" or step.group in {*groups, UNKNOWN_MEASURES})
        )

    def _is_of_a_relation(self, step: StepId) -> bool:
        may_lead_to_relation = step.subject in UNKNOWN_RELATIONS and {*self.relations} != {DISPUTABLE}
        return not self.relations or step.subject in self.relations or may_lead_to_relation

    def of(self, graph: Graph) -> set[StepId]:
        """Return the selected steps of a graph: matching steps and their inputs, in the selected stages."""
        matching = [node for node in graph if self._concerns(node.id)]
        selected = {node.id for node in matching}
        if self.relations or self.models or self.measures:
            ends = [node for node in matching if node.id.stage not in SUMMARISING]
            if self.models or self.measures:  # fetch steps are then selected only as inputs
                ends = [node for node in ends if node.id.stage == "score"] or ends
            selected = upstream(ends, self._candidates)
            selected |= {
                node.id
                for node in matching
                if node.id.stage in SUMMARISING
                and (_is_of_study(node.id) or all(read.id in selected for read in node.inputs))
            }
        return {identity for identity in selected if identity.stage in self.stages}

    def _candidates(self, node: Node) -> list[Node]:
        """Return the nodes of fetched candidates of the selected relations, from which questions are chosen."""
        return [other for other in node.waits_for if other.id.stage == "fetch" and self._is_of_a_relation(other.id)]

    def rerun_numbers(self, graph: Graph, requested: Mapping[Kind, bool]) -> RerunNumbers:
        """Return a graph's numbers of forced artifacts, with new ones for `--force` and `--refresh`."""
        numbers = graph.rerun_numbers
        selected = [node for node in graph if node.step and self.matches(node.id)]
        for kind in (kind for kind, is_requested in requested.items() if is_requested):
            nodes = selected if kind == "force" else [node for node in selected if node.kind.changes_daily]
            numbers = numbers.with_new(kind, (node.step.key_without_number for node in nodes if node.step))
        return numbers

    def failed(self, graph: Graph) -> "Selection":
        """Return the selection of only the relations with a failed or blocked step; unchanged without failures."""
        failed = {node.id for node in graph if node.state == "failed" and self.matches(node.id)}
        stopped = {
            node.id.subject
            for node in graph
            if (node.id in failed and node.id.group != CLASS_STEPS) or node.blocked_by in failed
        }
        # Steps that count in a corpus are tried again, too.
        failed_relations = tuple(sorted(stopped - NO_RELATIONS | stopped & {CORPUS}))
        return replace(self, relations=failed_relations or self.relations)


def _is_of_study(step: StepId) -> bool:
    """Return True if a step belongs to the whole study; other steps of its stage belong to a model."""
    return step.stage in SUMMARISING and not step.model
