"""The flow that writes prompts from facts: queries and contexts by relation, and the questions that are asked."""

import functools
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from data import catalog
from data.errors import SwaymeterError
from data.records import Partition, as_row
from flows.attempt import outcome
from flows.plan import Plan
from flows.stage import ONE_AT_A_TIME, QUICKSTART, fan_out, plan_of
from tasks.contexts.build import build_prompts, build_questions


@flow(name="build", flow_run_name="{study}", task_runner=ONE_AT_A_TIME, persist_result=False)
def build(
    study: str = QUICKSTART,
    workspace: str | None = None,
    relations: list[str] | None = None,
    models: list[str] | None = None,
    measures: list[str] | None = None,
    force: bool = False,
    offline: bool = False,
) -> State[Any]:
    """Writes the prompts of the study."""
    plan = plan_of(study, workspace, relations, models, measures, offline)
    with plan.workspace.conducted():
        works = [
            (f"build x {relation}", functools.partial(_build_prompts, plan, relation, force))
            for relation in plan.relations()
        ] + [
            (f"build x {relation} questions", functools.partial(_build_questions, plan, relation, force))
            for relation in plan.question_relations()
        ]
        works += [
            (f"build x {partition} left out", functools.partial(_write_left_out, plan, partition))
            for partition in plan.partitions()
            if plan.left_out(partition)
        ]
        works += [
            (f"build x {partition} questions", functools.partial(_refuse, error))
            for partition, error in plan.refused_partitions.items()
        ]
        return outcome("build", fan_out("build", plan, works))


def _build_prompts(plan: Plan, relation: str, force: bool) -> None:
    """Prompts that are there and cannot be read are evidence: they are named, not written over (unless forced)."""
    assert plan.study.facts is not None
    queries, contexts = plan.queries(relation), plan.contexts(relation)
    there = [stored.read_as_written() for stored in (queries, contexts) if stored.exists() and not force]
    if len(there) < 2:
        build_prompts(
            plan.facts(relation),
            plan.names(catalog.relation(relation).subject_class) if plan.entity_classes() else None,
            queries,
            contexts,
            relation=relation,
            real=plan.study.facts.real_entities,
            invented=plan.study.facts.invented_entities,
            choice=plan.study.facts.choice,
            per_kind=plan.study.contexts.per_kind(),
            seed=plan.study.seed,
        )


def _write_left_out(plan: Plan, partition: Partition) -> None:
    left_out = plan.left_out(partition)
    assert left_out is not None
    stored, rows = left_out
    if not stored.is_done():
        stored.write(stored.table.of([as_row(row) for row in rows]))


def _refuse(error: SwaymeterError) -> None:
    raise error


def _build_questions(plan: Plan, relation: str, force: bool) -> None:
    stored = plan.questions(relation)
    if force or not stored.exists():
        build_questions(plan.chosen_questions[relation], stored)
    stored.read_as_written()
