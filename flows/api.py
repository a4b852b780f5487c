"""Studies from Python: load a study, run it, look at its state, and read its results. The commands call this module."""

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from swaymeter.data.errors import (
    StudyFileError,
    SwaymeterError,
    UnknownName,
    UsageError,
    WorkFailed,
    WorkspaceError,
)
from swaymeter.data.records.findings import FINDINGS_FILE, Findings, read_findings
from swaymeter.data.storage.workspace import DATABASE, Workspace
from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery
from swaymeter.data.warehouse.schema import Schema, quoted
from swaymeter.flows.config.places import RunnerName, workspace_folder
from swaymeter.flows.config.study import StudyFile, read_study
from swaymeter.flows.execution.progress import Progress
from swaymeter.flows.execution.run import StudyRun
from swaymeter.flows.execution.threads import limit_threads
from swaymeter.flows.graph.graph import Graph, PlannedStep
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.graph.stage import STAGES
from swaymeter.flows.server.settings import keep_quiet
from swaymeter.flows.stages.aggregate import schema
from swaymeter.flows.stages.build import CHOOSE_QUESTIONS
from swaymeter.flows.stages.contents import Contents
from swaymeter.flows.stages.estimate import estimate
from swaymeter.flows.stages.fetch import FETCH_FACTS
from swaymeter.flows.stages.plan import Plan, plan_of, workspace_of
from swaymeter.flows.stages.refusals import check_models, check_run, check_selection
from swaymeter.flows.study_graph import graph_of
from swaymeter.tasks.models.files.hub import set_offline

if TYPE_CHECKING:
    import pandas as pd

keep_quiet()  # before anything imports Prefect
log = logging.getLogger(__name__)
Names = Sequence[str] | None


