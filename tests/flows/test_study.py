from pathlib import Path

from swaymeter.flows import study as flows
from swaymeter.flows.execution.run import failure_message
from tests.flows.graph.toy import BUILD_A, FETCH_B, Toy
from tests.flows.small_study import PREPARED, prepare, selected


def test_what_is_impossible_is_refused_before_anything_runs(tmp_path: Path) -> None:
    model = {"name": str(tmp_path / "model"), "dtype": "float32", "device": "cuda:99"}
    study = selected(tmp_path, questions=None, measures={"persuasion": {}}, models=[model])
    refused = flows.study.fn(study.name, str(study.workspace.root))
    assert (refused.is_failed(), (refused.message or "")[:40]) == (True, "study small: models.0: device 'cuda:99':")
    assert not (study.workspace.root / "facts").exists()


def test_unknown_names_are_refused_by_the_flow(tmp_path: Path) -> None:
    study = selected(tmp_path, questions=None, measures={"persuasion": {}})
    refused = flows.study.fn(study.name, str(study.workspace.root), relations=["capitol"])
    assert (refused.name, refused.message) == ("Refused", "no relation is named 'capitol'; did you mean 'capital'?")


def test_what_failed_stands_first_with_what_to_do(toy: Toy) -> None:
    toy.failing = {BUILD_A, FETCH_B}
    toy.run()
    message = failure_message([node for node in toy.graph() if node.state != "done"], 8)
    wrong = {str(node.id): node.reason for node in toy.graph() if node.state == "failed"}
    assert message.startswith(f"{BUILD_A}: {wrong[str(BUILD_A)]}. ")
    assert message.count("correct the cause, and run the study again") == 1


def test_what_failed_is_nothing(tmp_path: Path) -> None:
    study = prepare(selected(tmp_path))
    told = flows.study.fn(study.name, str(study.workspace.root), stages=[*PREPARED], failed=True)
    done = sum(node.id.stage in PREPARED for node in study.graph)
    assert told.is_completed()
    assert told.message == f"nothing had failed, and nothing was to be done: {done} steps are done"
