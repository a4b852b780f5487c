"""What a study would do: the work that is not done, its prompts, and how long that takes by what was measured here."""

from collections.abc import Iterator

from data.errors import DamagedFile, SwaymeterError
from data.measures import MEASURES
from data.records import CONDITIONS
from data.storage.workspace import read_metadata
from flows.items import Item
from flows.plan import Plan, resolved_dtype
from flows.status import cells


def estimate(plan: Plan, *, force: bool = False) -> Iterator[str]:
    """Lines that say what is not done yet, and an estimate of the time where the workspace holds earlier runs.

    With `force`, what is done counts as not done.
    """
    undone: dict[str, set[str]] = {}
    for cell in cells(plan):
        if force or cell.state != "done":
            undone.setdefault(cell.model, set()).add(f"{cell.relation} x {cell.measure}")
    if not undone:
        yield "everything is done: nothing would be computed"
        return
    rates = _seconds_a_prompt(plan)
    prompts, seconds, unknown = 0, 0.0, False
    for item in plan.items():
        count = _missing_prompts(plan, item, force)
        prompts += count
        rate = rates.get((item.model.name, resolved_dtype(item.model), item.family))
        unknown = unknown or (count > 0 and rate is None)
        seconds += count * (rate or 0.0)
    for model, works in undone.items():
        yield f"{model}: {len(works)} scores of relations to compute"
        for work in sorted(works):
            yield f"  {work}"
    if plan.partitions() and not plan.question_relations() and not plan.only.relations:
        yield "the questions are not fetched yet, so their prompts cannot be counted"
    yield f"{prompts} prompts; estimated time: " + (
        "unknown, nothing of the kind was measured in this workspace yet" if unknown else f"{seconds:.0f} s"
    )


def _missing_prompts(plan: Plan, item: Item, force: bool) -> int:
    """Prompts of an item that is not done; counted from the study where its prompts are not written yet."""
    if item.needs:
        return 0
    try:
        work = plan.work(item)
        if not force and all(stored.is_done() for stored in work.wanted.values()):
            return 0
    except SwaymeterError:
        pass
    if item.inputs == "questions":
        return len(plan.chosen_questions[item.relation]) * len(CONDITIONS)
    facts = plan.study.facts
    entities = facts.real_entities + facts.invented_entities if facts else 0
    queries, contexts = 4 * entities, entities * sum(plan.study.contexts.per_kind().values())
    if item.inputs == "queries":
        return queries
    if item.family == "precision":
        sampled: int = plan.study.parameters("precision")["queries"]
        return 2 * min(sampled, queries) * contexts  # each in two number formats
    return queries * contexts


def _seconds_a_prompt(plan: Plan) -> dict[tuple[str, str, str], float]:
    spent: dict[tuple[str, str, str], tuple[float, int]] = {}
    for path in (plan.workspace.root / "scores").glob("*/*/*.parquet"):
        try:
            metadata = read_metadata(path)
        except DamagedFile:
            continue
        made_from, about = metadata["made_from"], metadata["about"]
        if about["prompts"]:
            kind = (made_from["model"], made_from["dtype"], MEASURES[made_from["measure"]].family)
            seconds, prompts = spent.get(kind, (0.0, 0))
            spent[kind] = (seconds + about["seconds"], prompts + about["prompts"])
    return {kind: seconds / prompts for kind, (seconds, prompts) in spent.items()}
