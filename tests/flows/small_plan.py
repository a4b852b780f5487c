"""A study of a model that is only a folder's name, and the steps of it without a conductor."""

from pathlib import Path
from typing import Any

import yaml
from data.sources.fetch import fetch_questions, write_facts, write_names
from flows.items import Selection
from flows.plan import Plan
from tasks.contexts.build import build_prompts, build_questions

from data import catalog
from data.records.tables import Table
from data.sources import sample
from tests.data.warehouse.small_study import row


def small_study(folder: Path, **changes: Any) -> dict[str, Any]:
    """A sound study; its model is a folder that can be identified, and its judge another."""
    for name in ("model", "judge"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "config.json").write_text("{}")
        (folder / name / "model.safetensors").write_bytes(name.encode())
    return {
        "name": "small",
        "workspace": str(folder / "workspace"),
        "facts": {"relations": ["capital", "father"], "real_entities": 2, "invented_entities": 1},
        "contexts": {"base": 1, "assertive": 1, "negation": 0},
        "questions": {"partitions": ["static"], "per_partition": 3},
        "models": [{"name": str(folder / "model"), "dtype": "float32", "device": "cpu"}],
        "measures": {"persuasion": {}, "susceptibility": {}, "semantic_entropy": {}, "accuracy": {},
                     "answers": {"samples": 2, "entailment": str(folder / "judge")}},
    } | changes  # fmt: skip


def write_study(folder: Path, study: Any) -> str:
    """A study file with that content."""
    file = folder / "study.yaml"
    file.write_text(yaml.safe_dump(study), encoding="utf-8")
    return str(file)


def small_plan(folder: Path, only: Selection | None = None, **changes: Any) -> Plan:
    """The plan of the sound study, with changes to it."""
    return Plan.of(write_study(folder, small_study(folder, **changes)), None, only)


def fetch(plan: Plan) -> Plan:
    """The plan with its facts and questions in the workspace."""
    for relation in plan.relations():
        write_facts(relation, sample.facts(relation), plan.facts(relation))
    for name in plan.entity_classes():
        write_names(name, catalog.invented_entities(name), plan.names(name), made_by="catalog", looked_for_in=())
    for partition in plan.partitions():
        fetch_questions(partition, plan.question_files.folder(), plan.question_files.published(partition))
    return Plan(plan.study, plan.workspace, plan.only)


def build(plan: Plan) -> Plan:
    """The plan with its prompts in the workspace."""
    assert plan.study.facts is not None
    for relation in plan.relations():
        build_prompts(
            plan.facts(relation), plan.names(catalog.relation(relation).subject_class), plan.queries(relation),
            plan.contexts(relation), relation=relation, choice=plan.study.facts.choice,
            real=plan.study.facts.real_entities, invented=plan.study.facts.invented_entities,
            per_kind=plan.study.contexts.per_kind(), seed=plan.study.seed,
        )  # fmt: skip
    for relation in plan.question_relations():
        build_questions(plan.chosen_questions[relation], plan.questions(relation))
    return plan


def score(plan: Plan, *, seconds: float = 3.0, prompts: int = 6) -> Plan:
    """The plan with something in each of its score files."""
    for item in plan.items():
        for stored in plan.work(item).wanted.values():
            stored.write(_one_row(stored.table), {"seconds": seconds, "prompts": prompts})
    return plan


def _one_row(table: Table) -> Any:
    return table.of([row(table)])
