"""The graph: steps in topological order, each with its state, as far as it can be known from the workspace.

A key needs the digests of the inputs' content, so a step whose inputs are not done is blocked, and a step that follows
from the content of another is not listed before that one is done. A run resolves the graph again as it goes on.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from swaymeter.data.digests import content_key
from swaymeter.data.errors import SwaymeterError
from swaymeter.data.storage.artifact import FORCED, Artifact, Check, FilesArtifact, TableArtifact
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.graph.rerun import NO_NUMBERS, Numbers
from swaymeter.flows.graph.step import Output, Resource, Step, StepId, StepKind

State = Literal["done", "missing", "damaged", "failed", "blocked"]
FilesOutput = Callable[[Mapping[str, Any]], FilesArtifact]
"""A function that returns the set of files for key inputs."""


@dataclass(frozen=True)
class Reference:
    """An output of a node, to be an input of others.

    Attributes:
        node: The node that makes it.
        role: Role of the output.
        part: Digest of the rows that are read; None: all of them. Other rows may change without consequence.
        all_columns: True if a change in any column changes the keys of what is made from it.
    """

    node: "Node"
    role: str
    part: str | None = None
    all_columns: bool = False

    @property
    def digest(self) -> str:
        """The digest that enters the keys of what is made from it."""
        assert self.check is not None
        return self.part or (self.check.digest_of_all if self.all_columns else "") or self.check.digest

    @property
    def artifact(self) -> Artifact:
        """The artifact; KeyError where the node is blocked."""
        assert self.node.step is not None
        return self.node.step.outputs[self.role]

    @property
    def check(self) -> Check | None:
        """Check of the artifact; None if the node is blocked."""
        return self.node.checks.get(self.role)

    @property
    def is_usable(self) -> bool:
        """True if the artifact can be read, also if the step will make it again."""
        return self.check is not None and self.check.state == "done"

    def with_all_columns(self) -> "Reference":
        """The same output with all of its columns: a change in any of them, also one that does not count, counts."""
        return Reference(self.node, self.role, all_columns=True)

    def read(self) -> pa.Table:
        """The rows of a table; DamagedFile where they are not as they were written."""
        assert isinstance(self.artifact, TableArtifact)
        return self.artifact.read()


@dataclass(eq=False)
class Node:
    """A step in its graph, and its state.

    Attributes:
        kind: Kind of the step.
        id: Identity of the step.
        state: State of its outputs.
        reason: Why it is damaged, failed or blocked.
        blocked_by: First step upstream whose outputs are missing.
        step: The step; None while it is blocked.
        checks: Checks of its outputs, by role.
        inputs: Nodes that make its required inputs.
        after: Nodes that end before it runs, done or failed: those of its optional inputs, and `lists`.
        lists: Nodes whose end may change its inputs; the graph is resolved again before it runs.
        refusal: Why it cannot be run at all, such as a missing file.
        recipe: Everything that makes its step; None for a placeholder or a refused node.
    """

    kind: StepKind
    id: StepId
    state: State
    reason: str = ""
    blocked_by: StepId | None = None
    step: Step | None = None
    checks: Mapping[str, Check] = field(default_factory=dict)
    inputs: tuple["Node", ...] = ()
    after: tuple["Node", ...] = ()
    lists: tuple["Node", ...] = ()
    refusal: SwaymeterError | None = None
    recipe: "Recipe | None" = None

    def output(self, role: str) -> Reference:
        """One of its outputs."""
        return Reference(self, role)

    @property
    def is_placeholder(self) -> bool:
        """True if it stands for steps that are listed once others are done."""
        return self.recipe is None and self.refusal is None and self.step is None

    @property
    def resource(self) -> Resource:
        """Resource that the step waits for."""
        source = self.step or self.recipe
        return source.resource if source else self.kind.resource

    @property
    def device(self) -> str:
        """The device of its model; empty for a node without one."""
        source = self.step or self.recipe
        return source.device if source else ""


@dataclass(frozen=True)
class Recipe:
    """Everything that makes a step out of a node once its inputs are done.

    Attributes:
        outputs: Tables and sets of files, by role.
        needs: Required inputs, by role.
        reads: Optional inputs, by role.
        parameters: What else the keys depend on, as JSON.
        arguments: Picklable arguments of the step's function.
        resource: What the step waits for.
        device: Device of the model; empty for a step without one.
    """

    outputs: Mapping[str, "Output | FilesOutput"]
    needs: Mapping[str, Reference]
    reads: Mapping[str, Reference]
    parameters: Mapping[str, Any]
    arguments: Any
    resource: Resource
    device: str


class Graph:
    """The steps of a study in topological order: a step comes after those whose outputs it reads."""

    def __init__(self, workspace: Workspace, *, numbers: Numbers = NO_NUMBERS, memory: dict[Any, Any] | None = None):
        """An empty graph; memory: how artifacts stood, kept between graphs of one run, which knows what it writes."""
        self.workspace = workspace
        self.numbers = numbers
        self.nodes: dict[StepId, Node] = {}
        self._memory: dict[Any, Any] = memory if memory is not None else {}

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes.values())

    def add(
        self,
        kind: StepKind,
        identity: StepId,
        outputs: Mapping[str, Output | FilesOutput],
        *,
        inputs: Mapping[str, Reference] | None = None,
        optional: Mapping[str, Reference] | None = None,
        parameters: Mapping[str, Any] | None = None,
        arguments: Any = None,
        resource: Resource | None = None,
        device: str = "",
        after: Iterable[Node] = (),
    ) -> Node:
        """Adds a step and resolves it.

        Args:
            kind: what it has in common with others.
            identity: what identifies it.
            outputs: the tables and sets of files that it makes, by role.
            inputs: what it cannot do without, by role.
            optional: what it reads where it is there; it waits for the end of the steps that make these.
            parameters: what else its outputs depend on, as JSON.
            arguments: what the function needs; picklable, and determined by inputs and parameters.
            resource: what it waits for, where that is not what its kind waits for.
            device: of the model that it asks; empty where it asks none.
            after: nodes whose end may change its inputs.
        """
        needed, others, lists = dict(inputs or {}), dict(optional or {}), tuple(after)
        before = (*(reference.node for reference in others.values()), *lists)
        recipe = Recipe(outputs, needed, others, dict(parameters or {}), arguments, resource or kind.resource, device)
        needed_nodes = tuple(reference.node for reference in needed.values())
        node = Node(kind, identity, "blocked", inputs=needed_nodes, after=before, lists=lists, recipe=recipe)
        self.nodes[identity] = node
        return self.resolve(node)

    def resolve(self, node: Node) -> Node:
        """Compute the keys of a node from its inputs as they are now, and look at its outputs."""
        recipe, identity = node.recipe, node.id
        if recipe is None:
            return node
        lacking = next((reference.node for reference in recipe.needs.values() if not reference.is_usable), None)
        if lacking is not None:
            node.step, node.checks, node.state = None, {}, "blocked"
            node.blocked_by = lacking.blocked_by or lacking.id
            node.reason = f"waits for {node.blocked_by}"
            return node
        node.blocked_by = None
        usable = {
            role: reference for role, reference in {**recipe.needs, **recipe.reads}.items() if reference.is_usable
        }
        key_inputs: dict[str, Any] = {
            "step": [identity.stage, identity.group],
            "version": node.kind.version,
            "subject": [identity.subject, identity.part],
            "parameters": dict(recipe.parameters),
            "inputs": {role: reference.digest for role, reference in usable.items()},
        }
        key_without_number = content_key(key_inputs)
        forced, refreshed = self.numbers.of(key_without_number)
        if forced or refreshed:
            key_inputs[FORCED] = max(forced, refreshed)
        node.step = Step(
            identity, node.kind.function, {role: reference.artifact for role, reference in usable.items()},
            self._artifacts(recipe.outputs, key_inputs), recipe.arguments, recipe.resource, recipe.device,
            key_without_number, forced, refreshed, {role: r.check for role, r in usable.items() if r.check},
        )  # fmt: skip
        self._check_outputs(node)
        return node

    def refuse(self, kind: StepKind, identity: StepId, error: SwaymeterError, *, inputs: Iterable[Node] = ()) -> Node:
        """Adds a step that cannot be resolved, such as one of a model that cannot be found; it has failed."""
        self.nodes[identity] = Node(kind, identity, "failed", str(error), inputs=tuple(inputs), refusal=error)
        return self.nodes[identity]

    def wait(self, kind: StepKind, identity: StepId, lacking: Node, *, after: Iterable[Node] = ()) -> Node:
        """Adds one node in place of the steps that cannot be listed before a node, or one of `after`, is done."""
        blocker, others = lacking.blocked_by or lacking.id, tuple(after)
        inputs, reason = () if others else (lacking,), f"waits for {blocker}"
        self.nodes[identity] = Node(kind, identity, "blocked", reason, blocker, inputs=inputs, after=others)
        return self.nodes[identity]

    def remembered(self, reference: Reference, compute: Callable[[pa.Table], Any]) -> Any:
        """Return `compute` of the rows of a table, computed once for each content."""
        assert reference.check is not None
        key = (reference.check.path, compute.__qualname__)
        if key not in self._memory:
            self._memory[key] = compute(reference.read())
        return self._memory[key]

    def once(self, compute: Callable[[str], Any], name: str) -> Any:
        """Return or raise the result of `compute` for a name, once for all graphs of a run: it may use the network."""
        key = (compute.__qualname__, name)
        if key not in self._memory:
            try:
                self._memory[key] = compute(name)
            except SwaymeterError as error:
                self._memory[key] = error
        if isinstance(result := self._memory[key], SwaymeterError):
            raise result
        return result

    def renew(self, node: Node) -> Node:
        """Look anew at the outputs of a step that has run."""
        for artifact in node.step.outputs.values() if node.step else ():
            self._memory.pop((type(artifact), artifact.key), None)
        return self.resolve(node)

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

    def _check_outputs(self, node: Node) -> None:
        assert node.step is not None
        node.checks = {role: self._check(artifact) for role, artifact in node.step.outputs.items()}
        wrong = next((check for check in node.checks.values() if check.state != "done"), None)
        if wrong is None:
            node.state, node.reason = "done", ""
        elif (failure := self.workspace.failure_reason(str(node.id), node.step.key)) is not None:
            node.state, node.reason = "failed", failure
        else:
            node.state, node.reason = wrong.state, wrong.reason

    def _check(self, artifact: Artifact) -> Check:
        key = (type(artifact), artifact.key)
        if key not in self._memory:
            self._memory[key] = artifact.check()
        check: Check = self._memory[key]
        return check


def upstream(nodes: Iterable[Node], also: Callable[[Node], Iterable[Node]] = lambda node: ()) -> set[StepId]:
    """The nodes and all whose outputs they need; also: what else a node reads where it is there."""
    identities: set[StepId] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if node.id not in identities:
            identities.add(node.id)
            stack += (*node.inputs, *also(node))
    return identities
