"""What is done, failed or missing: model x relation x measure, read from the workspace alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from data.errors import DamagedFile, MissingFile, SwaymeterError
from flows.items import Item
from flows.plan import Plan

State = Literal["done", "failed", "missing"]


@dataclass(frozen=True)
class Cell:
    """One measure of a model and a relation: how it stands, and why it failed where it did."""

    model: str
    relation: str
    measure: str
    state: State
    reason: str = ""


def cells(plan: Plan) -> Iterator[Cell]:
    """Every measure that the plan wants, with how it stands; what is not even fetched is one line a partition."""
    for relation in plan.relations():
        yield from _not_fetched(plan, f"fetch x {relation}", relation, "facts")
    for entity_class in plan.entity_classes():
        yield from _not_fetched(plan, f"fetch x invented {entity_class}", f"every {entity_class}", "invented names")
    works = plan.live_works
    for work, is_done in works.works() if works else ():
        reason = plan.workspace.failure_reason(work)
        if reason or not is_done:
            yield Cell(
                "every model",
                work.partition(" x ")[2],
                "every measure",
                "failed" if reason else "missing",
                reason or "",
            )
    for partition, error in plan.refused_partitions.items():
        noted = plan.workspace.failure_reason(f"fetch x {partition} questions")
        state: State = "missing" if isinstance(error, MissingFile) and not noted else "failed"
        yield Cell("every model", f"{partition} questions", "every measure", state, noted or str(error))
    for item in plan.items():
        yield from _cells_of(plan, item)


def _not_fetched(plan: Plan, work: str, relation: str, what: str) -> Iterator[Cell]:
    reason = plan.workspace.failure_reason(work)
    if reason:
        yield Cell("every model", relation, what, "failed", reason)


def _cells_of(plan: Plan, item: Item) -> Iterator[Cell]:
    model = f"{item.model.name}/{item.model.dtype}"
    built = f"build x {item.relation} questions" if item.inputs == "questions" else f"build x {item.relation}"
    noted = plan.workspace.failure_reason(built) or plan.workspace.failure_reason(item.name)
    try:
        work = plan.work(item)
        for stored in (*work.inputs.values(), *work.needs.values()):
            if stored.exists():
                stored.read()
        stands = {name: stored.is_done() for name, stored in work.wanted.items()}
        damaged = {name for name, stored in work.wanted.items() if stored.exists() and not stands[name]}
    except DamagedFile as error:
        there_is_nothing = isinstance(error, MissingFile) and not noted
        for name in item.measures:
            state: State = "missing" if there_is_nothing else "failed"
            yield Cell(model, item.relation, name, state, noted or str(error))
        return
    except SwaymeterError as error:
        for name in item.measures:
            yield Cell(model, item.relation, name, "failed", str(error))
        return
    for name, done in stands.items():
        if done:
            yield Cell(model, item.relation, name, "done")
        elif name in damaged:
            yield Cell(model, item.relation, name, "failed", f"{work.wanted[name].path} cannot be read")
        else:
            yield Cell(model, item.relation, name, "failed" if noted else "missing", noted or "")
