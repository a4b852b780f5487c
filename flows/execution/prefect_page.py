"""Prefect's page of a run: progress of scoring, findings, thresholds and unfinished steps.

In this module, an artifact is an artifact of Prefect: a text, table or progress bar on this page. If the API refuses an
artifact, the run continues.
"""

import csv
import logging
import threading
from collections.abc import Iterator, Sequence
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
from prefect.client.orchestration import get_client
from prefect.events import emit_event
from prefect.runtime import flow_run

from swaymeter.data.errors import SwaymeterError
from swaymeter.data.escaping import markdown
from swaymeter.data.records.findings import read_findings
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.config.study import StudyFile
from swaymeter.flows.execution.progress import StageProgress, current_display
from swaymeter.flows.graph.graph import Graph, PlannedStep
from swaymeter.flows.server.api import current_api_answers
from swaymeter.flows.stages.thresholds import study_threshold_outcomes

log = logging.getLogger(__name__)

UPDATE_SECONDS = 10.0
"""Seconds between two updates of the scoring progress; a run that ends earlier shows no progress."""
FINAL_UPDATE_SECONDS = 2.0
"""Upper bound on the seconds that a run waits for the final update."""
MEANS = "mean-susceptibility-of-models.csv"
"""File of the report with the table that `summary` shows; a report may lack this file."""
UNMET = "swaymeter.thresholds.unmet"
"""Name of the event that a run emits if a threshold is not met; the event's message has the reasons."""
STUDY_PREFIX = "swaymeter.study"
"""Prefix of the event's resource id, before the study's name: swaymeter.study.quickstart."""


@contextmanager
def scoring_updates() -> Iterator[None]:
    """Show the progress of scoring from a separate thread, so that no step waits for the API."""
    is_over = threading.Event()
    thread = threading.Thread(target=copy_context().run, args=(_update_scoring, is_over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(FINAL_UPDATE_SECONDS)


def _update_scoring(is_over: threading.Event) -> None:
    artifact: Any = None
    previous, is_final = None, False
    while not is_final:
        is_final = is_over.wait(UPDATE_SECONDS)
        stage = current_display().stages.get("score", StageProgress())
        failed_steps = len(stage.failed)
        done_steps = len(stage.ended) - failed_steps
        percent = 100 * (stage.progress - failed_steps) / max(stage.total, 1)  # `progress` counts failed steps, too
        failures = f"; {failed_steps} failed" if failed_steps else ""
        description = f"Scoring: {done_steps} of {stage.total} steps are done{failures}."
        update = {"progress": min(100.0, percent), "description": description}
        try:
            if artifact is None and stage.progress and not is_final:
                artifact = create_progress_artifact(key="scoring", **update)  # type: ignore[arg-type]
            elif artifact is not None and update != previous:
                update_progress_artifact(artifact, **update)  # type: ignore[arg-type]
        except Exception as error:
            log.debug("no progress is shown any more: %s", error)
            return
        previous = update


def tag_run(study: str) -> None:
    """Tag the flow run with the study's name.

    Task runs get no tag, because Prefect looks up a limit for each tag of a task run.
    """
    if flow_run.id is None or study in (flow_run.tags or ()):
        return
    try:
        with get_client(sync_client=True) as client:
            client.update_flow_run(UUID(str(flow_run.id)), tags=[*flow_run.tags, study])
    except Exception as error:
        log.debug("the run has no tag: %s", error)


def show_outcome(graph: Graph, unfinished: Sequence[PlannedStep]) -> None:
    """Show the findings of a run, or the unfinished steps with their reasons."""
    if not current_api_answers():
        return
    try:
        if unfinished:
            rows = [{"step": str(node.id), "state": node.state, "reason": node.reason} for node in unfinished]
            create_table_artifact(key="failed-steps", table=rows, description="What is not done, and why.")
        elif text := summary(graph):
            create_markdown_artifact(text, key="summary", description="Findings, and paths of page and database.")
    except Exception as error:
        log.warning("the summary is not shown on Prefect's page: %s", error)


def show_thresholds(study: StudyFile, workspace: Workspace) -> None:
    """Show the headline numbers that have a threshold, and emit an event for automations if a threshold is not met."""
    try:
        outcomes = study_threshold_outcomes(study, workspace.database)
        unmet = "; ".join(reason for _, _, reason in outcomes if reason)
        rows = [
            {"bound": str(threshold), "model": row.model, "number": row.name, "is": row.words, "met": not reason}
            for threshold, row, reason in outcomes
        ]
    except SwaymeterError as error:  # such as a quantity that was not measured
        unmet, rows = str(error), []
    if unmet:
        log.info("%s", unmet)  # not a warning, because the command prints the sentence at its end
    if not current_api_answers():
        return
    try:
        create_table_artifact(key="thresholds", table=rows, description=unmet or "All thresholds are met.")
        if unmet:
            resource = {"prefect.resource.id": f"{STUDY_PREFIX}.{study.name}", "prefect.resource.name": study.name}
            emit_event(event=UNMET, resource=resource, payload={"message": unmet})
    except Exception as error:
        log.warning("thresholds are not shown on Prefect's page: %s", error)


def summary(graph: Graph) -> str:
    """Return Markdown with findings, mean susceptibilities and the paths of page and database; "" without a report."""
    if not any(node.id.stage == "report" and node.state == "done" for node in graph):
        return ""
    workspace = graph.workspace
    findings = read_findings(workspace.report)
    lines = [markdown(line).strip() for claim in findings.headline for line in claim.lines()]
    lines += [f"Caveat: {markdown(caveat)}" for caveat in findings.caveats]
    blocks = ["\n".join(f"- {line}" for line in lines)] if lines else []
    if (means := workspace.report / "tables" / MEANS).exists():
        with means.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        cells_of_lines = [[markdown(_short(cell)) for cell in row] for row in (header, *rows)]
        header_line, *row_lines = (f"| {' | '.join(cells)} |" for cells in cells_of_lines)
        blocks.append("\n".join([header_line, "| --- " * len(header) + "|", *row_lines]))
    page = workspace.report / "index.html"
    return "\n\n".join([*blocks, f"Page: {markdown(page)}\n\nDatabase: {markdown(workspace.database)}"])


def _short(cell: str) -> str:
    try:
        return cell if cell.isdigit() else f"{float(cell):.3f}"
    except ValueError:
        return cell
