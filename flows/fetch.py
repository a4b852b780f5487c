"""The flow that brings facts and questions from their sources into the workspace."""

import functools
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from data.errors import InputError
from data.records import Partition
from data.sources import dynamicqa
from data.sources.fetch import fetch_facts, fetch_questions
from flows.attempt import outcome
from flows.plan import Plan
from flows.stage import ONE_AT_A_TIME, QUICKSTART, fan_out, plan_of


@flow(name="fetch", flow_run_name="{study}", task_runner=ONE_AT_A_TIME, persist_result=False)
def fetch(
    study: str = QUICKSTART,
    workspace: str | None = None,
    relations: list[str] | None = None,
    models: list[str] | None = None,
    measures: list[str] | None = None,
    force: bool = False,
    offline: bool = False,
) -> State[Any]:
    """Fetches what the study asks about: facts by relation, questions by partition."""
    plan = plan_of(study, workspace, relations, models, measures, offline)
    with plan.workspace.conducted():
        works = [
            (f"fetch x {relation}", functools.partial(_fetch_facts, plan, relation, force))
            for relation in plan.relations()
        ] + [
            (f"fetch x {partition} questions", functools.partial(_fetch_questions, plan, partition, force, offline))
            for partition in plan.partitions()
        ]
        return outcome("fetch", fan_out("fetch", plan, works))


def _fetch_facts(plan: Plan, relation: str, force: bool) -> None:
    stored = plan.facts(relation)
    if force or not stored.exists():
        fetch_facts(relation, stored)
    stored.read_as_written()


def _fetch_questions(plan: Plan, partition: Partition, force: bool, offline: bool) -> None:
    assert plan.study.questions is not None
    folder = plan.questions_folder()
    if (
        folder is not None
        and plan.study.questions.folder is None
        and not (folder / dynamicqa.FILES[partition]).exists()
    ):
        if offline:
            raise InputError("offline, and the published DynamicQA is not here; name its `folder` under `questions`")
        dynamicqa.download(folder, partition)
    stored = plan.fetched_questions(partition)
    if force or not stored.exists():
        fetch_questions(partition, folder, stored)
    stored.read_as_written()
