"""A graph of made-up steps: two subjects are fetched, built and scored, and everything is aggregated and reported."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from swaymeter.data.records.row import Meaning, table, table_of
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.graph.graph import Graph, Output, PlannedStep, RunSettings, Step, StepId, StepInput, StepKind
from swaymeter.flows.graph.rerun import NO_NUMBERS, Kind, RerunNumbers
from swaymeter.flows.graph.selection import Selection
from tests.flows.small_study import run


@table("numbers", "Numbers that a made-up step wrote.", key=("number",))
@dataclass(frozen=True)
class Number:
    number: Annotated[int, Meaning("a number")]


NUMBERS = table_of(Number)
FETCH_A, FETCH_B = StepId("fetch", "a", "numbers"), StepId("fetch", "b", "numbers")
BUILD_A, BUILD_B = StepId("build", "a", "numbers"), StepId("build", "b", "numbers")
SCORE_A, SCORE_B = StepId("score", "a", "numbers"), StepId("score", "b", "numbers")
TOTAL, PAGE = StepId("aggregate", "study", "total"), StepId("report", "study", "page")
OF_A, OF_B = [FETCH_A, BUILD_A, SCORE_A], [FETCH_B, BUILD_B, SCORE_B]


@dataclass
class Toy:
    """The graph, what its sources hold, which of its steps fail, and which have run."""

    root: Path
    world: dict[str, int] = field(default_factory=lambda: {"a": 1, "b": 20})
    failing: set[StepId] = field(default_factory=set)
    failing_late: set[StepId] = field(default_factory=set)
    forced: RerunNumbers = NO_NUMBERS
    ran: list[StepId] = field(default_factory=list)
    shared_results: dict[Any, Any] = field(default_factory=dict)

    def graph(self) -> Graph:
        graph = Graph(Workspace(self.root), rerun_numbers=self.forced, shared_results=self.shared_results)
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

    def force(self, kind: Kind = "force", subject: str | None = None) -> None:
        """Raises the numbers of all steps, or of those of a subject; of a refresh, only of fetched ones."""
        steps = [node.step for node in self.graph() if node.step and subject in (None, node.id.subject)]
        keys = [step.key_without_number for step in steps if kind == "force" or step.id.stage == "fetch"]
        self.forced = self.forced.with_new(kind, keys)

    def run(self, selection: Selection | None = None, progress: Any = None) -> list[StepId]:
        """The steps that ran, in order."""
        before = len(self.ran)
        self.shared_results.clear()  # a run of its own
        run(self.graph, selection, progress=progress)
        return self.ran[before:]

    def states(self) -> dict[StepId, str]:
        self.shared_results.clear()
        return {node.id: node.state for node in self.graph()}

    def numbers(self, identity: StepId) -> list[int]:
        read: list[int] = self.graph().nodes[identity].output("numbers").read()["number"].to_pylist()
        return read


def kind_of(identity: StepId, version: int = 1) -> StepKind:
    numbers = ("numbers",)
    return StepKind(identity.stage, "numbers", numbers, compute, version=version)


def compute(step: Step, settings: RunSettings) -> None:
    """Writes what the source holds, or the sum of the inputs."""
    toy: Toy = step.arguments
    toy.ran.append(step.id)
    if step.id in toy.failing:
        raise RuntimeError(f"{step.id} cannot be computed")
    read = [step.table(role).read()["number"].to_pylist() for role in step.inputs]
    number = toy.world[step.id.subject] if step.id.stage == "fetch" else sum(map(sum, read))
    step.table("numbers").write(NUMBERS.of([{"number": number}]))
    if step.id in toy.failing_late:
        raise RuntimeError(f"{step.id} was killed at its end")


def _by_role(inputs: Iterable[PlannedStep | StepInput]) -> Mapping[str, StepInput]:
    step_inputs = [one.output("numbers") if isinstance(one, PlannedStep) else one for one in inputs]
    return {str(step_input.node.id): step_input for step_input in step_inputs}
