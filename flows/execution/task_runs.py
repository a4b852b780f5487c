"""Tasks as task runs of Prefect: the future of an upstream task becomes an edge on Prefect's page."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

from prefect import task as prefect_task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed
from prefect.utilities.annotations import allow_failure, quote

from swaymeter.flows.execution.executor import Submit
from swaymeter.flows.execution.progress import Progress, current_display
from swaymeter.flows.execution.task import Outcome, Task, Workers
from swaymeter.flows.graph.graph import RunSettings
from swaymeter.flows.graph.stage import Stage

TRANSIENT = "Transient"
"""Name of the state of a task that failed with a transient error."""


# No result is cached or persisted, because a retried flow would use a persisted result without a look at the workspace,
# whose files may be removed, damaged or outdated.
TASK_OPTIONS: dict[str, Any] = {
    "task_run_name": "{name}",
    "retries": 1,
    "retry_delay_seconds": 2,
    "retry_condition_fn": lambda task, task_run, state: state.name == TRANSIENT,
    "cache_policy": NO_CACHE,
    "persist_result": False,
}


@contextmanager
def as_task_runs(settings: RunSettings, workers: Workers) -> Iterator[Submit]:
    """Yield the function that submits a task as a task run of Prefect."""
    futures: dict[str, Any] = {}

    def submit(task: Task, upstream: Mapping[str, bool]) -> Any:
        waits_for = [
            futures[name] if is_required else allow_failure(futures[name]) for name, is_required in upstream.items()
        ]
        compute = partial(task.compute, settings, workers)
        future = stage_task(task.stage).submit(task.name, quote(compute), wait_for=waits_for)
        futures[task.name] = future
        return future

    yield submit


@cache
def stage_task(stage: Stage) -> Any:
    """Return the Prefect task of a stage.

    Its argument `compute` must be in `quote`, because Prefect searches an argument without `quote` for futures.
    """
    return prefect_task(name=stage, **TASK_OPTIONS)(_run_task)


def _run_task(name: str, compute: Callable[[Progress], Outcome]) -> State[Any]:
    """Compute the steps of a task, and return Prefect's state of the task.

    The task runs in a thread of the submitting process, even if a worker computes its steps. So the state is right even
    if the worker dies, and only the submitting process needs Prefect's API.
    """
    outcome = compute(current_display())
    if outcome.failed is None:
        return Completed(message=name)
    return Failed(name=TRANSIENT if outcome.may_pass else None, message=outcome.failed)
