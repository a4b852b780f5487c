"""A step is tried once, in whichever process, without Prefect; and the plainest workers: all steps in this process.

What came of a step is a value, and noted in the workspace. What we raise on purpose does not pass by itself; anything
else may, and can be tried again.
"""

import logging
import threading
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from swaymeter.data.errors import ServiceClosed, SwaymeterError, WorkspaceError
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.graph.graph import Node
from swaymeter.flows.graph.step import RunSettings, Step
from swaymeter.tasks.measures.stored_chunks import Spent
from swaymeter.tasks.models.files.hub import set_offline

log = logging.getLogger(__name__)

AT_ONCE: Mapping[str, int] = {"services": 3, "compute": 1}
"""Tasks that run at the same time: those that wait for services, and those that have the processors or the GPU."""

TASKS_OF_A_SERVER = 1
"""Tasks that run at the same time of one model at a server; the requests of one are many."""

TRIES = 4
"""Upper bound on starts of a step whose worker dies: after four deaths, the step probably kills its workers."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a step: its cost, or its failure.

    is_away: True if the failure is the worker's: it cannot see the workspace, or has another version of the package.
    """

    spent: Spent | None = None
    failed: str | None = None
    may_pass: bool = False
    is_away: bool = False


def attempt(step: Step, run: RunSettings) -> Outcome:
    """Runs a step; its failure is noted in the workspace, where `status` and the page find it."""
    set_offline(run.offline)  # a worker computes for other runs, too
    workspace = Workspace(run.workspace)
    try:
        workspace.check_mounted()
        spent = step.function(step, run)
        workspace.check_mounted()
    except ServiceClosed as error:  # the run ends before the step does: that is no failure of the step
        return Outcome(failed=str(error))
    except Exception as error:
        log.debug("%s", step.id, exc_info=True)
        try:
            workspace.check_mounted()
        except WorkspaceError as away:  # whatever the step met follows from that
            return Outcome(failed=str(away), may_pass=True, is_away=True)
        if isinstance(error, SwaymeterError):
            return failed(step, run, str(error))
        return failed(step, run, f"{type(error).__name__}: {error}", traceback.format_exc(), may_pass=True)
    workspace.forget_failure(str(step.id), step.key)
    return Outcome(spent)


def failed(step: Step, run: RunSettings, reason: str, detail: str = "", *, may_pass: bool = False) -> Outcome:
    """Notes why a step failed, and gives that."""
    workspace = Workspace(run.workspace)
    with suppress(SwaymeterError):  # a full disk must not hide the reason that is being noted
        workspace.check_mounted()  # else it would be made anew here
        workspace.note_failure(str(step.id), step.key, reason, detail)
    return Outcome(failed=reason, may_pass=may_pass)


INTERRUPTED = Outcome(failed="the run was interrupted")
"""The outcome of a step that was not started, as the run was interrupted; no failure is noted."""


class Workers:
    """Computes every step in this process; the base of workers that send steps that ask a model elsewhere."""

    def __init__(self) -> None:
        self._computing, self._is_abandoned = threading.Lock(), False

    def at_once(self) -> Mapping[str, int]:
        """Return the number of tasks that may run at the same time, by place; it may change while a study runs."""
        return AT_ONCE

    def queue(self, step: Step | Node) -> str:
        """Return the place that a step takes; a model at a server is one of its own, which `at_once` does not name."""
        return f"server {step.id.model}" if step.resource == "server" else step.resource

    def compute(self, step: Step, run: RunSettings) -> Outcome:
        """Has a step computed and waits for it; called from a thread of the step's own."""
        if self._is_abandoned:
            return INTERRUPTED
        if step.resource != "compute":
            return attempt(step, run)
        with self._computing:
            return INTERRUPTED if self._is_abandoned else attempt(step, run)

    def abandon(self) -> None:
        """The run is interrupted: nothing more is begun, and what is computed elsewhere is not waited for."""
        self._is_abandoned = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Ends the workers that it started."""
