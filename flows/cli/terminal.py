"""What a person sees at the terminal: progress while there is work, and at the end what was done and where it is."""

import logging
import threading
from collections.abc import Mapping

from rich.console import Console
from rich.logging import RichHandler
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from data.storage.workspace import NOT_MADE
from flows.plan import Plan
from flows.status import Cell
from tasks.measures.run import Spent

DOING = {
    "fetch": "fetching facts and questions",
    "lists": "listing facts and pages",
    "questions": "fetching live questions",
    "write": "writing disputable questions",
    "build": "writing prompts",
    "score": "asking the models",
    "aggregate": "loading the database and testing",
    "report": "drawing the report",
}

NAMED = 3
"""Pieces of work that are named where many failed for one reason; `swaymeter status` names all."""


class TerminalWatcher:
    """Shows one bar a stage, with the piece of work that is being done, and remembers what was spent."""

    def __init__(self, console: Console) -> None:
        self.failures: dict[str, str] = {}
        self.total = Spent()
        self._lock = threading.Lock()
        self._bar = TaskID(-1)
        self._within: dict[str, float] = {}
        self.progress = Progress(
            TextColumn("{task.description:<34}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[doing]}"),
            console=console,
        )

    def begin(self, stage: str, total: int) -> None:
        """A stage of `total` pieces of work begins."""
        with self._lock:
            self._within.clear()
            self._bar = self.progress.add_task(DOING.get(stage, stage), total=total, doing="")

    def within(self, name: str, done: int, total: int) -> None:
        """So many chunks of a piece of work are done."""
        with self._lock:
            self.progress.update(self._bar, doing=f"{escape(name)}: chunk {min(done + 1, total)} of {total}")

    def spent(self, name: str, spent: Spent) -> None:
        """So much was spent on a piece of work."""
        with self._lock:
            self.total = Spent(
                self.total.prompts + spent.prompts,
                self.total.forward_passes + spent.forward_passes,
                self.total.seconds + spent.seconds,
            )

    def finished(self, name: str, failed: str | None) -> None:
        """A piece of work is done, or failed for a reason; one that is tried again and then done did not fail."""
        with self._lock:
            if failed:
                self.failures[name] = failed.removeprefix(f"{name}: ")
            else:
                self.failures.pop(name, None)
            if name not in self._within:
                self._within[name] = 1.0
                self.progress.advance(self._bar)
            self.progress.update(self._bar, doing="")


def log_to(console: Console, verbose: bool) -> None:
    """Warnings of ours go to the terminal; everything of ours with `verbose`."""
    handler = RichHandler(console=console, show_time=False, show_path=False, markup=False)
    for room in ("data", "tasks", "reports", "flows"):
        logger = logging.getLogger(room)
        logger.setLevel(logging.DEBUG if verbose else logging.INFO)
        handler.setLevel(logging.DEBUG if verbose else logging.WARNING)
        logger.addHandler(handler)


def summary(console: Console, plan: Plan, watcher: TerminalWatcher, took: float) -> None:
    """What was done, what failed and why, where everything is, and what to do next."""
    spent = watcher.total
    rate = f", {spent.prompts / spent.seconds:.0f} prompts a second" if spent.seconds > 0 and spent.prompts else ""
    console.print(
        f"\n[bold]{plan.study.name}[/bold]: {_counts(plan)}\n"
        f"computed now: {spent.prompts} prompts, {spent.forward_passes} forward passes in {spent.seconds:.0f} s{rate}; "
        f"the run took {took:.0f} s",
        soft_wrap=True,
    )
    for reason, names in _causes(watcher.failures).items():
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        named = f"{', '.join(names[:NAMED])}{more}"
        console.print(f"[red]failed[/red]  {escape(named)}: {escape(reason)}", soft_wrap=True)
    page = plan.workspace.report / "index.html"
    if page.exists():
        console.print(f"page      {escape(str(page))}", soft_wrap=True)
    if plan.workspace.database.exists():
        console.print(f"database  {escape(str(plan.workspace.database))}", soft_wrap=True)
    if watcher.failures:
        console.print("Mend what is named above and run the same command again: only what failed is computed.")


def _causes(failures: Mapping[str, str]) -> dict[str, list[str]]:
    """Pieces of work by the reason why they failed.

    That a file is not there follows from what failed before, and is a reason only where there is no other.
    """
    by_reason: dict[str, list[str]] = {}
    for name, reason in failures.items():
        by_reason.setdefault(reason, []).append(name)
    return {reason: names for reason, names in by_reason.items() if NOT_MADE not in reason} or by_reason


def _counts(plan: Plan) -> str:
    said = []
    if plan.relations() and plan.study.facts:
        facts, per_kind = plan.study.facts, plan.study.contexts.per_kind()
        entities = facts.real_entities + facts.invented_entities
        said.append(
            f"{len(plan.relations())} relations with {facts.real_entities} real and {facts.invented_entities} invented "
            f"entities, 4 query forms and {entities * sum(per_kind.values())} contexts each"
        )
    if plan.partitions() and plan.question_relations():
        asked = [question for questions in plan.chosen_questions.values() for question in questions]
        by_partition = ", ".join(
            f"{sum(question.partition == partition for question in asked)} {partition}"
            for partition in plan.partitions()
        )
        said.append(f"{len(asked)} questions ({by_partition})")
    return "; ".join(said)


def status_table(listed: list[Cell]) -> Table:
    """Model x relation x measure, with how each stands."""
    colours = {"done": "green", "failed": "red", "missing": "yellow"}
    table = Table("model", "relation", "measure", "stands", "why")
    for cell in listed:
        stands = f"[{colours[cell.state]}]{cell.state}[/]"
        table.add_row(escape(cell.model), escape(cell.relation), cell.measure, stands, escape(cell.reason))
    return table
