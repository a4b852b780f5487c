"""The one Prefect task: it runs any step, and notes in the workspace why one failed.

Prefect's own caching would answer for steps whose files were removed, damaged or made from something else: a retried
flow takes a persisted result past the workspace. So no result is persisted, nothing is cached, and the graph is asked.
"""

import logging
import os
import traceback
from contextlib import suppress
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from data.errors import ServiceClosed, SwaymeterError
from data.storage.workspace import Workspace
from flows.graph.step import Run, Step

log = logging.getLogger(__name__)

TRANSIENT = "Transient"
"""The name of the state of a step that failed for a reason that may pass."""


def _run_step(name: str, step: Step, run: Run) -> State[Any]:
    """Runs a step; its failure is noted in the workspace, where `status` and the page find it.

    What we raise on purpose does not pass by itself; anything else may, and is tried again.
    """
    workspace = Workspace(run.workspace)
    if run.offline:
        os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        spent = step.function(step, run)
    except ServiceClosed as error:  # the run ends before the step does: that is no failure of the step
        return Failed(message=str(error))
    except SwaymeterError as error:
        _note(workspace, step, str(error))
        return Failed(message=str(error))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        _note(workspace, step, reason, detail=traceback.format_exc())
        log.debug("%s", name, exc_info=True)
        return Failed(name=TRANSIENT, message=reason)
    workspace.forget_failure(name)
    return Completed(message=name, data=spent)


def _note(workspace: Workspace, step: Step, reason: str, detail: str = "") -> None:
    with suppress(SwaymeterError):  # a full disk must not hide the reason that is being noted
        workspace.note_failure(str(step.id), step.key, reason, detail)


step_task: Any = task(
    name="step",
    task_run_name="{name}",
    retries=1,
    retry_delay_seconds=2,
    retry_condition_fn=lambda task, task_run, state: state.name == TRANSIENT,
    cache_policy=NO_CACHE,
    persist_result=False,
)(_run_step)
"""Submit `step_task.submit(str(step.id), quote(step), quote(run))`: what is quoted, Prefect does not look into."""
