"""The graph of a study: its planned steps in topological order, each with its state in the workspace.

A `PlannedStep` is a node of the graph. Once its inputs are done, the node has a `Step`, a frozen and picklable value
with the function that a worker calls.

The keys of a step need the digests of its inputs, so a step with an unfinished input is blocked. The rows of a step can
list further steps: each page in a list of pages becomes a step once the list is done. A run therefore resolves the
graph several times.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import pyarrow as pa

from swaymeter.data.digests import content_key
from swaymeter.data.errors import SwaymeterError
from swaymeter.data.records import as_row, from_row
from swaymeter.data.records.findings import Findings
from swaymeter.data.records.table import Table
from swaymeter.data.storage.artifact import FORCED, Artifact, Check, FilesArtifact, TableArtifact
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.graph.rerun import NO_NUMBERS, RerunNumbers
from swaymeter.flows.graph.stage import Stage
from swaymeter.tasks.measures.stored_chunks import Cost

Record = TypeVar("Record")
Resource = Literal["services", "server", "compute"]
"""Resource that limits how many steps run at the same time.

services: public services, from which a few steps at a time request data. server: a model server, with one step at a
time for each of its models. compute: processors and GPU, with one step at a time for each worker.
"""


@dataclass(frozen=True, order=True)
class StepId:
    """Identity of a step in its study.

    Attributes:
        stage: Stage of the step.
        subject: Subject of the step, such as a relation, a partition or a class of entities.
        product: Name of what the step makes, such as prompts; for scores, the leading measure of the pass.
        part: Part of the subject, such as the title of a page; empty for the whole subject. If the study has several
            seeds, prompts and scores of each seed after the first have a part such as "seed 2".
        model: Name of the model; empty without one.
        dtype: Dtype of the model in the study.
        setup: Names of the prompt and the decoding; empty if the model has only one of each.
    """

    stage: Stage
    subject: str
    product: str
    part: str = ""
    model: str = ""
    dtype: str = ""
    setup: str = ""

    def __str__(self) -> str:
        """Return the name of the step in messages and pages."""
        model = f"{with_setup(self.model, self.setup)} ({self.dtype})" if self.model else ""
        return " · ".join(name for name in (self.stage, self.subject, self.part, self.product, model) if name)


def with_setup(model: str, setup: str) -> str:
    """Return the name of a model with its prompt and decoding; the model's own name if `setup` is empty."""
    return f"{model} · {setup}" if setup else model


def show_nothing(*values: object) -> None:
    """Do nothing with progress or findings; the default in a process without a display."""


@dataclass(frozen=True)
class RunSettings:
    """Settings of all steps of one run, on any worker.

    Attributes:
        workspace: Root of the workspace.
        offline: True to use no network.
        progress: Function that a step calls with two numbers: its finished prompts, and all its prompts.
        show_findings: Function that is called with the findings of the study before the report's page is drawn.
    """

    workspace: Path
    offline: bool = False
    progress: Callable[[int, int], None] = show_nothing
    show_findings: Callable[[Findings], None] = show_nothing


