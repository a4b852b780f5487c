"""Where the commands meet the graph: which steps a study has, how they stand, and their execution."""

import importlib
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from swaymeter.data import catalog
from swaymeter.data.errors import StudyFileError, SwaymeterError, UnknownName, WorkFailed, WorkspaceError, first_line
from swaymeter.data.records import NO_RELATIONS
from swaymeter.data.records.findings import Findings, read_findings
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.cli.console import first_names, warn
from swaymeter.flows.cli.terminal import TerminalProgress
from swaymeter.flows.cli.views.status import StatusRow
from swaymeter.flows.execution.interrupt import TOLD_TO_END
from swaymeter.flows.execution.progress import report_to
from swaymeter.flows.graph.graph import Graph, Node
from swaymeter.flows.graph.rerun import Kind
from swaymeter.flows.graph.selection import DISPUTABLE, OF_CLASSES, Selection
from swaymeter.flows.graph.step import STAGES, Stage
from swaymeter.flows.stages.contents import Contents
from swaymeter.flows.stages.estimate import estimate
from swaymeter.flows.stages.plan import Plan, plan_of, workspace_of
from swaymeter.flows.stages.refusals import check_models, refusals
from swaymeter.flows.stages.resolve import graph_of, raised
from swaymeter.flows.stages.study_graph import CHOICE, FACTS
from swaymeter.flows.study.places import RunnerName, folder_in_place_of
from swaymeter.flows.study.reading import read_study
from swaymeter.flows.study.study import Study

Names = list[str] | None

FLOW = "swaymeter.flows.execution.flow"
"""Imports Prefect, which takes longer than anything else."""


