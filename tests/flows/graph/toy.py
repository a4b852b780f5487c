"""A graph of made-up steps: two subjects are fetched, built and scored; then both are aggregated and reported."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swaymeter.data.records.table import Column, Table
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.graph.graph import Graph, Output, PlannedStep, RunSettings, Step, StepId, StepInput, StepKind
from swaymeter.flows.graph.rerun import NO_NUMBERS, RerunNumbers, RerunOption
from swaymeter.flows.graph.selection import Selection
from tests.flows.small_study import run

NUMBERS = Table("numbers", "a number that a made-up step wrote", (Column("number", "BIGINT", "a number"),), ("number",))
FETCH_A, FETCH_B = StepId("fetch", "a", "numbers"), StepId("fetch", "b", "numbers")
BUILD_A, BUILD_B = StepId("build", "a", "numbers"), StepId("build", "b", "numbers")
SCORE_A, SCORE_B = StepId("score", "a", "numbers"), StepId("score", "b", "numbers")
TOTAL, PAGE = StepId("aggregate", "study", "total"), StepId("report", "study", "page")
STEPS_A, STEPS_B = [FETCH_A, BUILD_A, SCORE_A], [FETCH_B, BUILD_B, SCORE_B]


@dataclass
class Toy:
    """The graph of made-up steps.

    Attributes:
        root: The folder of the workspace.
        world: The number that the source has for each subject.
        failing: Steps that fail at their start.
        failing_late: Steps that fail after they have written their output.
        rerun_numbers: Times in ms at which steps were forced or refreshed.
        ran: Steps that have begun, in order.
        shared_results: Results that the graphs of a run share.
    """

    root: Path
    world: dict[str, int] = field(default_factory=lambda: {"a": 1, "b": 20})
    failing: set[StepId] = field(default_factory=set)
    failing_late: set[StepId] = field(default_factory=set)
    rerun_numbers: RerunNumbers = NO_NUMBERS
    ran: list[StepId] = field(default_factory=list)
    shared_results: dict[Any, Any] = field(default_factory=dict)

    def graph(self) -> Graph:
        graph = Graph(Workspace(self.root), rerun_numbers=self.rerun_numbers, shared_results=self.shared_results)
        scores = []
        for subject in self.world:
            fetched = self.add(graph, StepId("fetch", subject, "numbers"), resource="services")
            built = self.add(graph, StepId("build", subject, "numbers"), [fetched])
            scores.append(self.add(graph, StepId("score", subject, "numbers"), [built], device="cpu"))
        total = self.add(graph, TOTAL, optional=scores)
        self.add(graph, PAGE, [total])
        return graph

    def add(
        self,
        graph: Graph,
        identity: StepId,
        inputs: Iterable[PlannedStep | StepInput] = (),
        optional: Iterable[PlannedStep] = (),
        version: int = 1,
        **options: Any,
    ) -> PlannedStep:
        outputs = {"numbers": Output(NUMBERS, ("numbers",), f"{identity.stage}-{identity.subject}")}
        kind = kind_of(identity, version)
        return graph.add(
            kind, identity, outputs, inputs=_by_role(inputs), optional=_by_role(optional), arguments=self, **options
        )

    def force(self, option: RerunOption = "force", subject: str | None = None) -> None:
        """Raise the numbers of all steps, or of the steps of a subject; a refresh concerns only steps that fetch."""
        steps = [node.step for node in self.graph() if node.step and subject in (None, node.id.subject)]
        keys = [step.key_without_number for step in steps if option == "force" or step.id.stage == "fetch"]
        self.rerun_numbers = self.rerun_numbers.with_new(option, keys)

    def run(self, selection: Selection | None = None) -> list[StepId]:
        """Run the graph, and return the steps that ran, in order."""
        before = len(self.ran)
        self.shared_results.clear()  # earlier runs share no results with this run
        run(self.graph, selection)
        return self.ran[before:]

    def states(self) -> dict[StepId, str]:
        self.shared_results.clear()
        return {node.id: node.state for node in self.graph()}

    def numbers(self, identity: StepId) -> list[int]:
        numbers: list[int] = self.graph().nodes[identity].output("numbers").read()["number"].to_pylist()
        return numbers


def kind_of(identity: StepId, version: int = 1) -> StepKind:
    return StepKind(identity.stage, "numbers", ("numbers",), compute, version=version)


def compute(step: Step, settings: RunSettings) -> None:
    """Write the number of the source, or the sum of the inputs."""
    toy: Toy = step.arguments
    toy.ran.append(step.id)
    if step.id in toy.failing:
        raise RuntimeError(f"{step.id} cannot be computed")
    numbers = [step.table(role).read()["number"].to_pylist() for role in step.inputs]
    number = toy.world[step.id.subject] if step.id.stage == "fetch" else sum(map(sum, numbers))
    step.table("numbers").write(NUMBERS.of([{"number": number}]))
    if step.id in toy.failing_late:
        raise RuntimeError(f"{step.id} was killed at its end")


def _by_role(inputs: Iterable[PlannedStep | StepInput]) -> Mapping[str, StepInput]:
    step_inputs = [value.output("numbers") if isinstance(value, PlannedStep) else value for value in inputs]
    return {str(step_input.node.id): step_input for step_input in step_inputs}