@dataclass(frozen=True)
class StatusRow:
    """The state of a step or, for a scoring step, of one of its measures; a field that does not apply is empty.

    Attributes:
        subject: Subject of the step, such as a relation, a partition or a class of entities.
        model: Label of the variant.
        measure: Measure of a scoring step; for other steps the name of what the step makes.
        stage: Stage of the step.
        state: `done`, `missing`, `damaged`, `failed` or `blocked`.
        reason: Reason why the step is not done.
        rejected: Number of rejected candidates for facts, by rejection reason.
    """

    subject: str
    model: str
    measure: str
    stage: str
    state: str
    reason: str = ""
    rejected: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The step in one line."""
        return " · ".join(filter(None, (self.stage, self.model, self.subject, self.measure)))


@dataclass(frozen=True)
class Study:
    """A study in its workspace, or a selected part of the study.

    Attributes:
        name: Path or name of the study, as passed to `load`.
        study: Content of the study file.
        workspace: Folder of the study's outputs.
        selection: Selected relations, models and measures.
    """

    name: str
    study: StudyFile
    workspace: Workspace
    selection: Selection

    @classmethod
    def load(
        cls,
        study: str | PathLike[str],
        workspace: str | PathLike[str] | None = None,
        relations: Names = None,
        models: Names = None,
        measures: Names = None,
        runner: RunnerName | None = None,
    ) -> "Study":
        """Load a study.

        Args:
            study: Path of a study file, or the name of a bundled study.
            workspace: Folder of the study's files; None for the workspace that the study names.
            relations: Only these relations.
            models: Only these models.
            measures: Only these measures.
            runner: threads, processes or dask, which run the models; None for the runner in the study.

        Raises:
            StudyFileError: The file is not valid.
            UnknownName: The study has no relation, model or measure with such a name.
        """
        file, folder = str(study), None if workspace is None else str(workspace)
        content = read_study(file).with_runner(runner)
        selection = Selection(tuple(relations or ()), tuple(models or ()), tuple(measures or ()))
        loaded = cls(file, content, workspace_of(content, workspace_folder(file, folder)), selection)
        check_selection(selection, content, lambda: loaded.graph)
        return loaded

    def run(
        self, *, force: bool = False, refresh: bool = False, offline: bool = False, wait: bool = False
    ) -> "Results":
        """Compute all steps that are not done, and return the results.

        Args:
            force: Compute the selected steps again.
            refresh: Fetch again the data that change daily at their source.
            offline: Use no network.
            wait: Wait for another run that uses the workspace; if False, another run is an error.

        Raises:
            StudyFileError: The study cannot run, for example because a model is missing.
            WorkFailed: A task failed; the message has the reasons.
        """
        self.check_models()
        progress = Progress()
        _, message = self.execute(progress, force=force, refresh=refresh, offline=offline, wait=wait)
        if message:
            reasons = "; ".join(f"{step}: {reason}" for step, reason in progress.failures.items())
            raise WorkFailed(f"{message}: {reasons}" if reasons else message)
        return self.results

    def status(self) -> "pd.DataFrame":
        """Return the states: a row for each step or, for a scoring step, for each of its measures; no step runs."""
        import pandas as pd  # the import takes as long as the rest of `swaymeter status`

        uncached = replace(self)  # the copy reads the workspace again; this object has cached its `plan` and `graph`
        return pd.DataFrame([asdict(row) for row in uncached.rows()])

    @property
    def results(self) -> "Results":
        """Return the results in the workspace."""
        return Results(self.workspace.database)

    def frame(self, name: str) -> "pd.DataFrame":
        """Return a table, view or named query of the database as a frame; see `Results.frame`."""
        return self.results.frame(name)

    @cached_property
    def plan(self) -> Plan:
        """Plan of the study on this machine: models, passes and parameters."""
        return plan_of(self.study, self.workspace)

    @cached_property
    def graph(self) -> Graph:
        """The graph for the current state of the workspace."""
        return graph_of(self.plan)

    @property
    def contents(self) -> Contents:
        """Fetched facts and chosen questions of the study."""
        return Contents(self.plan, self.graph, self.selection.relations)

    def check_models(self, stages: Collection[str] = STAGES) -> None:
        """Raise an error for a missing model, before anything runs."""
        if "fetch" in stages or "score" in stages:
            try:
                check_models(self.study, is_scored="score" in stages, measures=self.selection.measures)
            except SwaymeterError as error:
                raise StudyFileError(f"{self.name}: {error}") from None

    def check(self, *, offline: bool) -> None:
        """Raise an error if a run would be refused; servers are probed, and no step runs."""
        check_run(self.graph, self.plan, self.selection, name=self.name, offline=offline)

    def rows(self) -> list[StatusRow]:
        """Return a row for each selected step or, for a scoring step, for each of its measures."""
        selected = self.selection.of(self.graph)
        return [row for node in self.graph if node.id in selected for row in _rows(self.plan, node)]

    def estimate(
        self, stages: Collection[str] = STAGES, *, force: bool = False, refresh: bool = False
    ) -> Iterator[str]:
        """Yield a line for each step that would run, and the estimated time.

        Raises:
            WorkFailed: A selected step is refused. The error follows the last line.
        """
        selection = self._select(stages)
        numbers = selection.rerun_numbers(self.graph, {"force": force, "refresh": refresh})
        graph = graph_of(self.plan, rerun_numbers=numbers)
        check_run(graph, self.plan, selection, name=self.name, force=force)
        yield from estimate(graph, self.plan, selection)
        if refused := [node for node in graph if node.id in selection.of(graph) and node.refusal]:
            raise WorkFailed("; ".join(dict.fromkeys(f"{self.name}: {node.refusal}" for node in refused)))

    def execute(
        self,
        display: Progress,
        *,
        stages: Collection[str] = STAGES,
        force: bool = False,
        refresh: bool = False,
        offline: bool = False,
        wait: bool = False,
        on_wait: Callable[[str], object] = log.warning,
        starts_api: bool = False,
    ) -> tuple[Graph, str]:
        """Run all steps that are not done, by `StudyRun.execute`, and return the graph after the run.

        Args:
            display: Receives the beginning and the end of each step.
            stages: The stages to run.
            force: Compute the selected steps again.
            refresh: Fetch again the data that change daily at their source.
            offline: Use no network.
            wait: Wait for another run that uses the workspace.
            on_wait: Receives a sentence about the run that is waited for.
            starts_api: Start a temporary API of Prefect if none is configured.

        Returns:
            The graph, and a message if a step failed, else "".
        """
        limit_threads()  # before torch is imported
        set_offline(offline)  # before the plan, which looks up the revisions of models
        run = StudyRun(self.plan, self._select(stages), name=self.name, force=force, refresh=refresh, offline=offline)
        message = run.execute(display, on_wait=on_wait if wait else None, starts_api=starts_api)
        return run.graph, message

    def _select(self, stages: Collection[str]) -> Selection:
        for name in stages:
            if name not in STAGES:
                raise UnknownName("stage", name, STAGES)
        return replace(self.selection, stages=tuple(stage for stage in STAGES if stage in stages))

    def description(self, graph: Graph) -> str:
        """Return the study in one line, with counts from its graph."""
        parts, facts = [], self.study.facts
        relations = sum(node.kind is FETCH_FACTS for node in graph)
        if relations and facts:
            planned = [*self.plan.relations.values()]
            counts = planned[0].counts
            sizes = sorted({relation.counts.contexts for relation in planned})
            contexts = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
            by_origin = f"{facts.real_entities} real and {facts.invented_entities} invented"
            # A group has no entry in the catalog, and no invented entities.
            entities = by_origin if planned[0].entry else str(counts.entities)
            file = self.study.contexts.file
            note = f" (a relation in {Path(file).name} has the contexts of this file)" if file else ""
            queries = "1 query form" if counts.query_forms == 1 else f"{counts.query_forms} query forms"
            relation_count = "1 relation" if relations == 1 else f"{relations} relations"
            parts.append(f"{relation_count} with {entities} entities, {queries} and {contexts} contexts each{note}")
        checks = {node.id.subject: node.checks.get("questions") for node in graph if node.kind is CHOOSE_QUESTIONS}
        question_counts = {name: check.rows for name, check in checks.items() if check and check.state == "done"}
        if question_counts:
            by_partition = ", ".join(f"{count} {partition}" for partition, count in question_counts.items())
            parts.append(f"{sum(question_counts.values())} questions ({by_partition})")
        return f"{self.study.name}: {'; '.join(parts)}"

    def findings(self, graph: Graph) -> Findings | None:
        """Return the findings of the report's page; None if the page is not done."""
        if any(node.state != "done" for node in graph if node.id.stage == "report"):
            return None
        return read_findings(self.workspace.report)

    def outputs(self) -> dict[str, Path]:
        """Return the paths that a person opens after a run, by name."""
        page, database = self.workspace.report / "index.html", self.workspace.database
        answers = self.workspace.report / "answers.html"
        return {"page": page, "answers": answers, "database": database, "workspace": self.workspace.root}