@dataclass(frozen=True)
class Selected:
    """What of a study a command is about."""

    name: str
    study: Study
    workspace: Workspace
    selection: Selection

    @classmethod
    def of(
        cls, study: str, workspace: str | None = None, relation: Names = None, model: Names = None,
        measure: Names = None, runner: RunnerName | None = None,
    ) -> "Selected":  # fmt: skip
        """The study file's steps, or those that the options name; UnknownName where it has none of that name."""
        read = read_study(study).run_by(runner)
        selection = Selection(tuple(relation or ()), tuple(model or ()), tuple(measure or ()))
        selected = cls(study, read, workspace_of(read, folder_in_place_of(study, workspace)), selection)
        for kind, names, known in (
            ("model", selection.models, [model.name for model in read.models]),
            ("measure", selection.measures, list(read.requested())),
            ("relation", selection.relations, selected._relations() if selection.relations else []),
        ):
            for name in names:
                if name not in known:
                    raise UnknownName(kind, name, known)
        return selected

    def _relations(self) -> list[str]:
        """The relations of the study; all that there may be where its questions are not fetched yet."""
        known = {node.id.subject for node in self.graph if node.id.stage == "build"}
        if any(node.state != "done" for node in self.graph if node.id.subject in ("static", "temporal")):
            known |= {*catalog.relations(), DISPUTABLE}
        fetched = (node.id for node in self.graph if node.id.stage == "fetch")
        known |= {step.subject for step in fetched if step.group != OF_CLASSES}
        if any(node.id.subject == "own" and node.state != "done" for node in self.graph):
            known |= {*self.selection.relations}  # the groups of the file are not read yet
        return sorted(known - NO_RELATIONS)

    @cached_property
    def plan(self) -> Plan:
        """What the study and this machine decide."""
        return plan_of(self.study, self.workspace)

    @cached_property
    def graph(self) -> Graph:
        """The graph as the workspace is now."""
        return graph_of(self.plan)

    @property
    def contents(self) -> Contents:
        """What of the study is fetched and chosen."""
        return Contents(self.plan, self.graph, self.selection.relations)

    def check_models(self, name: str) -> None:
        """Refuses, before anything runs, a model that cannot be had."""
        if name in ("run", "score", "fetch"):
            try:
                check_models(self.study, also_asked=name != "fetch", measures=self.selection.measures)
            except SwaymeterError as error:
                raise StudyFileError(f"{self.name}: {error}") from None

    def check(self, name: str, *, offline: bool) -> None:
        """Refuses, before anything is written, what a run would refuse; a server is asked."""
        self._check(self.graph, self._stages(name), force=False, offline=offline)

    def rows(self) -> list[StatusRow]:
        """How every selected step stands; a row for each measure of a score step."""
        selected = self.selection.of(self.graph)
        return [row for node in self.graph if node.id in selected for row in _rows(self.plan, node)]

    def estimate(self, name: str, *, force: bool = False, refresh: bool = False) -> Iterator[str]:
        """What would be done, line by line."""
        selection = self._stages(name)
        graph = graph_of(self.plan, numbers=raised(self.graph, selection, {"force": force, "refresh": refresh}))
        self._check(graph, selection, force=force)
        yield from estimate(graph, self.plan, selection)
        if failed := [node for node in graph if node.id in selection.of(graph) and node.refusal]:
            raise WorkFailed("; ".join(dict.fromkeys(f"{self.name}: {node.refusal}" for node in failed)))

    def _check(self, graph: Graph, selection: Selection, *, force: bool, offline: bool = False) -> None:
        """Refuses what is known at once to be impossible; StudyFileError names all of it."""
        found = refusals(graph, self.plan, selection.of(graph), force=force, offline=offline)
        if problems := list(dict.fromkeys(found)):
            raise StudyFileError(f"{self.name}: {first_names(problems, separator='; ')}")

    def execute(
        self, name: str, progress: TerminalProgress, *,
        force: bool = False, refresh: bool = False, offline: bool = False, wait: bool = False,
    ) -> tuple[Graph, str | None]:  # fmt: skip
        """Runs what is not done; gives the graph as it is then, and a message where something failed."""
        selection = self._stages(name)
        writable, none = self.workspace.is_writable, nullcontext(dict[Any, Any]())
        held: AbstractContextManager[dict[Any, Any]] = self.workspace.lock(warn if wait else None) if writable else none
        with held as memory:
            graph = graph_of(self.plan, memory)
            self._check(graph, selection, force=force, offline=offline)
            undone = any(graph.nodes[name].state != "done" for name in selection.of(graph))
            if not (undone or force or refresh):
                return graph, None
            if not writable:
                root = self.workspace.root
                raise WorkspaceError(f"the workspace {root} cannot be written; choose another --workspace")
            from swaymeter.flows.server.api import prefect_api

            report_to(progress)
            kinds: dict[Kind, bool] = {"force": force, "refresh": refresh}
            with prefect_api(FLOW) as url, progress:
                from prefect.exceptions import TerminationSignal

                flow = importlib.import_module(FLOW)
                try:
                    state = flow.study(
                        self.name, str(self.workspace.root), **selection.as_json(), **kinds,
                        offline=offline, runner=self.study.execution.runner, return_state=True,
                    )  # fmt: skip
                except TerminationSignal:  # the first process of a container, which Prefect's SIGTERM does not end
                    raise SystemExit(TOLD_TO_END) from None
                except Exception as error:  # of Prefect: those of the flow are in its state
                    _end_if_told_to(error)
                    raise WorkFailed(
                        f"Prefect's API at {url} failed in the middle of the run ({first_line(error)}); what was "
                        "computed is kept: run the same command again"
                    ) from None
            graph = graph_of(self.plan, memory)
        if state.is_completed():
            return graph, None
        if state.is_crashed():
            state.result()  # raises what ended the flow
        if state.data is not None and isinstance(raised := state.result(raise_on_failure=False), BaseException):
            raise raised
        selected = [graph.nodes[name] for name in selection.of(graph)]  # also what was never begun
        progress.failures |= {str(node.id): node.reason for node in selected if node.state == "failed"}
        return graph, state.message or f"{name} failed"

    def _stages(self, name: str) -> Selection:
        stages: tuple[Stage, ...] = STAGES if name == "run" else (name,)  # type: ignore[assignment]
        return replace(self.selection, stages=stages)

    def description(self, graph: Graph) -> str:
        """The study in one line, with what its graph knows of it."""
        parts, facts = [], self.study.facts
        relations = sum(node.kind is FACTS for node in graph)
        if relations and facts:
            planned = [*self.plan.relations.values()]
            entities, forms, _ = planned[0].amounts
            every = sorted({relation.amounts[2] for relation in planned})
            contexts = str(every[0]) if len(every) == 1 else f"{every[0]} to {every[-1]}"
            real = f"{facts.real_entities} real and {facts.invented_entities} invented"
            kinds = real if planned[0].entry else str(entities)
            file = self.study.contexts.file
            own = f", or those of {Path(file).name}," if file else ""
            queries = "1 query form" if forms == 1 else f"{forms} query forms"
            of = "1 relation" if relations == 1 else f"{relations} relations"
            parts.append(f"{of} with {kinds} entities, {queries} and {contexts} contexts{own} each")
        choices = {n.id.subject: n.checks.get("questions") for n in graph if n.kind is CHOICE}
        chosen = {partition: check.rows for partition, check in choices.items() if check and check.state == "done"}
        if chosen:
            counts = ", ".join(f"{count} {partition}" for partition, count in chosen.items())
            parts.append(f"{sum(chosen.values())} questions ({counts})")
        return f"{self.study.name}: {'; '.join(parts)}"

    def findings(self, graph: Graph) -> Findings | None:
        """Return the findings of the page; None if the page is not done."""
        if any(node.state != "done" for node in graph if node.id.stage == "report"):
            return None
        return read_findings(self.workspace.report)

    def outputs(self) -> dict[str, Path]:
        """What a person opens after a run."""
        page, database = self.workspace.report / "index.html", self.workspace.database
        return {"page": page, "database": database, "workspace": self.workspace.root}


def _end_if_told_to(error: BaseException) -> None:
    """Ends the run where Prefect's API failed while Prefect reported that a signal ends the run."""
    from prefect.exceptions import TerminationSignal

    came_before = [error]
    for cause in came_before:
        if isinstance(cause, KeyboardInterrupt):
            raise cause from None
        if isinstance(cause, TerminationSignal):
            signal.raise_signal(signal.SIGTERM)
            raise SystemExit(TOLD_TO_END)  # the first process of a container does not end by the signal alone
        earlier = (cause.__cause__, cause.__context__)
        came_before += [error for error in earlier if error and error not in came_before]


def _rows(plan: Plan, node: Node) -> Iterator[StatusRow]:
    """A row for a step; for a score step one for each of its measures."""
    subject = " ".join(part for part in (node.id.subject, node.id.part) if part)
    model = plan.called(node.id)
    states = plan.measure_states(node) if node.id.stage == "score" else [(node.id.group, node.state, node.reason)]
    fetched = node.checks.get("facts") if node.id.stage == "fetch" else None
    rejected = fetched.about.get("rejected", {}) if fetched and fetched.about else {}
    for name, state, reason in states:
        yield StatusRow(subject, model, name, node.id.stage, state, reason, rejected)
