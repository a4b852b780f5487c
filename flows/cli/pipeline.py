"""Where the commands meet the pipeline: which steps a study has, how they stand, and their execution."""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.errors import SwaymeterError
from data.storage.workspace import NOT_MADE
from flows import progress as old_progress
from flows.cli.status import StatusRow
from flows.cli.terminal import TerminalProgress
from flows.execution.progress import Spent
from flows.items import Selection
from flows.plan import Plan

Names = list[str] | None


@dataclass(frozen=True)
class Selected:
    """What of a study a command is about."""

    study: str
    plan: Plan

    @classmethod
    def of(
        cls,
        study: str,
        workspace: str | None = None,
        relation: Names = None,
        model: Names = None,
        measure: Names = None,
    ) -> "Selected":
        """The study file's steps, or those that the options name; UsageError where it has none of that name."""
        only = Selection(tuple(relation or ()), tuple(model or ()), tuple(measure or ()))
        return cls(study, Plan.of(study, workspace, only))

    def check_models(self, name: str) -> None:
        """Refuse, before anything runs, a model that cannot be had."""
        from flows.model_checks import check_helpers, check_models

        if name in ("run", "score"):
            check_models(self.plan)
        elif name == "fetch":
            check_helpers(self.plan)

    def rows(self) -> list[StatusRow]:
        """How every step stands."""
        from flows.status import cells

        return [
            StatusRow(
                cell.relation,
                cell.model.removeprefix("every model"),
                cell.measure.removeprefix("every measure"),
                "fetch" if cell.model == "every model" else "score",
                cell.state,
                cell.reason,
            )
            for cell in cells(self.plan)
        ]

    def estimate(self, force: bool) -> Iterator[str]:
        """What would be done, line by line."""
        from flows.dry_run import estimate

        return estimate(self.plan, force=force)

    def execute(
        self, name: str, progress: TerminalProgress, *, force: bool, refresh: bool, offline: bool
    ) -> str | None:
        """Execute what is not done; a message where that failed, None where all is done.

        Prefect's API is started only once the workspace is locked and known to need it.
        """
        from flows.server.api import prefect_api

        only = [
            list(names) or None for names in (self.plan.only.relations, self.plan.only.models, self.plan.only.measures)
        ]
        fetching = {"refresh": refresh} if name in ("run", "fetch") else {}
        with self.plan.workspace.conducted(), prefect_api(meanwhile=_import_flows), progress.bars:
            old_progress.watch(_Watcher(progress))
            state = _import_flows().FLOWS[name](
                self.study, str(self.plan.workspace.root), *only, force, offline, return_state=True, **fetching
            )
        progress.failures = _causes(progress.failures)
        if state.is_completed():
            return None
        problem = state.result(raise_on_failure=False)
        if isinstance(problem, SwaymeterError) and not progress.failures:
            raise problem
        return state.message or f"{name} failed"

    def description(self) -> str:
        """The study in one line."""
        plan = self.plan.whole
        parts = []
        if plan.relations() and plan.study.facts:
            facts = plan.study.facts
            entities = facts.real_entities + facts.invented_entities
            parts.append(
                f"{len(plan.relations())} relations with {facts.real_entities} real and {facts.invented_entities} "
                f"invented entities, 4 query forms and {entities * sum(plan.study.contexts.per_kind().values())} "
                "contexts each"
            )
        if plan.partitions() and plan.question_relations():
            chosen = [question for questions in plan.chosen_questions.values() for question in questions]
            counts = (f"{sum(one.partition == name for one in chosen)} {name}" for name in plan.partitions())
            parts.append(f"{len(chosen)} questions ({', '.join(counts)})")
        return f"{plan.study.name}: {'; '.join(parts)}"

    def outputs(self) -> dict[str, Path]:
        """What a person opens after a run."""
        workspace = self.plan.workspace
        return {"page": workspace.report / "index.html", "database": workspace.database, "workspace": workspace.root}


class _Watcher:
    """What the old flows report to: what a step took comes before that it is done."""

    def __init__(self, progress: TerminalProgress) -> None:
        self.begin, self.within = progress.begin, progress.within
        self._progress = progress
        self._spent: dict[str, Spent] = {}

    def spent(self, name: str, spent: Spent) -> None:
        self._spent[name] = spent

    def finished(self, name: str, failed: str | None) -> None:
        self._progress.finished(name, failed and failed.removeprefix(f"{name}: "), self._spent.pop(name, None))


def _import_flows() -> Any:
    # Prefect takes seconds to import, and the API to start: both at once.
    return importlib.import_module("flows.conduct")


def _causes(failures: dict[str, str]) -> dict[str, str]:
    """Failures without those that follow from others: a file that is not there."""
    return {name: reason for name, reason in failures.items() if NOT_MADE not in reason} or failures
