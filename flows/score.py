"""The flow that asks the models: one task run for each model x relation x family of measures."""

import functools
import logging
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from flows.attempt import outcome
from flows.items import Item
from flows.plan import Plan
from flows.progress import watcher
from flows.stage import ONE_AT_A_TIME, QUICKSTART, fan_out, plan_of

log = logging.getLogger(__name__)


@flow(name="score", flow_run_name="{study}", task_runner=ONE_AT_A_TIME, persist_result=False)
def score(
    study: str = QUICKSTART,
    workspace: str | None = None,
    relations: list[str] | None = None,
    models: list[str] | None = None,
    measures: list[str] | None = None,
    force: bool = False,
    offline: bool = False,
) -> State[Any]:
    """Computes the scores that are missing; one relation at a time has the processor or the GPU."""
    plan = plan_of(study, workspace, relations, models, measures, offline)
    with plan.workspace.conducted():
        works = [(item.name, functools.partial(_score, plan, item, force)) for item in plan.items()]
        return outcome("score", fan_out("score", plan, works))


def _score(plan: Plan, item: Item, force: bool) -> None:
    from tasks.measurement.measure import do  # brings torch, which takes seconds; nothing else here needs it

    work = plan.work(item)
    spent = do(work, plan.workspace, force=force, progress=functools.partial(watcher().within, item.name))
    watcher().spent(item.name, spent)
    log.info("%s: %d prompts, %d forward passes, %.1f s", item.name, spent.prompts, spent.forward_passes, spent.seconds)
