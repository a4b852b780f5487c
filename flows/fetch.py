"""The flow that brings facts and questions from their sources into the workspace."""

import functools
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from data.errors import InputError
from data.records import Partition
from data.sources import dynamicqa
from data.sources.fetch import fetch_questions, write_facts, write_names
from flows.attempt import outcome
from flows.plan import Plan
from flows.sources import Sources, opened
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
    """Fetches what the study asks about: facts by relation, invented names by class, questions by partition."""
    plan = plan_of(study, workspace, relations, models, measures, offline)
    with plan.workspace.conducted(), opened(plan, refresh=force, offline=offline) as sources:
        works = [
            (f"fetch x {relation}", functools.partial(_fetch_facts, plan, sources, relation, force))
            for relation in plan.relations()
        ]
        works += [
            (f"fetch x invented {name}", functools.partial(_fetch_names, plan, sources, name, force))
            for name in plan.entity_classes()
        ]
        works += [
            (f"fetch x {partition} questions", functools.partial(_fetch_questions, plan, partition, force, offline))
            for partition in plan.partitions()
        ]
        return outcome("fetch", fan_out("fetch", plan, works))


def _fetch_facts(plan: Plan, sources: Sources, relation: str, force: bool) -> None:
    stored = plan.facts(relation)
    if force or not stored.exists():
        fetched = sources.facts(relation)
        write_facts(relation, fetched.facts, stored, {"asked": fetched.asked, "dropped": dict(fetched.dropped)})
    stored.read_as_written()


def _fetch_names(plan: Plan, sources: Sources, entity_class: str, force: bool) -> None:
    stored = plan.names(entity_class)
    if force or not stored.exists():
        assert plan.study.facts is not None
        names, looked_for_in = sources.names(entity_class)
        made_by = plan.study.facts.invented_model or plan.study.facts.invented
        write_names(entity_class, names, stored, made_by=made_by, looked_for_in=looked_for_in)
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
