from pathlib import Path
from typing import Any

import pytest
from flows.dry_run import estimate
from flows.items import Selection
from flows.plan import Plan

from tests.flows.small_plan import build, fetch, score, small_plan

ENTITIES, KINDS, RELATIONS = 3, 2, 2
BY_CONTEXTS = RELATIONS * 4 * ENTITIES * ENTITIES * KINDS
BY_QUESTIONS = 3 * 3
NOT_COUNTED = "the questions are not fetched yet, so their prompts cannot be counted"


def said(plan: Plan, *, force: bool = False) -> list[str]:
    return list(estimate(plan, force=force))


def test_an_empty_workspace_counts_what_the_study_says_and_says_what_it_cannot_count(tmp_path: Path) -> None:
    lines = said(small_plan(tmp_path))
    assert lines[-2] == NOT_COUNTED
    assert lines[-1].startswith(f"{BY_CONTEXTS} prompts; estimated time: unknown")
    assert "  static questions x every measure" in lines
    assert "  capital x persuasion" in lines


def test_the_count_is_that_of_the_prompts_which_are_then_written(tmp_path: Path) -> None:
    plan = build(fetch(small_plan(tmp_path)))
    written = sum(plan.queries(name).read().num_rows * plan.contexts(name).read().num_rows for name in plan.relations())
    lines = said(plan)
    assert written == BY_CONTEXTS
    assert NOT_COUNTED not in lines
    assert lines[-1].startswith(f"{written + BY_QUESTIONS} prompts")


@pytest.mark.parametrize(
    ("measures", "prompts"),
    [
        ({"fisher_susceptibility": {}}, 4 * ENTITIES),
        ({"memorization_ratio": {}}, BY_CONTEXTS // 2),
        ({"answer_set_persuasion": {}}, BY_CONTEXTS // 2),
        ({"entity_independent_persuasion": {}}, BY_CONTEXTS // 2),  # those of persuasion alone
        ({"precision": {"queries": 5}}, 2 * 5 * ENTITIES * KINDS),
        ({"precision": {"queries": 1000}}, 2 * BY_CONTEXTS // 2),
    ],
)
def test_every_measure_counts_what_it_asks(measures: dict[str, Any], prompts: int, tmp_path: Path) -> None:
    models = [{"name": str(tmp_path / "model"), "dtype": "bfloat16", "device": "cpu"}]
    only = Selection(relations=("capital",))
    plan = build(fetch(small_plan(tmp_path, only, measures=measures, models=models, questions=None)))
    assert said(plan)[-1].startswith(f"{prompts} prompts; ")


def test_what_is_done_is_not_counted(tmp_path: Path) -> None:
    plan = score(build(fetch(small_plan(tmp_path))))
    assert said(plan) == ["everything is done: nothing would be computed"]


def test_force_counts_what_is_done(tmp_path: Path) -> None:
    plan = score(build(fetch(small_plan(tmp_path))))
    assert said(plan, force=True)[-1].startswith(f"{BY_CONTEXTS + BY_QUESTIONS} prompts; estimated time: ")


def test_time_is_estimated_by_what_was_measured_in_the_workspace(tmp_path: Path) -> None:
    plan = score(build(fetch(small_plan(tmp_path))), seconds=3.0, prompts=6)
    for stored in plan.work(next(plan.items())).wanted.values():
        stored.remove()
    lines = said(plan)
    assert lines[-1] == f"{BY_CONTEXTS // 2} prompts; estimated time: {BY_CONTEXTS // 2 * 0.5:.0f} s"
    assert len(lines) == 4


def test_a_damaged_score_counts_as_work_and_not_as_a_measurement(tmp_path: Path) -> None:
    plan = score(build(fetch(small_plan(tmp_path))))
    for item in plan.items():
        if item.family == "persuasion":
            for stored in plan.work(item).wanted.values():
                stored.path.write_bytes(b"")
    assert said(plan)[-1].startswith(f"{BY_CONTEXTS} prompts; estimated time: unknown")


def test_a_selection_counts_nothing_else(tmp_path: Path) -> None:
    build(fetch(small_plan(tmp_path)))
    chosen = small_plan(tmp_path, Selection(relations=("capital",)))
    assert said(chosen)[-1].startswith(f"{BY_CONTEXTS // 2} prompts")
    assert not any("father" in line for line in said(chosen))


def test_an_estimate_makes_no_file(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    said(plan)
    assert not plan.workspace.root.exists()