def database_of(run: str) -> Path:
    """Return the database of a run; `run` is a study, the folder of a workspace, or the database itself.

    Raises:
        UsageError: The run has no database.
    """
    path = Path(run).expanduser()
    if path.is_dir():
        database = path / DATABASE
    elif path.suffix == ".duckdb":
        database = path
    else:
        database = Study.load(run).workspace.database
    if not database.exists():
        raise UsageError(f"there is no database {database}; run the study first, or name another workspace")
    return database


class Results:
    """Results of a study: its database as data frames, and the page.

    The database is open only during a call, so that the study can run again between two calls.

    Attributes:
        database: The file `study.duckdb`.
        page: The file `report/index.html`, written by the stage report.
    """

    def __init__(self, database: Path) -> None:
        """Prepare the results of a database, which need not exist yet."""
        self.database = database
        self.page = database.parent / "report" / "index.html"

    def __repr__(self) -> str:
        return f"Results({str(self.database)!r})"

    def frame(self, name: str) -> "pd.DataFrame":
        """Return a table, view or named query of the database; `names` lists all of them.

        Args:
            name: The name, such as "persuasion", "susceptibility_of_queries" or "models_side_by_side".

        Returns:
            The rows. `attrs["units"]` has the units of columns. The types do not depend on the rows: Int64, boolean,
            str and float64. A missing value is NA, never 0.

        Raises:
            UsageError: The database has no table, view or query of this name.
        """
        tables = Schema(schema()).by_name
        if name in NAMED_QUERIES:
            return self._result(NAMED_QUERIES[name])
        if name not in tables:
            raise UsageError(f"the database has no table or query {name!r}; `swaymeter.open(...).names()` lists them")
        return self._result(NamedQuery(name, f"SELECT * FROM {quoted(name)}"))

    def names(self) -> list[str]:
        """Return every name that `frame` accepts, in alphabetical order."""
        return sorted({*Schema(schema()).by_name, *NAMED_QUERIES})

    def sql(self, text: str) -> "pd.DataFrame":
        """Return the result of a query in DuckDB's SQL; columns that keep their names keep their units, as in `frame`.

        Raises:
            InputError: The query is not valid.
        """
        return self._result(NamedQuery("sql", text))

    def findings(self) -> Findings:
        """Return the findings of the report's page: headline, details and caveats.

        Raises:
            WorkspaceError: The workspace has no report yet.
        """
        if not self.page.with_name(FINDINGS_FILE).exists():
            raise WorkspaceError(f"there is no report {self.page}; run the study with --stage report")
        return read_findings(self.page.parent)

    def _result(self, query: NamedQuery) -> "pd.DataFrame":
        from swaymeter.data.warehouse.warehouse import opened  # imports pandas

        with opened(self.database, schema()) as warehouse:
            return warehouse.answer(query)


def _rows(plan: Plan, node: PlannedStep) -> Iterator[StatusRow]:
    subject = " ".join(part for part in (node.id.subject, node.id.part) if part)
    model = plan.display_name(node.id)
    states = plan.measure_states(node) if node.id.stage == "score" else [(node.id.product, node.state, node.reason)]
    fetched = node.checks.get("facts") if node.id.stage == "fetch" else None
    rejected = fetched.about.get("rejected", {}) if fetched and fetched.about else {}
    for name, state, reason in states:
        yield StatusRow(subject, model, name, node.id.stage, state, reason, rejected)
