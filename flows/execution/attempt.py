"""A step is tried once: in whichever process, without Prefect. What came of it is a value, and noted in the workspace.

What we raise on purpose does not pass by itself; anything else may, and can be tried again.
"""

import logging
import traceback
from contextlib import suppress
from dataclasses import dataclass

from swaymeter.data.errors import ServiceClosed, SwaymeterError, WorkspaceError
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.graph.step import Run, Step
from swaymeter.tasks.measures.run import Spent
from swaymeter.tasks.models.files.hub import leave_alone

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """What came of a step: what it spent, or why it failed, and whether that may pass.

    is_away: whether the workspace could not be seen where the step was tried.
    """

    spent: Spent | None = None
    failed: str | None = None
    may_pass: bool = False
    is_away: bool = False


def attempt(step: Step, run: Run) -> Outcome:
    """Runs a step; its failure is noted in the workspace, where `status` and the page find it."""
    leave_alone(run.offline)  # a worker computes for other runs, too
    workspace = Workspace(run.workspace)
    try:
        workspace.check_is_there()
        spent = step.function(step, run)
        workspace.check_is_there()
    except ServiceClosed as error:  # the run ends before the step does: that is no failure of the step
        return Outcome(failed=str(error))
    except Exception as error:
        log.debug("%s", step.id, exc_info=True)
        try:
            workspace.check_is_there()
        except WorkspaceError as away:  # whatever the step met follows from that
            return Outcome(failed=str(away), may_pass=True, is_away=True)
        if isinstance(error, SwaymeterError):
            return failed(step, run, str(error))
        return failed(step, run, f"{type(error).__name__}: {error}", traceback.format_exc(), may_pass=True)
    workspace.forget_failure(str(step.id), step.key)
    return Outcome(spent)


def failed(step: Step, run: Run, reason: str, detail: str = "", *, may_pass: bool = False) -> Outcome:
    """Notes why a step failed, and gives that."""
    workspace = Workspace(run.workspace)
    with suppress(SwaymeterError):  # a full disk must not hide the reason that is being noted
        workspace.check_is_there()  # else it would be made anew here
        workspace.note_failure(str(step.id), step.key, reason, detail)
    return Outcome(failed=reason, may_pass=may_pass)
