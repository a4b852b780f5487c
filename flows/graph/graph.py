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

    part: the digest of the rows that are read, where not all of them are: other rows may change without consequence.
    """

    node: "Node"
    role: str
    part: str | None = None

    @property
    def artifact(self) -> Artifact:
        """The artifact; KeyError where the node is blocked."""
        assert self.node.step is not None
        return self.node.step.outputs[self.role]

    @property
    def check(self) -> Check | None:
        """How the artifact stands; None where the node is blocked."""
        return self.node.checks.get(self.role)

    @property
    def is_usable(self) -> bool:
        """Whether it can be read, though the step may be asked to make it again."""
        return self.check is not None and self.check.state == "done"

    def with_all_columns(self) -> "Reference":
        """The same output with all of its columns: a change in any of them, also one that does not count, counts."""
        return Reference(self.node, self.role, self.check.digest_of_all if self.check else None)

    def read(self) -> pa.Table:
        """The rows of a table; DamagedFile where they are not as they were written."""
        assert isinstance(self.artifact, TableArtifact)
        return self.artifact.read()


@dataclass(eq=False)
class Node:
    """A step in its graph, and how it stands.

    reason: why it is damaged, failed or blocked. blocked_by: the first step upstream whose outputs are missing.
    inputs: all that it reads. after: nodes that must have come to an end before it runs, done or not. refusal: why it
    cannot be run at all, such as a file that does not exist.
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
    refusal: SwaymeterError | None = None

    def output(self, role: str) -> Reference:
        """One of its outputs."""
        return Reference(self, role)


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
            after: further nodes whose end it waits for.

        Raises:
            ValueError: it reads what its kind does not name.
        """
        needed, others = dict(inputs or {}), dict(optional or {})
        for references, named in ((needed, kind.needs), (others, kind.reads)):
            if unnamed := {reference.node.kind.made(reference.role) for reference in references.values()} - {*named}:
                raise ValueError(f"{identity} reads {sorted(unnamed)}, which its kind does not name")
        before = (*(reference.node for reference in others.values()), *after)
        node = Node(kind, identity, "blocked", inputs=tuple(r.node for r in needed.values()), after=before)
        self.nodes[identity] = node
        lacking = next((reference.node for reference in needed.values() if not reference.is_usable), None)
        if lacking is not None:
            node.blocked_by = lacking.blocked_by or lacking.id
            node.reason = f"waits for {node.blocked_by}"
            return node
        usable = {role: reference for role, reference in (needed | others).items() if reference.is_usable}
        made_from: dict[str, Any] = {
            "step": [identity.stage, identity.group],
            "version": kind.version,
            "subject": [identity.subject, identity.part],
            "parameters": dict(parameters or {}),
            "inputs": {role: r.part or r.check.digest for role, r in usable.items() if r.check},
        }
        key_without_number = content_key(made_from)
        forced, refreshed = self.numbers.of(key_without_number)
        if forced or refreshed:
            made_from[FORCED] = max(forced, refreshed)
        artifacts = self._artifacts(outputs, made_from)
        node.step = Step(
            identity, kind.function, {role: reference.artifact for role, reference in usable.items()}, artifacts,
            arguments, resource or kind.resource, device, key_without_number, forced, refreshed,
            {role: r.check for role, r in usable.items() if r.check},
        )  # fmt: skip
        self._resolve(node)
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
        """What `compute` makes of the rows of a table, computed once for each content of it."""
        assert reference.check is not None
        key = (reference.check.path, compute.__qualname__)
        if key not in self._memory:
            self._memory[key] = compute(reference.read())
        return self._memory[key]

    def once(self, compute: Callable[[str], Any], name: str) -> Any:
        """What `compute` gives or raises for a name, found out once for all graphs of a run: it may ask the network."""
        key = (compute.__qualname__, name)
        if key not in self._memory:
            try:
                self._memory[key] = compute(name)
            except SwaymeterError as error:
                self._memory[key] = error
        if isinstance(result := self._memory[key], SwaymeterError):
            raise result
        return result

    def forget(self, node: Node) -> None:
        """Looks at the outputs of a step anew when the graph is resolved the next time: it has run."""
        for artifact in node.step.outputs.values() if node.step else ():
            self._memory.pop((type(artifact), artifact.key), None)

    def _artifacts(
        self, outputs: Mapping[str, Output | FilesOutput], made_from: Mapping[str, Any]
    ) -> dict[str, Artifact]:
        artifacts: dict[str, Artifact] = {}
        for role, output in outputs.items():
            if isinstance(output, Output):
                of_role = {**made_from, "output": [role, dict(output.parameters)]}
                artifacts[role] = self.workspace.table(output.folders, output.name, output.table, of_role)
            else:
                artifacts[role] = output({**made_from, "output": [role, {}]})
        return artifacts

    def _resolve(self, node: Node) -> None:
        assert node.step is not None
        node.checks = {role: self._check(artifact) for role, artifact in node.step.outputs.items()}
        wrong = next((check for check in node.checks.values() if check.state != "done"), None)
        if wrong is None:
            node.state, node.reason = "done", ""
        elif (noted := self.workspace.failure_reason(str(node.id), node.step.key)) is not None:
            node.state, node.reason = "failed", noted
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
