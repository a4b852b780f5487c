"""What Prefect's page shows of a run beside its states: how far scoring is, what was found, and what is not done.

All of it is for the eyes: where the API does not take it, the run goes on.
"""

import csv
import html
import json
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any
from uuid import UUID

from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)

from swaymeter.data.storage.workspace import FOUND
from swaymeter.flows.execution.progress import Progress, progress, report_to
from swaymeter.flows.graph.graph import Graph, Node
from swaymeter.flows.server.api import configured_api_answers
from swaymeter.tasks.measures.run import Spent

log = logging.getLogger(__name__)

SECONDS = 10.0
"""Between two calls of the API about how far scoring is: one that is over sooner makes none."""
PATIENCE = 2.0
"""For how many seconds the end of a run waits for the last of these calls."""
MEANS = "mean-susceptibility-of-models.csv"
"""The table of the report that the summary shows, where the study has it."""


@contextmanager
def shown_progress() -> Iterator[None]:
    """Shows how far scoring is, beside whoever else is told of the run's progress."""
    others = progress()
    with _Shown(others) as shown:
        report_to(shown)
        try:
            yield
        finally:
            report_to(others)


class _Shown(Progress):
    """Tells another one, and a progress artifact by a thread of its own: no step waits for the API."""

    def __init__(self, others: Progress) -> None:
        self._others = others
        self._total = 0
        self._ended: set[str] = set()
        self._within: dict[str, float] = {}
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=copy_context().run, args=(self._show,), daemon=True)

    def __enter__(self) -> "_Shown":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._is_over.set()
        self._thread.join(PATIENCE)

    def plan(self, totals: Mapping[str, int]) -> None:
        self._total = totals.get("score", 0)
        self._others.plan(totals)

    def started(self, stage: str, name: str) -> None:
        self._others.started(stage, name)

    def within(self, stage: str, name: str, done: int, total: int) -> None:
        if stage == "score" and total:
            self._within[name] = done / total
        self._others.within(stage, name, done, total)

    def finished(self, stage: str, name: str, failed: str | None, spent: Spent | None = None) -> None:
        if stage == "score":
            self._within.pop(name, None)
            self._ended.add(name)
        self._others.finished(stage, name, failed, spent)

    def _show(self) -> None:
        artifact: UUID | None = None
        shown = None
        while not self._is_over.wait(SECONDS) or artifact:
            done = len(self._ended) + sum(dict(self._within).values())
            now = {
                "progress": min(100.0, 100 * done / max(self._total, 1)),
                "description": f"Scoring: {len(self._ended)} of {self._total} steps have ended.",
            }
            try:
                if artifact is None and done:
                    artifact = create_progress_artifact(key="scoring", **now)  # type: ignore[arg-type,assignment]
                elif artifact is not None and now != shown:
                    update_progress_artifact(artifact, **now)  # type: ignore[arg-type]
            except Exception as error:
                log.debug("no progress is shown any more: %s", error)
                return
            shown = now
            if self._is_over.is_set():
                return


def show_outcome(graph: Graph, undone: Sequence[Node]) -> None:
    """Shows what was found, or what is not done and why."""
    if not configured_api_answers():
        return
    try:
        if undone:
            rows = [{"step": str(node.id), "state": node.state, "reason": node.reason} for node in undone]
            create_table_artifact(key="failed-steps", table=rows, description="What is not done, and why.")
        elif markdown := summary(graph):
            create_markdown_artifact(markdown, key="summary", description="What was found, and where it is.")
    except Exception as error:
        log.warning("the summary is not shown on Prefect's page: %s", error)


def summary(graph: Graph) -> str:
    """What was found, as Markdown, and where the page is; nothing where the page is not done."""
    if not any(node.id.stage == "report" and node.state == "done" for node in graph):
        return ""
    workspace = graph.workspace
    found: Mapping[str, Sequence[str]] = json.loads((workspace.report / FOUND).read_text(encoding="utf-8"))
    blocks = [f"## {_text(model)}\n\n" + "\n".join(f"- {_text(one)}" for one in found[model]) for model in found]
    if (means := workspace.report / "tables" / MEANS).exists():
        with means.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        blocks.append("\n".join(map(_line, [header, ["---"] * len(header), *rows])))
    page, database = workspace.report / "index.html", workspace.database
    blocks.append(f"Page: {_text(str(page))}\n\nDatabase: {_text(str(database))}")
    return "\n\n".join(blocks)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_text(_short(cell)) for cell in cells) + " |"


def _short(cell: str) -> str:
    try:
        return cell if cell.isdigit() else f"{float(cell):.3f}"
    except ValueError:
        return cell


def _text(content: Any) -> str:
    """Text that Markdown shows as it is: names of models and relations come from outside."""
    escaped = html.escape(str(content), quote=False)
    return "".join(f"\\{sign}" if sign in "\\`*_[]|#" else sign for sign in escaped)
