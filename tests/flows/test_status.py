from collections import Counter
from pathlib import Path

from flows.items import Selection
from flows.plan import Plan
from flows.status import Cell, cells

from tests.flows.small_plan import build, fetch, score, small_plan


def states(plan: Plan) -> Counter[str]:
    return Counter(cell.state for cell in cells(plan))


def the(plan: Plan, relation: str, measure: str) -> Cell:
    (found,) = (cell for cell in cells(plan) if (cell.relation, cell.measure) == (relation, measure))
    return found


def test_before_anything_is_done_everything_is_missing(tmp_path: Path) -> None:
    listed = list(cells(small_plan(tmp_path)))
    assert {cell.state for cell in listed} == {"missing"}
    assert {(cell.relation, cell.measure) for cell in listed} == {
        ("static questions", "every measure"),
        *((relation, name) for relation in ("capital", "father") for name in ("persuasion", "susceptibility")),
    }


def test_to_look_makes_no_file(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    list(cells(plan))
    assert not plan.workspace.root.exists()


def test_with_its_prompts_written_everything_is_still_missing(tmp_path: Path) -> None:
    plan = build(fetch(small_plan(tmp_path)))
    assert states(plan) == {"missing": 2 * 2 + 3 * len(plan.question_relations())}


def test_what_is_in_the_workspace_is_done(tmp_path: Path) -> None:
    plan = score(build(fetch(small_plan(tmp_path))))
    assert set(states(plan)) == {"done"}
    assert all(not cell.reason for cell in cells(plan))


def test_a_damaged_score_is_failed_and_named(tmp_path: Path) -> None:
    plan = score(build(fetch(small_plan(tmp_path))))
    item = next(plan.items())
    stored = plan.work(item).wanted["persuasion"]
    stored.path.write_bytes(stored.path.read_bytes()[:-20])
    assert states(plan)["failed"] == 1
    assert the(plan, "capital", "persuasion").state == "failed"
    assert str(stored.path) in the(plan, "capital", "persuasion").reason


def test_damaged_prompts_fail_what_rests_on_them_and_nothing_else(tmp_path: Path) -> None:
    plan = score(build(fetch(small_plan(tmp_path))))
    plan.contexts("father").path.write_bytes(b"")
    failed = {(cell.relation, cell.measure) for cell in cells(plan) if cell.state == "failed"}
    assert failed == {("father", "persuasion"), ("father", "susceptibility")}
    assert "contexts-" in the(plan, "father", "persuasion").reason


def test_damaged_scores_fail_what_is_computed_from_them_and_nothing_else(tmp_path: Path) -> None:
    measures = ["persuasion", "susceptibility", "entity_independent_persuasion", "fisher_susceptibility"]
    plan = score(build(fetch(small_plan(tmp_path, measures=measures, questions=None))))
    assert states(plan) == {"done": 2 * 4}
    item = next(plan.items())
    stored = plan.work(item).wanted["persuasion"]
    stored.path.write_bytes(b"")
    failed = {(cell.relation, cell.measure) for cell in cells(plan) if cell.state == "failed"}
    assert failed == {(item.relation, "persuasion"), (item.relation, "entity_independent_persuasion")}
    stored.remove()
    assert the(plan, item.relation, "persuasion").state == "missing"
    assert the(plan, item.relation, "entity_independent_persuasion").state == "done"


def test_what_failed_says_why_until_it_is_done(tmp_path: Path) -> None:
    plan = build(fetch(small_plan(tmp_path)))
    item = next(plan.items())
    plan.workspace.note_failure(item.name, "the model gives no distribution")
    failed = the(plan, "capital", "persuasion")
    assert (failed.state, failed.reason) == ("failed", "the model gives no distribution")
    assert the(plan, "father", "persuasion").state == "missing"
    score(plan)
    assert the(plan, "capital", "persuasion").state == "done"


def test_what_could_not_be_fetched_says_why(tmp_path: Path) -> None:
    plan = small_plan(tmp_path)
    plan.workspace.note_failure("fetch x capital", "no facts")
    plan.workspace.note_failure("fetch x static questions", "no network")
    assert (the(plan, "capital", "facts").state, the(plan, "capital", "facts").reason) == ("failed", "no facts")
    questions = the(plan, "static questions", "every measure")
    assert (questions.state, questions.reason) == ("failed", "no network")


def test_what_could_not_be_built_says_why(tmp_path: Path) -> None:
    plan = fetch(small_plan(tmp_path))
    plan.workspace.note_failure("build x father", "too few objects")
    assert the(plan, "father", "susceptibility").reason == "too few objects"
    assert the(plan, "father", "susceptibility").state == "failed"


def test_a_model_that_cannot_be_found_fails_with_what_is_wrong(tmp_path: Path) -> None:
    build(fetch(small_plan(tmp_path)))
    plan = small_plan(tmp_path, models=[{"name": str(tmp_path / "gone"), "dtype": "float32"}])
    assert set(states(plan)) == {"failed"}
    assert all("no such folder" in cell.reason for cell in cells(plan))


def test_a_selection_shows_nothing_else(tmp_path: Path) -> None:
    score(build(fetch(small_plan(tmp_path))))
    plan = small_plan(tmp_path, Selection(relations=("father",)))
    assert {cell.relation for cell in cells(plan)} == {"father"}


def test_a_seed_that_is_changed_leaves_nothing_done_and_removes_nothing(tmp_path: Path) -> None:
    score(build(fetch(small_plan(tmp_path))))
    changed = build(fetch(small_plan(tmp_path, seed=1)))
    assert set(states(changed)) == {"missing"}
    assert set(states(small_plan(tmp_path))) == {"done"}
