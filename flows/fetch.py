"""The flow that brings facts and questions from their sources into the workspace."""

import functools
from contextlib import suppress
from datetime import datetime
from typing import Any

from prefect import flow
from prefect.artifacts import create_table_artifact
from prefect.client.schemas.objects import State

from data.errors import InputError, SwaymeterError
from data.records import Partition
from data.sources import dynamicqa
from data.sources.fetch import fetch_questions, write_facts, write_names
from data.storage.workspace import read_metadata
from flows.anew import is_wanted, since
from flows.attempt import outcome
from flows.live_fetch import fetch_live
from flows.plan import Plan
from flows.sources import Sources, opened
from flows.stage import A_FEW_AT_A_TIME, QUICKSTART, fan_out, plan_of


@flow(name="fetch", flow_run_name="{study}", task_runner=A_FEW_AT_A_TIME, persist_result=False)
def fetch(
    study: str = QUICKSTART,
    workspace: str | None = None,
    relations: list[str] | None = None,
    models: list[str] | None = None,
    measures: list[str] | None = None,
    force: bool = False,
    offline: bool = False,
    refresh: bool = False,
) -> State[Any]:
    """Fetches what the study asks about: facts by relation, invented names by class, questions by partition.

    Live questions come by property and by page. refresh: their edits and page views are asked anew.
    """
    plan = plan_of(study, workspace, relations, models, measures, offline)
    with plan.workspace.conducted():
        anew, refreshed = since(plan, force=force), since(plan, force=refresh, name="refresh")
        with opened(plan, not_before=anew.began, refreshed=refreshed.began, offline=offline) as sources:
            states = _fetch(plan, sources, anew.began)
        if plan.relations():
            _list_dropped(plan)
        state = outcome("fetch", states)
        if state.is_completed():
            anew.done()
            refreshed.done()
        return state


def _fetch(plan: Plan, sources: Sources, began: datetime | None) -> list[State[Any]]:
    works = [
        (f"fetch x {relation}", functools.partial(_fetch_facts, plan, sources, relation, began))
        for relation in plan.relations()
    ]
    works += [
        (f"fetch x invented {name}", functools.partial(_fetch_names, plan, sources, name, began))
        for name in plan.entity_classes()
    ]
    live = plan.live_works
    if live is None:
        works += [
            (f"fetch x {partition} questions", functools.partial(_fetch_questions, plan, sources, partition, began))
            for partition in plan.partitions()
        ]
    states = fan_out("fetch", plan, works) if works else []
    if live is not None:
        states += fetch_live(plan, live, sources, began=began)
    return states


def _list_dropped(plan: Plan) -> None:
    """An artifact of the flow run: what each relation's source was asked for, and why some of it became no fact."""
    listed = []
    for relation in plan.relations():
        with suppress(SwaymeterError):  # said of the relation itself already
            metadata = read_metadata(plan.facts(relation).path)
            listed.append({"relation": relation, "facts": metadata["rows"], **metadata["about"]})
    create_table_artifact(key="fetched-facts", table=listed, description="Facts of each relation, and what was dropped")


def _fetch_facts(plan: Plan, sources: Sources, relation: str, began: datetime | None) -> None:
    stored = plan.facts(relation)
    if is_wanted(stored, began):
        fetched = sources.facts(relation)
        about = {"looked_at": fetched.requested, "rejected": dict(fetched.rejected)}
        write_facts(relation, fetched.facts, stored, about)
    stored.read_as_written()


def _fetch_names(plan: Plan, sources: Sources, entity_class: str, began: datetime | None) -> None:
    stored = plan.names(entity_class)
    if is_wanted(stored, began):
        assert plan.study.facts is not None
        names, looked_for_in = sources.names(entity_class)
        made_by = plan.study.facts.invented_model or plan.study.facts.invented
        write_names(entity_class, names, stored, made_by=made_by, looked_for_in=looked_for_in)
    stored.read_as_written()


def _fetch_questions(plan: Plan, sources: Sources, partition: Partition, began: datetime | None) -> None:
    files = plan.question_files
    folder = files.folder()
    if (
        folder is not None
        and getattr(files.wanted, "folder", None) is None
        and not (folder / dynamicqa.FILES[partition]).exists()
    ):
        if sources.offline:
            raise InputError("offline, and the published DynamicQA is not here; name its `folder` under `questions`")
        dynamicqa.download(folder, partition, sources.session("dynamicqa"))
    stored = files.published(partition)
    if is_wanted(stored, began):
        fetch_questions(partition, folder, stored)
    stored.read_as_written()
