from pathlib import Path

from swaymeter.flows.execution.run import failure_message
from swaymeter.flows.study import study as study_flow
from tests.flows.graph.toy import BUILD_A, FETCH_B, Toy
from tests.flows.small_study import PREPARED, load_study, prepare


def test_an_impossible_study_is_refused_before_it_runs(tmp_path: Path) -> None:
    model = {"name": str(tmp_path / "model"), "dtype": "float32", "device": "cuda:99"}
    study = load_study(tmp_path, questions=None, measures={"persuasion": {}}, models=[model])
    state = study_flow.fn(study.name, str(study.workspace.root))
    assert (state.is_failed(), (state.message or "")[:40]) == (True, "study small: models.0: device 'cuda:99':")
    assert not (study.workspace.root / "facts").exists()


def test_unknown_names_are_refused_by_the_flow(tmp_path: Path) -> None:
    study = load_study(tmp_path, questions=None, measures={"persuasion": {}})
    state = study_flow.fn(study.name, str(study.workspace.root), relations=["capitol"])
    assert (state.name, state.message) == ("Refused", "no relation is named 'capitol'; did you mean 'capital'?")


def test_failed_steps_come_first_with_advice(toy: Toy) -> None:
    toy.failing = {BUILD_A, FETCH_B}
    toy.run()
    message = failure_message([node for node in toy.graph() if node.state != "done"], count=8)
    reasons = {str(node.id): node.reason for node in toy.graph() if node.state == "failed"}
    assert message.startswith(f"{BUILD_A}: {reasons[str(BUILD_A)]}. ")
    assert message.count("correct the cause, and run the study again") == 1


def test_a_rerun_without_failed_steps_does_nothing(tmp_path: Path) -> None:
    study = prepare(load_study(tmp_path))
    state = study_flow.fn(study.name, str(study.workspace.root), stages=[*PREPARED], failed=True)
    done = sum(node.id.stage in PREPARED for node in study.graph)
    assert state.is_completed()
    assert state.message == f"nothing had failed, and nothing was to be done: {done} steps are done"
