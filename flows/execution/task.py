"""The one Prefect task: it has any step computed by the run's workers, here or elsewhere, and says what came of it.

The task runs in a thread of the process that walks the graph, also where a worker computes: its state is right whatever
becomes of the worker, and only that process needs Prefect's API.

Prefect's own caching would answer for steps whose files were removed, damaged or made from something else: a retried
flow takes a persisted result past the workspace. So no result is persisted, nothing is cached, and the graph is asked.
"""

import functools
from typing import Any

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from swaymeter.flows.execution.workers.workers import Workers
from swaymeter.flows.graph.step import Run, Stage, Step

TRANSIENT = "Transient"
"""The name of the state of a step that failed for a reason that may pass."""


def _run_step(name: str, step: Step, run: Run, workers: Workers) -> State[Any]:
    """Has a step computed, and gives its state."""
    outcome = workers.compute(step, run)
    if outcome.failed is None:
        return Completed(message=name, data=outcome.spent)
    return Failed(name=TRANSIENT if outcome.may_pass else None, message=outcome.failed)


_step: Any = task(
    task_run_name="{name}",
    retries=1,
    retry_delay_seconds=2,
    retry_condition_fn=lambda task, task_run, state: state.name == TRANSIENT,
    cache_policy=NO_CACHE,
    persist_result=False,
)(_run_step)


@functools.cache
def step_task(stage: Stage) -> Any:
    """The task under the name of a stage. Quote its arguments but for the name: Prefect looks into others."""
    return _step.with_options(name=stage)
