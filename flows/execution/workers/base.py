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
"""Number of tasks that run at the same time: tasks that wait for services, and tasks that compute."""

TASKS_OF_A_SERVER = 1
"""Number of tasks that run at the same time for a model at a server; each task sends many requests."""

TRIES = 4
"""Upper bound on starts of a step whose worker dies: after four deaths, the step probably kills its workers."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a step: its cost, or its failure.

    `is_away` is True for a failure of the worker, which cannot see the workspace or has another version of the package.
    """

    spent: Spent | None = None
    failed: str | None = None
    may_pass: bool = False
    is_away: bool = False


def attempt(step: Step, run: RunSettings) -> Outcome:
    """Run a step; a failure is recorded in the workspace, for `status` and the page."""
    set_offline(run.offline)  # a worker computes for other runs, too
    workspace = Workspace(run.workspace)
    try:
        workspace.check_mounted()
        spent = step.function(step, run)
        workspace.check_mounted()
    except ServiceClosed as error:  # the run ends before the step, which is no failure of the step
        return Outcome(failed=str(error))
    except Exception as error:
        log.debug("%s", step.id, exc_info=True)
        try:
            workspace.check_mounted()
        except WorkspaceError as away:  # the cause of the step's error
            return Outcome(failed=str(away), may_pass=True, is_away=True)
        if isinstance(error, SwaymeterError):
            return failed(step, run, str(error))
        return failed(step, run, f"{type(error).__name__}: {error}", traceback.format_exc(), may_pass=True)
    workspace.forget_failure(str(step.id), step.key)
    return Outcome(spent)


def failed(step: Step, run: RunSettings, reason: str, detail: str = "", *, may_pass: bool = False) -> Outcome:
    """Record the reason of a failed step, and return its outcome."""
    workspace = Workspace(run.workspace)
    with suppress(SwaymeterError):  # a full disk must not hide the reason of the failure
        workspace.check_mounted()  # otherwise a new workspace would be created here
        workspace.note_failure(str(step.id), step.key, reason, detail)
    return Outcome(failed=reason, may_pass=may_pass)


INTERRUPTED = Outcome(failed="the run was interrupted")
"""The outcome of a step that an interrupted run never started; no failure is recorded."""


class Workers:
    """Workers that compute every step in this process; the base class of workers in other processes."""

    def __init__(self) -> None:
        self._computing, self._is_abandoned = threading.Lock(), False

    def at_once(self) -> Mapping[str, int]:
        """Return the number of tasks that may run at the same time, by queue; the number may change during a run."""
        return AT_ONCE

    def queue(self, step: Step | Node) -> str:
        """Return the queue of a step; each model at a server has a separate queue, which is not in `at_once`."""
        return f"server {step.id.model}" if step.resource == "server" else step.resource

    def compute(self, step: Step, run: RunSettings) -> Outcome:
        """Compute a step and wait for its end; called from a separate thread for each step."""
        if self._is_abandoned:
            return INTERRUPTED
        if step.resource != "compute":
            return attempt(step, run)
        with self._computing:
            return INTERRUPTED if self._is_abandoned else attempt(step, run)

    def abandon(self) -> None:
        """Interrupt the run: start no further step, and do not wait for steps in other processes."""
        self._is_abandoned = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """End the workers that this object started."""
