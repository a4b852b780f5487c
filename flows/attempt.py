"""One piece of work of a task run: done, or failed with a reason that a person can read; never half."""

import logging
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from prefect.artifacts import create_table_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from data.errors import SwaymeterError
from data.storage.workspace import Workspace

log = logging.getLogger(__name__)

MAY_PASS = "MayPass"


def attempt(name: str, workspace: Workspace, work: Callable[[], None]) -> State[Any]:
    """Does the work and says how it ended; the reason of a failure is kept in the workspace for `status`.

    What we raise on purpose does not pass by itself; anything else may, and is tried again.
    """
    try:
        work()
    except SwaymeterError as error:
        _note(workspace, name, str(error))
        return Failed(message=f"{name}: {error}")
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        _note(workspace, name, reason, detail=traceback.format_exc())
        log.debug("%s", name, exc_info=True)
        return Failed(name=MAY_PASS, message=f"{name}: {reason}")
    workspace.forget_failure(name)
    return Completed(message=name)


def _note(workspace: Workspace, name: str, reason: str, detail: str = "") -> None:
    with suppress(SwaymeterError):  # a full disk must not hide the reason that is being noted
        workspace.note_failure(name, reason, detail)


def may_pass(task: object, task_run: object, state: State[Any]) -> bool:
    """Whether trying again may help."""
    return state.name == MAY_PASS


def outcome(stage: str, states: Sequence[State[Any]]) -> State[Any]:
    """How a flow ended: Failed, with an artifact that lists what failed and why, where any of its work failed."""
    failed = [state for state in states if not state.is_completed()]
    if not failed:
        return Completed(message=f"{stage}: {len(states)} done")
    listed = [dict(zip(("work", "reason"), (state.message or "").split(": ", 1), strict=False)) for state in failed]
    create_table_artifact(key=f"failed-{stage}", table=listed, description=f"What failed in {stage}, and why.")
    named = "; ".join(state.message or "failed without a reason" for state in failed)
    return Failed(message=f"{stage}: {len(failed)} of {len(states)} failed: {named}")