@dataclass(frozen=True)
class Step:
    """A resolved step of a study: its inputs are done, and the keys of its outputs are known.

    Attributes:
        id: Identity of the step.
        function: Function at a module's top level that makes the outputs.
        inputs: Input artifacts, by role.
        outputs: Output artifacts, by role.
        arguments: Further picklable arguments of the function.
        resource: Resource that limits how many such steps run at the same time.
        device: Device of the step's model, in the notation of study files; empty without a model.
        key_without_number: Digest of the key inputs without the rerun number of `--force` or `--refresh`. rerun.py
            stores the number under this digest.
        forced: Rerun number of the last `--force`, a time in milliseconds; 0 without `--force`.
        refreshed: Rerun number of the last `--refresh`; 0 without `--refresh`. Only responses that were cached for the
            same number are reused.
        checks: Checks of the inputs, by role.
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
        """Keys of the outputs; equal keys mean the same step with the same inputs."""
        return " ".join(artifact.key for artifact in self.outputs.values())

    @property
    def tables_read(self) -> list[tuple[TableArtifact, Check]]:
        """The input tables with their checks; a table with two roles comes once."""
        tables = {role: artifact for role, artifact in self.inputs.items() if isinstance(artifact, TableArtifact)}
        return list({artifact.key: (artifact, self.checks[role]) for role, artifact in tables.items()}.values())

    def table(self, role: str) -> TableArtifact:
        """Return the output or input table with a role."""
        artifact = self.outputs.get(role) or self.inputs[role]
        assert isinstance(artifact, TableArtifact)
        return artifact

    def inputs_of(self, table: Table) -> list[TableArtifact]:
        """Return the input artifacts that have rows of a table of the database."""
        tables = (artifact for artifact in self.inputs.values() if isinstance(artifact, TableArtifact))
        return [artifact for artifact in tables if artifact.table.name == table.name]

    def records(self, role: str, record_type: type[Record]) -> list[Record]:
        """Return the rows of a table as records."""
        return [from_row(record_type, row) for row in self.table(role).read().to_pylist()]

    def write(self, role: str, records: Iterable[Any], about: Mapping[str, Any] | None = None) -> None:
        """Write an output table; `about` is metadata of its file."""
        table = self.table(role)
        table.write(table.table.of([as_row(record) for record in records]), about)


Function = Callable[[Step, RunSettings], Cost | None]


@dataclass(frozen=True)
class StepKind:
    """The properties that all steps of one kind share.

    Attributes:
        stage: Stage of the steps.
        product: Name of the product; empty if each step has a product of its own.
        makes: Roles of the outputs; `scores` stands for the tables of all measures of a pass.
        function: Function that makes the outputs.
        version: Version of the function, raised by a change of the code that changes outputs of equal inputs.
        resource: Resource of the steps.
        changes_daily: True if the source changes daily, so that `--refresh` runs the steps again.
    """

    stage: Stage
    product: str
    makes: tuple[str, ...]
    function: Function
    version: int = 1
    resource: Resource = "compute"
    changes_daily: bool = False

    def id(
        self, subject: str, part: str = "", *, product: str = "", model: str = "", dtype: str = "", setup: str = ""
    ) -> StepId:
        return StepId(self.stage, subject, product or self.product, part, model, dtype, setup)


@dataclass(frozen=True)
class Output:
    """A table that a step makes: its folders and name in the workspace.

    `parameters` are key inputs of this table only; other outputs of the step do not depend on them.
    """

    table: Table
    folders: tuple[str, ...]
    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


StepState = Literal["done", "missing", "damaged", "failed", "blocked"]
FilesOutput = Callable[[Mapping[str, Any]], FilesArtifact]
"""A function that takes key inputs and returns the artifact of a set of files."""


@dataclass(frozen=True)
class StepInput:
    """An output of a planned step that is an input of other steps.

    Attributes:
        node: The planned step that makes the output.
        role: Role of the output.
        rows_digest: Digest of the rows that dependent steps use, so that a change of other rows changes no key. None
            for all rows.
        all_columns: True if a change in any column changes the keys of dependent artifacts, False if only a change in a
            column with `in_digest` does.
    """

    node: "PlannedStep"
    role: str
    rows_digest: str | None = None
    all_columns: bool = False

    @property
    def digest(self) -> str:
        """Digest of the content, for the keys of dependent artifacts."""
        assert self.check is not None
        return self.rows_digest or (self.check.digest_of_all if self.all_columns else "") or self.check.digest

    @property
    def artifact(self) -> Artifact:
        """The artifact; the node must not be blocked."""
        assert self.node.step is not None
        return self.node.step.outputs[self.role]

    @property
    def check(self) -> Check | None:
        """Check of the artifact; None if the node is blocked."""
        return self.node.checks.get(self.role)

    @property
    def is_usable(self) -> bool:
        """True if the artifact can be read, even if another output of its step is missing or damaged."""
        return self.check is not None and self.check.state == "done"

    def with_all_columns(self) -> "StepInput":
        return StepInput(self.node, self.role, all_columns=True)

    def read(self) -> pa.Table:
        """Return the rows of a table; DamagedFile if the file has changed since it was written."""
        assert isinstance(self.artifact, TableArtifact)
        return self.artifact.read()


@dataclass(eq=False)
class PlannedStep:
    """A step in its graph: its inputs, its outputs and its state.

    Attributes:
        kind: Kind of the step.
        id: Identity of the step.
        inputs: Nodes that make its required inputs.
        waits_for: Nodes that must end (done or failed) before the step begins: nodes of optional inputs, and
            `deciding_nodes`.
        deciding_nodes: Nodes whose outputs decide which inputs the step has. The graph is resolved again after their
            end, and before the step.
        outputs: Tables and sets of files, by role; empty for a placeholder or a refused node.
        required: Required inputs, by role.
        optional: Optional inputs, by role; the step reads those that exist.
        parameters: Further inputs of the keys, as JSON.
        arguments: Picklable arguments of the step's function.
        resource: Resource that the step waits for.
        device: Device of the model; empty without a model.
        refusal: Reason why the step can never run, such as a missing file.
        state: State of its outputs.
        reason: Reason of a damaged, failed or blocked state.
        blocked_by: The first step upstream that is not done, if the node is blocked.
        step: The step that a worker computes; None while the node is blocked.
        checks: Checks of its outputs, by role.
    """

    kind: StepKind
    id: StepId
    inputs: tuple["PlannedStep", ...] = ()
    waits_for: tuple["PlannedStep", ...] = ()
    deciding_nodes: tuple["PlannedStep", ...] = ()
    outputs: Mapping[str, Output | FilesOutput] = field(default_factory=dict)
    required: Mapping[str, StepInput] = field(default_factory=dict)
    optional: Mapping[str, StepInput] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    arguments: Any = None
    resource: Resource = "compute"
    device: str = ""
    refusal: SwaymeterError | None = None
    state: StepState = "blocked"
    reason: str = ""
    blocked_by: StepId | None = None
    step: Step | None = None
    checks: Mapping[str, Check] = field(default_factory=dict)

    def output(self, role: str) -> StepInput:
        return StepInput(self, role)

    @property
    def is_placeholder(self) -> bool:
        """True for a node in place of steps that are unknown until another step is done."""
        return not self.outputs and self.step is None and self.refusal is None


class Graph:
    """The steps of a study in topological order: a step comes after the steps whose outputs it reads."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        rerun_numbers: RerunNumbers = NO_NUMBERS,
        shared_results: dict[Any, Any] | None = None,
    ):
        """Make an empty graph; all graphs of a run share `shared_results`, such as checks of artifacts."""
        self.workspace = workspace
        self.rerun_numbers = rerun_numbers
        self.nodes: dict[StepId, PlannedStep] = {}
        self._shared_results = shared_results if shared_results is not None else dict[Any, Any]()

    def __iter__(self) -> Iterator[PlannedStep]:
        return iter(self.nodes.values())

    def add(
        self,
        kind: StepKind,
        identity: StepId,
        outputs: Mapping[str, Output | FilesOutput],
        *,
        inputs: Mapping[str, StepInput] | None = None,
        optional: Mapping[str, StepInput] | None = None,
        parameters: Mapping[str, Any] | None = None,
        arguments: Any = None,
        resource: Resource | None = None,
        device: str = "",
        deciding_nodes: Iterable[PlannedStep] = (),
    ) -> PlannedStep:
        """Add a step, and compute its keys and its state if its inputs are done.

        Args:
            kind: Kind of the step.
            identity: Identity of the step.
            outputs: Tables and sets of files of the step, by role.
            inputs: Required inputs, by role.
            optional: Inputs that the step reads if they exist, by role; the step waits for the steps that make them.
            parameters: Further inputs of the keys, as JSON.
            arguments: Picklable arguments of the function, determined by inputs and parameters.
            resource: Resource of the step; None for the resource of its kind.
            device: Device of the step's model; empty without a model.
            deciding_nodes: Nodes whose outputs decide which inputs the step has.
        """
        required_inputs, optional_inputs, deciding = dict(inputs or {}), dict(optional or {}), tuple(deciding_nodes)
        node = PlannedStep(
            kind,
            identity,
            inputs=tuple(step_input.node for step_input in required_inputs.values()),
            waits_for=(*(step_input.node for step_input in optional_inputs.values()), *deciding),
            deciding_nodes=deciding,
            outputs=outputs,
            required=required_inputs,
            optional=optional_inputs,
            parameters=dict(parameters or {}),
            arguments=arguments,
            resource=resource or kind.resource,
            device=device,
        )
        self.nodes[identity] = node
        return self.resolve(node)

    def resolve(self, node: PlannedStep) -> PlannedStep:
        """Compute the keys of a node and check its outputs; a node with an unfinished input becomes blocked instead."""
        identity = node.id
        if not node.outputs:  # a placeholder, or a node that was refused
            return node
        unfinished = next((step_input.node for step_input in node.required.values() if not step_input.is_usable), None)
        if unfinished is not None:
            node.step, node.checks, node.state = None, {}, "blocked"
            node.blocked_by = unfinished.blocked_by or unfinished.id
            node.reason = f"waits for {node.blocked_by}"
            return node
        node.blocked_by = None
        inputs = {**node.required, **node.optional}
        usable = {role: step_input for role, step_input in inputs.items() if step_input.is_usable}
        key_inputs: dict[str, Any] = {
            "step": [identity.stage, identity.product],
            "version": node.kind.version,
            "subject": [identity.subject, identity.part],
            "parameters": dict(node.parameters),
            "inputs": {role: step_input.digest for role, step_input in usable.items()},
        }
        key_without_number = content_key(key_inputs)
        forced, refreshed = self.rerun_numbers.of(key_without_number)
        if forced or refreshed:
            key_inputs[FORCED] = max(forced, refreshed)  # the newer number
        node.step = Step(
            identity,
            node.kind.function,
            inputs={role: step_input.artifact for role, step_input in usable.items()},
            outputs=self._artifacts(node.outputs, key_inputs),
            arguments=node.arguments,
            resource=node.resource,
            device=node.device,
            key_without_number=key_without_number,
            forced=forced,
            refreshed=refreshed,
            checks={role: step_input.check for role, step_input in usable.items() if step_input.check},
        )
        self._check_outputs(node)
        return node

    def add_refused(
        self, kind: StepKind, identity: StepId, error: SwaymeterError, *, inputs: Iterable[PlannedStep] = ()
    ) -> PlannedStep:
        """Add a step that can never run, such as a step with a missing model; its state is failed."""
        node = PlannedStep(
            kind, identity, tuple(inputs), resource=kind.resource, refusal=error, state="failed", reason=str(error)
        )
        self.nodes[identity] = node
        return node

    def add_placeholder(
        self, kind: StepKind, identity: StepId, unfinished: PlannedStep, *, waits_for: Iterable[PlannedStep] = ()
    ) -> PlannedStep:
        """Add a placeholder for steps that are unknown until another node is done.

        Args:
            kind: Kind of the steps.
            identity: Identity of the placeholder.
            unfinished: An unfinished node. The reason of the placeholder names this node or, if the node is blocked,
                the step that blocks it.
            waits_for: Nodes that must end (done or failed) before the steps are known. If empty, the steps are known
                once `unfinished` is done.
        """
        blocker, preceding_nodes = unfinished.blocked_by or unfinished.id, tuple(waits_for)
        node = PlannedStep(
            kind,
            identity,
            inputs=() if preceding_nodes else (unfinished,),
            waits_for=preceding_nodes,
            resource=kind.resource,
            reason=f"waits for {blocker}",
            blocked_by=blocker,
        )
        self.nodes[identity] = node
        return node

    def read_once(self, step_input: StepInput, compute: Callable[[pa.Table], Any]) -> Any:
        """Return the result of `compute` for the rows of a table; a run calls `compute` once for each table."""
        assert step_input.check is not None
        key = (step_input.check.path, compute.__qualname__)
        if key not in self._shared_results:
            self._shared_results[key] = compute(step_input.read())
        return self._shared_results[key]

    def call_once(self, compute: Callable[[str], Any], name: str) -> Any:
        """Return the result of `compute` for a name, or raise its error; a run calls `compute` once for each name."""
        key = (compute.__qualname__, name)
        if key not in self._shared_results:
            try:
                self._shared_results[key] = compute(name)
            except SwaymeterError as error:
                self._shared_results[key] = error
        if isinstance(result := self._shared_results[key], SwaymeterError):
            raise result
        return result

    def recheck(self, node: PlannedStep) -> PlannedStep:
        """Check the outputs of a node again, after its step has run."""
        assert node.step is not None
        for artifact in node.step.outputs.values():
            self._shared_results.pop((type(artifact), artifact.key), None)
        self._check_outputs(node)
        return node

    def _artifacts(
        self, outputs: Mapping[str, Output | FilesOutput], key_inputs: Mapping[str, Any]
    ) -> dict[str, Artifact]:
        artifacts: dict[str, Artifact] = {}
        for role, output in outputs.items():
            if isinstance(output, Output):
                inputs_of_role = {**key_inputs, "output": [role, dict(output.parameters)]}
                artifacts[role] = self.workspace.table(output.folders, output.name, output.table, inputs_of_role)
            else:
                artifacts[role] = output({**key_inputs, "output": [role, {}]})
        return artifacts

    def _check_outputs(self, node: PlannedStep) -> None:
        assert node.step is not None
        node.checks = {role: self._check(artifact) for role, artifact in node.step.outputs.items()}
        unfinished_check = next((check for check in node.checks.values() if check.state != "done"), None)
        if unfinished_check is None:
            node.state, node.reason = "done", ""
        elif (failure := self.workspace.failure_reason(str(node.id), node.step.key)) is not None:
            node.state, node.reason = "failed", failure
        else:
            node.state, node.reason = unfinished_check.state, unfinished_check.reason

    def _check(self, artifact: Artifact) -> Check:
        key = (type(artifact), artifact.key)
        if key not in self._shared_results:
            self._shared_results[key] = artifact.check()
        check: Check = self._shared_results[key]
        return check


def upstream(
    nodes: Iterable[PlannedStep], optional_inputs: Callable[[PlannedStep], Iterable[PlannedStep]] = lambda node: ()
) -> set[StepId]:
    """Return the ids of nodes and of all nodes upstream of them.

    Args:
        nodes: Nodes to begin with.
        optional_inputs: Function that returns further upstream nodes of a node, besides its required inputs.
    """
    identities: set[StepId] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if node.id not in identities:
            identities.add(node.id)
            stack += (*node.inputs, *optional_inputs(node))
    return identities
