"""Which steps of a study are to run: all, or those of some stages, relations, models, measures, and what they need."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from flows.graph.graph import Graph, Node, upstream
from flows.graph.step import STAGES, Stage, StepId
from tasks.measures import MEASURES

DISPUTABLE = "disputable"
"""The relation of questions about disputes."""

UNKNOWN_RELATIONS = ("static", "temporal", "triples")
"""The subjects of steps that may lead to any other relation."""


@dataclass(frozen=True)
class Selection:
    """Only these stages, relations, models and measures; all of them where nothing is named."""

    relations: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = STAGES

    @property
    def is_whole(self) -> bool:
        """Whether nothing is named."""
        return not (self.relations or self.models or self.measures)

    def matches(self, step: StepId) -> bool:
        """Whether a step is selected by itself."""
        if step.stage not in self.stages:
            return False
        if step.stage in ("aggregate", "report"):  # they are of the whole study, whatever is selected
            return True
        groups = {MEASURES[name].pass_of or name for name in self.measures}
        return (
            self._is_of_a_relation(step)
            and (not self.models or not step.model or step.model in self.models)
            and (not groups or step.stage != "score" or step.group in groups)
        )

    def _is_of_a_relation(self, step: StepId) -> bool:
        if not self.relations or step.subject in self.relations:
            return True
        if step.subject in UNKNOWN_RELATIONS:  # they are known once it is fetched
            return bool({*self.relations} - {DISPUTABLE})
        return False

    def of(self, graph: Graph) -> set[StepId]:
        """The steps of a graph that are selected: those that match, and what they need of the selected stages."""
        matching = [node for node in graph if self.matches(node.id)]
        if self.is_whole:
            return {node.id for node in matching}
        ends = [node for node in matching if node.id.stage in ("score", "fetch", "build")]
        needed = upstream(self._leading(ends), self._candidates)
        others = {node.id for node in matching if node.id.stage in ("aggregate", "report")}
        return {identity for identity in needed if identity.stage in self.stages} | others

    def _candidates(self, node: Node) -> list[Node]:
        """The fetched questions that a choice is made from, of the selected relations."""
        return [one for one in node.after if one.id.stage == "fetch" and self._is_of_a_relation(one.id)]

    def _leading(self, matching: list[Node]) -> Iterable[Node]:
        """The steps that are looked for: where measures or models are named, fetching for its own sake is not."""
        if self.models or self.measures:
            scored = [node for node in matching if node.id.stage == "score"]
            return scored or matching
        return matching

    def as_json(self) -> dict[str, Any]:
        """The selection as plain values."""
        return {name: list(value) for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Selection":
        """The selection of plain values."""
        return cls(**{name: tuple(value) for name, value in values.items()})
