"""What the five flows have in common: a plan from their parameters, and work fanned out to tasks."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from prefect import task
from prefect.artifacts import create_table_artifact
from prefect.client.schemas.objects import State
from prefect.task_runners import ThreadPoolTaskRunner

from flows.attempt import attempt, may_pass
from flows.caching import ASK_THE_WORKSPACE
from flows.items import Selection
from flows.plan import Plan
from flows.progress import watcher
from flows.status import cells

QUICKSTART = "flows/studies/quickstart.yaml"
ONE_AT_A_TIME: Any = ThreadPoolTaskRunner(max_workers=1)
A_FEW_AT_A_TIME: Any = ThreadPoolTaskRunner(max_workers=3)
"""For work that waits for services more than it computes; how often each is asked is kept to by its session."""


def plan_of(
    study: str,
    workspace: str | None,
    relations: list[str] | None,
    models: list[str] | None,
    measures: list[str] | None,
    offline: bool = False,
) -> Plan:
    """The plan that a flow's parameters stand for; offline, the hub is not asked from here on."""
    if offline:
        os.environ["HF_HUB_OFFLINE"] = "1"
    return Plan.of(study, workspace, Selection(tuple(relations or ()), tuple(models or ()), tuple(measures or ())))


def _attempt_and_tell(name: str, plan: Plan, work: Callable[[], None]) -> State[Any]:
    state = attempt(name, plan.workspace, work)
    watcher().finished(name, None if state.is_completed() else state.message)
    return state


attempted: Any = task(
    name="attempt",
    task_run_name="{name}",
    retries=1,
    retry_delay_seconds=2,
    retry_condition_fn=may_pass,
    **ASK_THE_WORKSPACE,
)(_attempt_and_tell)


def fan_out(stage: str, plan: Plan, works: Iterable[tuple[str, Callable[[], None]]]) -> list[State[Any]]:
    """One task run for each piece of work, named after it; how each ended, in their order."""
    listed = list(works)
    watcher().begin(stage, len(listed))
    named = attempted.with_options(name=stage)
    futures = [named.submit(name, plan, work) for name, work in listed]
    for future in futures:
        future.wait()
    return [future.state for future in futures]


def list_failures(plan: Plan) -> None:
    """An artifact of the flow run that lists every relation that failed, with its reason."""
    failed = [
        {"relation": cell.relation, "model": cell.model, "measure": cell.measure, "reason": cell.reason}
        for cell in cells(plan)
        if cell.state == "failed"
    ]
    create_table_artifact(key="failed-relations", table=failed, description="What failed in this study, and why.")
