"""A step: a frozen, picklable value with inputs, outputs, and the function that makes the outputs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from swaymeter.data.records import as_row, from_row
from swaymeter.data.records.table import Table
from swaymeter.data.storage.artifact import Artifact, Check, TableArtifact
from swaymeter.flows.graph.stage import Stage
from swaymeter.tasks.measures.stored_chunks import Spent

Record = TypeVar("Record")
Resource = Literal["services", "server", "compute"]
"""Resource of a step. services: answers of services, a few at a time. server: the model's server, one step at a time
for each model. compute: processors and GPU, one step at a time."""


@dataclass(frozen=True, order=True)
class StepId:
    """Identity of a step in its study.

    Attributes:
        stage: Stage of the step.
        subject: Relation, class, partition or list of the step.
        group: Product of the step; for scores the leading measure of the pass.
        part: Piece of the subject, such as the title of a page.
        model: Name of the model; empty without one.
        dtype: Dtype of the model in the study.
        setup: Names of prompt and decoding, if a model has several.
    """

    stage: Stage
    subject: str
    group: str
    part: str = ""
    model: str = ""
    dtype: str = ""
    setup: str = ""

    def __str__(self) -> str:
        """Return the name of the step in messages and pages."""
        model = f"{with_setup(self.model, self.setup)} ({self.dtype})" if self.model else ""
        return " · ".join(part for part in (self.stage, self.subject, self.part, self.group, model) if part)


def with_setup(model: str, setup: str) -> str:
    """Return the name of a model with its prompt and decoding; the model's own name if it has one of each."""
    return f"{model} · {setup}" if setup else model


def no_progress(done: int, total: int) -> None:
    """Show nothing."""


@dataclass(frozen=True)
class RunSettings:
    """Settings of all steps of one run, on any worker.

    Attributes:
        workspace: Root of the workspace.
        offline: True to use no network.
        progress: Function that is called with the number of finished prompts and of all prompts of a step.
    """

    workspace: Path
    offline: bool = False
    progress: Callable[[int, int], None] = no_progress


@dataclass(frozen=True)
class Step:
    """A resolved step of a study: its inputs are done, and the keys of its outputs are known.

    Attributes:
        function: Function at a module's top level that makes the outputs.
        inputs: Input artifacts, by role.
        outputs: Output artifacts, by role.
        arguments: Further picklable arguments of the function.
        device: Device of the step's model, in the notation of study files; empty without a model.
        key_without_number: Digest of the key inputs, which identifies forced steps.
        forced: Number of `--force`, 0 for none.
        refreshed: Number of `--refresh`, 0 for none; only responses that were cached for the same number count.
        checks: Verified checks of the inputs at the time of resolution.
    """

    id: StepId
    function: "Function"
    inputs: Mapping[str, Artifact]
    outputs: Mapping[str, Artifact]
    arguments: Any = None
    resource: Resource = "compute"
    device: str = ""
    key_without_number: str = ""
    forced: int = 0
    refreshed: int = 0
    checks: Mapping[str, Check] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The keys of the outputs, which identify the step with its inputs."""
        return " ".join(artifact.key for artifact in self.outputs.values())

    @property
    def tables_read(self) -> list[tuple[TableArtifact, Check]]:
        """Return the input tables with their checks, each once."""
        tables = {role: artifact for role, artifact in self.inputs.items() if isinstance(artifact, TableArtifact)}
        return list({artifact.key: (artifact, self.checks[role]) for role, artifact in tables.items()}.values())

    def table(self, role: str) -> TableArtifact:
        """Return an output or input table by its role."""
        artifact = self.outputs.get(role) or self.inputs[role]
        assert isinstance(artifact, TableArtifact)
        return artifact

    def inputs_of(self, table: Table) -> list[TableArtifact]:
        """Return the inputs that are artifacts of a table."""
        tables = (artifact for artifact in self.inputs.values() if isinstance(artifact, TableArtifact))
        return [artifact for artifact in tables if artifact.table.name == table.name]

    def records(self, role: str, kind: type[Record]) -> list[Record]:
        """Return the rows of a table as records."""
        return [from_row(kind, row) for row in self.table(role).read().to_pylist()]

    def write(self, role: str, records: Iterable[Any], about: Mapping[str, Any] | None = None) -> None:
        """Write an output table."""
        table = self.table(role)
        table.write(table.table.of([as_row(record) for record in records]), about)


Function = Callable[[Step, RunSettings], Spent | None]


@dataclass(frozen=True)
class StepKind:
    """Steps of one kind.

    Attributes:
        stage: Stage of the steps.
        group: Name of the product.
        makes: Roles of the outputs; `scores` stands for the tables of all measures of a pass.
        function: Function that makes the outputs.
        version: Version of the function, raised if the same inputs give another output.
        resource: Resource of the steps.
        changes_daily: True if the source changes daily, so that `--refresh` runs the steps again.
    """

    stage: Stage
    group: str
    makes: tuple[str, ...]
    function: Function
    version: int = 1
    resource: Resource = "compute"
    changes_daily: bool = False

    def id(
        self, subject: str, part: str = "", *, group: str = "", model: str = "", dtype: str = "", setup: str = ""
    ) -> StepId:
        """Return the identity of the step of this kind about a subject."""
        return StepId(self.stage, subject, group or self.group, part, model, dtype, setup)


@dataclass(frozen=True)
class Output:
    """A table that a step makes: its path, and the key inputs that other outputs of the step lack."""

    table: Table
    folders: tuple[str, ...]
    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
