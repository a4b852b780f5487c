"""The whole way: fetch, build, score, aggregate, report; run again, it does only what is missing, failed or changed."""

from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from flows.aggregate import aggregate
from flows.build import build
from flows.fetch import fetch
from flows.report import report
from flows.score import score
from flows.stage import QUICKSTART, list_failures, plan_of

STAGES = (build, score, aggregate, report)


@flow(name="study", flow_run_name="{study}", persist_result=False)
def study(
    study: str = QUICKSTART,
    workspace: str | None = None,
    relations: list[str] | None = None,
    models: list[str] | None = None,
    measures: list[str] | None = None,
    force: bool = False,
    offline: bool = False,
    refresh: bool = False,
) -> State[Any]:
    """Conducts a study: what fails in one relation stops nothing else, and the run then ends Failed.

    refresh: the edits and page views of live questions are asked anew; only what they change is done again.
    """
    plan = plan_of(study, workspace, relations, models, measures, offline)
    with plan.workspace.conducted():
        selected = (study, workspace, relations, models, measures, force, offline)
        states = [fetch(*selected, refresh, return_state=True)]
        states += [stage(*selected, return_state=True) for stage in STAGES]
        failed = [state.message or "failed without a reason" for state in states if not state.is_completed()]
        if failed:
            list_failures(plan)
            return Failed(message="; ".join(failed))
        return Completed(message=f"{plan.study.name}: all done")
